// SPDX-License-Identifier: Apache-2.0
//
// Asks each awaited process what it did during the waits for it. No state.
#include "analysis/awaited.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "analysis/late_rank.h"

namespace gpubound {
namespace {

const ProcessTrace* Find(const Run& run, const std::string& host, int64_t pid) {
  const auto found =
      std::find_if(run.processes.begin(), run.processes.end(), [&](const ProcessTrace& process) {
        return process.identity.host == host && process.identity.pid == pid;
      });
  return found == run.processes.end() ? nullptr : &*found;
}

// Whether |process| descends from |other|. A parent that is not part of the run, as the fork server
// of multiprocessing is not, may well descend from whoever began earlier.
bool IsWorkerOf(const Run& run, const ProcessTrace& process, const ProcessTrace& other) {
  const ProcessTrace* ancestor = &process;
  // Pids come again: what looks like a circle ends with the number of processes.
  for (size_t left = run.processes.size(); left > 0; --left) {
    if (ancestor->parent_pid == other.identity.pid) return true;
    const ProcessTrace* parent = Find(run, other.identity.host, ancestor->parent_pid);
    if (parent == nullptr) return ancestor != &other && other.identity < process.identity;
    ancestor = parent;
  }
  return false;
}

// Waits of one process for another, with the number of the operation that each was under.
struct Waits {
  std::vector<std::string> operations;
  std::vector<TaggedInterval> times;

  void Add(const NamedWait& wait) {
    const auto found = std::find(operations.begin(), operations.end(), wait.operation);
    const auto tag = static_cast<size_t>(found - operations.begin());
    if (found == operations.end()) operations.push_back(wait.operation);
    times.push_back({wait.time, tag});
  }
};

// Rows of what |process| did during |waits|.
void Explain(const ProcessTrace& process, const std::vector<NamedWait>& inherited,
             const Waits& waits, const ReportOptions& options, std::vector<ReportAwaited>* rows) {
  std::vector<std::vector<ReportActivity>> did =
      WhatItDidByTag(process, waits.times, waits.operations.size(), inherited, options);
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
                                  const Waits& waits, const ReportOptions& options,
                                  const std::vector<ProcessAnalysis>& analyses) {
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
    Explain(process, analyses[p].inherited, waits, options, &rows);
  }
  return rows;
}

}  // namespace

void ExplainWaits(const Run& run, const std::vector<ProcessAnalysis>& analyses,
                  const ProcessTrace* root, const ReportOptions& options, Report* report) {
  for (size_t p = 0; p < analyses.size(); ++p) {
    // Under what a process inherits it is awaited itself: that is the other one's story.
    if (!analyses[p].inherited.empty()) continue;
    std::map<int64_t, Waits> waits;
    for (const NamedWait& wait : analyses[p].waits) {
      if (wait.operation == kNoOperation && &run.processes[p] != root) continue;
      waits[wait.pid].Add(wait);
    }
    std::vector<ReportAwaited>& all = report->processes[p].awaited;
    for (const auto& [pid, of_pid] : waits) {
      const std::vector<ReportAwaited> rows =
          RowsOf(run, run.processes[p], pid, of_pid, options, analyses);
      all.insert(all.end(), rows.begin(), rows.end());
    }
  }
}

}  // namespace gpubound
