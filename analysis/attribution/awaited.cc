// SPDX-License-Identifier: Apache-2.0
//
// Asks each awaited process what it did during the waits for it. No state.
#include "analysis/attribution/awaited.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/attribution/late_rank.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

const ProcessTrace* Find(const Run& run, const std::string& host, int64_t pid) {
  const auto found =
      std::find_if(run.processes.begin(), run.processes.end(), [&](const ProcessTrace& process) {
        return process.identity.host == host && process.identity.pid == pid;
      });
  return found == run.processes.end() ? nullptr : &*found;
}

// |process| and those from which it descends, as far as they are part of the run.
std::vector<const ProcessTrace*> LineOf(const Run& run, const ProcessTrace& process) {
  std::vector<const ProcessTrace*> line = {&process};
  // Pids come again: what looks like a circle ends with the number of processes.
  while (line.size() <= run.processes.size()) {
    const ProcessTrace* parent = Find(run, process.identity.host, line.back()->parent_pid);
    if (parent == nullptr) break;
    line.push_back(parent);
  }
  return line;
}

// Whether |process| descends from |other|. A parent that is not part of the run, as the fork server
// of multiprocessing is not, may well descend from whoever began earlier; but not from another one
// that descends from the same process of the run, as ranks do from their launcher.
bool IsWorkerOf(const Run& run, const ProcessTrace& process, const ProcessTrace& other) {
  const std::vector<const ProcessTrace*> line = LineOf(run, process);
  const auto is_other = [&other](const ProcessTrace* ancestor) {
    return ancestor->parent_pid == other.identity.pid;
  };
  if (std::any_of(line.begin(), line.end(), is_other)) return true;
  const std::vector<const ProcessTrace*> others = LineOf(run, other);
  const bool related = std::find(others.begin(), others.end(), line.back()) != others.end();
  return !related && other.identity < process.identity;
}

// Waits of one process for another, with the number of the operation that each was under.
struct Waits {
  std::vector<std::string> operations;
  std::vector<TaggedInterval> times;  // ascending, disjoint
};

// Those for |pid|, of all operations or of its own.
Waits WaitsFor(int64_t pid, const ProcessWaits& all, bool own_only) {
  Waits waits;
  for (const GroupWaits& group : all.groups) {
    if (!std::binary_search(group.pids.begin(), group.pids.end(), pid)) continue;
    for (const TimeUnder& wait : group.times) {
      if (own_only && all.operations[wait.operation] == kNoOperation) continue;
      waits.times.push_back({wait.time, wait.operation});
    }
  }
  std::sort(waits.times.begin(), waits.times.end(),
            [](const auto& a, const auto& b) { return a.time.begin_ns < b.time.begin_ns; });
  // From here on by what comes first.
  std::map<size_t, size_t> tags;
  for (TaggedInterval& wait : waits.times) {
    const auto [tag, is_new] = tags.try_emplace(wait.tag, tags.size());
    if (is_new) waits.operations.push_back(all.operations[wait.tag]);
    wait.tag = tag->second;
  }
  return waits;
}

// Rows of what |process| did during |waits|.
void Explain(const ProcessTrace& process, Heritage inherited, const Waits& waits,
             const BreakdownOptions& options, std::vector<ReportAwaited>* rows) {
  std::vector<std::vector<ReportActivity>> did =
      WhatItDidByTag(process, waits.times, waits.operations.size(), std::move(inherited), options);
  for (size_t tag = 0; tag < did.size(); ++tag) {
    std::map<std::pair<std::string, std::string>, int64_t> sums;  // operation, layer
    for (const ReportActivity& activity : (*rows)[tag].meanwhile) {
      sums[{activity.operation, activity.layer}] += activity.ns;  // before it was replaced by exec
    }
    for (const ReportActivity& activity : did[tag]) {
      sums[{activity.operation, activity.layer}] += activity.ns;
    }
    std::vector<ReportActivity>& meanwhile = (*rows)[tag].meanwhile;
    meanwhile.clear();
    for (const auto& [what, ns] : sums) meanwhile.push_back({what.first, what.second, ns});
    std::stable_sort(meanwhile.begin(), meanwhile.end(),
                     [](const auto& a, const auto& b) { return a.ns > b.ns; });
  }
}

std::vector<ReportAwaited> RowsOf(const Run& run, const ProcessTrace& waiter, int64_t pid,
                                  const Waits& waits, const BreakdownOptions& options,
                                  const KnownWaits& known) {
  std::vector<ReportAwaited> rows(waits.operations.size());
  for (size_t tag = 0; tag < rows.size(); ++tag) {
    rows[tag].pid = pid;
    rows[tag].operation = waits.operations[tag];
  }
  for (const TaggedInterval& wait : waits.times) rows[wait.tag].ns += wait.time.length();
  for (size_t p = 0; p < run.processes.size(); ++p) {  // by exec one pid may be several
    const ProcessTrace& process = run.processes[p];
    if (process.identity.host != waiter.identity.host || process.identity.pid != pid) continue;
    for (ReportAwaited& row : rows) row.worker |= IsWorkerOf(run, process, waiter);
    Explain(process, known.HeritageOf(p), waits, options, &rows);
  }
  return rows;
}

}  // namespace

std::vector<std::vector<ReportAwaited>> ExplainWaits(const Run& run, const KnownWaits& waits,
                                                     size_t root, const BreakdownOptions& options) {
  std::vector<std::vector<ReportAwaited>> awaited_by(run.processes.size());
  for (size_t p = 0; p < run.processes.size(); ++p) {
    // Under what a process inherits it is awaited itself: that is the other one's story.
    if (waits.Inherits(p)) continue;
    std::set<int64_t> awaited;
    for (const GroupWaits& group : waits.WaitsOf(p).groups) {
      awaited.insert(group.pids.begin(), group.pids.end());
    }
    std::vector<ReportAwaited>& all = awaited_by[p];
    for (const int64_t pid : awaited) {
      const Waits of_pid = WaitsFor(pid, waits.WaitsOf(p), p != root);
      if (of_pid.times.empty()) continue;
      const std::vector<ReportAwaited> rows =
          RowsOf(run, run.processes[p], pid, of_pid, options, waits);
      all.insert(all.end(), rows.begin(), rows.end());
    }
  }
  return awaited_by;
}

}  // namespace gpubound
