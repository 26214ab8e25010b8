// SPDX-License-Identifier: Apache-2.0
//
// Counts by kind. One object, one thread.
#include "analysis/import/import_launches.h"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/trace/call_causes.h"

namespace gpubound {
namespace {

constexpr size_t kMostPids = 8;  // that a note names

struct Kind {
  WorkKind kind;
  const char* name;
};

constexpr Kind kLaunched[] = {
    {WorkKind::kKernel, "kernels"},
    {WorkKind::kMemcpy, "copies"},
    {WorkKind::kMemset, "sets"},
    {WorkKind::kGraph, "graphs"},
};

size_t At(WorkKind kind) { return static_cast<size_t>(kind); }

std::string PidsOf(const std::vector<uint32_t>& processes, ForeignNames* names) {
  std::string text = processes.size() == 1 ? "pid " : "pids ";
  for (size_t i = 0; i < std::min(processes.size(), kMostPids); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(names->processes()[processes[i]].pid);
  }
  if (processes.size() > kMostPids) {
    text += " and " + std::to_string(processes.size() - kMostPids) + " more";
  }
  return text;
}

}  // namespace

ForeignLaunches::Totals& ForeignLaunches::Of(uint32_t process) {
  if (process == kNoIndex) return anybodys_;
  if (process >= of_.size()) of_.resize(size_t{process} + 1);
  return of_[process];
}

void ForeignLaunches::AddCall(uint32_t process, std::string_view name, int32_t result) {
  Totals& totals = Of(process);
  if (CaptureEdgeOf(name) == CaptureEdge::kBegins) totals.captures = true;
  // A call that failed launches nothing.
  if (result == 0) ++totals.calls[At(WorkLaunchedBy(name))];
}

void ForeignLaunches::AddWork(uint32_t process, WorkKind kind, bool in_graph) {
  Totals& totals = Of(process);
  totals.work[At(kind)] = true;
  totals.work_in_graphs |= in_graph;
}

bool ForeignLaunches::Lacks(const Totals& totals, WorkKind kind) const {
  const auto has = [&](WorkKind which) {
    return totals.work[At(which)] || anybodys_.work[At(which)];
  };
  if (totals.calls[At(kind)] == 0 || has(kind)) return false;
  const auto any = [](const Totals& of) {
    return std::any_of(of.work.begin(), of.work.end(), [](bool is) { return is; });
  };
  const bool has_any = any(totals) || any(anybodys_);
  if (kind == WorkKind::kMemset && words_.sets_may_be_none && has_any) return false;
  if (kind == WorkKind::kGraph) return !totals.work_in_graphs && !anybodys_.work_in_graphs;
  // What a process that captures launched may be part of the graphs that it has, as wholes.
  return !(totals.captures && has(WorkKind::kGraph));
}

void ForeignLaunches::NoteMissing(ForeignTrace* trace) const {
  for (const Kind& launched : kLaunched) {
    ForeignGap gap;
    gap.counter = LedgerCounter::import_launches_without_work;
    gap.count = 0;
    for (uint32_t process = 0; process < of_.size(); ++process) {
      if (!Lacks(of_[process], launched.kind)) continue;
      gap.processes.push_back(process);
      gap.count += of_[process].calls[At(launched.kind)];
    }
    if (gap.processes.empty()) continue;
    const std::string what = std::string(launched.name) + " that " +
                             PidsOf(gap.processes, &trace->names) + " launched are not in " +
                             words_.trace + ": none in " + words_.none_in[At(launched.kind)];
    gap.why_hidden = std::string(launched.name) + " that it launched are not in " + words_.trace;
    gap.note = what + ". GPU time is unknown there. " + words_.remedy;
    trace->gaps.push_back(std::move(gap));
  }
}

}  // namespace gpubound
