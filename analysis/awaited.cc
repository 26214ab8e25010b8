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

using Activities = std::map<std::pair<std::string, std::string>, int64_t>;  // operation, layer

bool Inherits(const ReportProcess& process) {
  return std::any_of(process.operations.begin(), process.operations.end(),
                     [](const ReportOperation& row) { return row.inherited; });
}

// Whether |process| descends from the process |pid| of its host.
bool DescendsFrom(const Run& run, const ProcessTrace& process, int64_t pid) {
  int64_t ancestor = process.parent_pid;
  // Pids come again: what looks like a circle ends with the number of processes.
  for (size_t left = run.processes.size(); left > 0 && ancestor != pid; --left) {
    const auto found = std::find_if(run.processes.begin(), run.processes.end(),
                                    [&](const ProcessTrace& candidate) {
                                      return candidate.identity.host == process.identity.host &&
                                             candidate.identity.pid == ancestor;
                                    });
    if (found == run.processes.end()) return false;
    ancestor = found->parent_pid;
  }
  return ancestor == pid;
}

// What |process| did during |waits|. Where it |inherits|, its time outside of operations is theirs.
void AddActivities(const ProcessTrace& process, bool inherits,
                   const std::map<std::string, std::vector<Interval>>& waits,
                   const ReportOptions& options, Activities* sums) {
  std::vector<std::pair<std::string, std::vector<Interval>>> questions;
  for (const auto& [operation, times] : waits) {
    if (inherits || questions.empty())
      questions.push_back({inherits ? operation : kNoOperation, {}});
    std::vector<Interval>& question = questions.back().second;
    question.insert(question.end(), times.begin(), times.end());
  }
  for (auto& [operation, times] : questions) {
    for (const ReportActivity& did : WhatItDid(process, std::move(times), options)) {
      (*sums)[{did.operation == kNoOperation ? operation : did.operation, did.layer}] += did.ns;
    }
  }
}

ReportAwaited Explain(const Run& run, size_t waiter, int64_t pid,
                      const std::map<std::string, std::vector<Interval>>& waits,
                      const ReportOptions& options, const Report& report) {
  ReportAwaited row;
  row.pid = pid;
  for (const auto& [operation, times] : waits) {
    for (const Interval& time : times) row.ns += time.length();
  }
  const ProcessIdentity& own = run.processes[waiter].identity;
  Activities sums;
  for (size_t p = 0; p < run.processes.size(); ++p) {  // by exec one pid may be several
    const ProcessTrace& process = run.processes[p];
    if (process.identity.host != own.host || process.identity.pid != pid) continue;
    row.worker |= DescendsFrom(run, process, own.pid);
    AddActivities(process, Inherits(report.processes[p]), waits, options, &sums);
  }
  for (const auto& [what, ns] : sums) row.meanwhile.push_back({what.first, what.second, ns});
  std::stable_sort(row.meanwhile.begin(), row.meanwhile.end(),
                   [](const auto& a, const auto& b) { return a.ns > b.ns; });
  return row;
}

}  // namespace

void ExplainWaits(const Run& run, const std::vector<ProcessAnalysis>& analyses,
                  const ProcessTrace* root, const ReportOptions& options, Report* report) {
  for (size_t p = 0; p < analyses.size(); ++p) {
    // Under what a process inherits it is awaited itself: that is the other one's story.
    if (Inherits(report->processes[p])) continue;
    std::map<int64_t, std::map<std::string, std::vector<Interval>>> waits;
    for (const NamedWait& wait : analyses[p].waits) {
      if (wait.operation == kNoOperation && &run.processes[p] != root) continue;
      waits[wait.pid][wait.operation].push_back(wait.time);
    }
    for (const auto& [pid, by_operation] : waits) {
      report->processes[p].awaited.push_back(Explain(run, p, pid, by_operation, options, *report));
    }
  }
}

}  // namespace gpubound
