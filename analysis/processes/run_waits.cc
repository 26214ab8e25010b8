// SPDX-License-Identifier: Apache-2.0
//
// Waits across processes. No state.
#include "analysis/processes/run_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "analysis/base/strong_components.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/late_rank_label.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/thread_scan.h"

namespace gpubound {
namespace {

bool SameHost(const ProcessTrace& a, const ProcessTrace& b) {
  return a.identity.host == b.identity.host;
}

// Whether an event of |process| opens a label that |wanted| says yes to.
template <typename Wanted>
bool OpensOne(const ProcessTrace& process, Wanted wanted) {
  std::vector<bool> labels;
  for (const Label& label : process.labels) labels.push_back(wanted(label));
  if (std::find(labels.begin(), labels.end(), true) == labels.end()) return false;
  return OpensAny(process, *SourceOf(process), labels);
}

// Pids that a label of |waiter| names.
std::set<int64_t> PidsAwaitedBy(const ProcessTrace& waiter) {
  std::set<int64_t> awaited;
  for (const Label& label : waiter.labels) {
    const std::vector<int64_t> pids = AwaitedPids(label);
    awaited.insert(pids.begin(), pids.end());
  }
  return awaited;
}

}  // namespace

std::vector<ProcessNature> NaturesOf(const Run& run) {
  std::vector<ProcessNature> natures(run.processes.size());
  std::set<std::pair<std::string, int64_t>> awaited;
  for (const ProcessTrace& process : run.processes) {
    for (const int64_t pid : PidsAwaitedBy(process)) awaited.insert({process.identity.host, pid});
  }
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    if (!awaited.contains({process.identity.host, process.identity.pid})) continue;
    const ProcessSums* before = run.sums == nullptr ? nullptr : run.sums->Of(process.identity);
    natures[p].opens_operations =
        (before != nullptr && before->opens_operations) ||
        OpensOne(process, [](const Label& label) { return label.kind == LabelKind::kOperation; });
    natures[p].simulates =
        (before != nullptr && before->simulates) || OpensOne(process, IsSimulation);
  }
  return natures;
}

PeerTable::PeerTable(const Run& run, const std::vector<ProcessNature>& natures) : run_(run) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessIdentity& identity = run.processes[p].identity;
    simulates_[{identity.host, identity.pid}] |= natures[p].simulates;
  }
}

std::vector<Peer> PeerTable::Of(size_t process) const {
  const ProcessTrace& own = run_.processes[process];
  std::set<int64_t> ranks;  // whom it waits for in collectives, whatever they do
  for (const Label& label : own.labels) {
    if (label.domain != kLateRankDomain) continue;
    for (const int64_t pid : AwaitedPids(label)) ranks.insert(pid);
  }
  std::map<std::vector<int64_t>, bool> groups;  // by pids: whether one of them simulates
  for (const Label& label : own.labels) {
    std::vector<int64_t> known;
    bool any_simulates = false;
    for (const int64_t pid : AwaitedPids(label)) {
      const auto peer = simulates_.find({own.identity.host, pid});
      if (pid == own.identity.pid || peer == simulates_.end()) continue;
      const bool simulates = peer->second && !ranks.contains(pid);
      groups[{pid}] = simulates;
      any_simulates |= simulates;
      known.push_back(pid);
    }
    if (known.size() > 1) groups[std::move(known)] = any_simulates;
  }
  std::vector<Peer> peers;
  for (const bool alone : {true, false}) {
    for (const auto& [pids, simulates] : groups) {
      if ((pids.size() == 1) == alone) peers.push_back({pids, simulates});
    }
  }
  return peers;
}

std::vector<std::vector<WaitCircle>> AnalysisRounds(const Run& run,
                                                    const std::vector<ProcessNature>& natures) {
  const size_t count = run.processes.size();
  std::vector<std::vector<size_t>> waiters(count);
  for (size_t other = 0; other < count; ++other) {
    const std::set<int64_t> awaited = PidsAwaitedBy(run.processes[other]);
    for (size_t p = 0; p < count && !awaited.empty(); ++p) {
      if (natures[p].opens_operations || !SameHost(run.processes[p], run.processes[other]))
        continue;
      const int64_t pid = run.processes[p].identity.pid;
      if (pid == run.processes[other].identity.pid)
        continue;  // a process, and what exec made of it
      if (awaited.contains(pid)) waiters[p].push_back(other);
    }
  }
  const std::vector<size_t> circle_of = StrongComponents(waiters);
  std::vector<WaitCircle> circles(count);
  for (size_t p = 0; p < count; ++p) circles[circle_of[p]].push_back(p);
  std::vector<size_t> round_of(count);  // by circle; those of its waiters are known before
  std::vector<std::vector<WaitCircle>> rounds;
  for (size_t circle = 0; circle < count && !circles[circle].empty(); ++circle) {
    size_t round = 0;
    for (const size_t p : circles[circle]) {
      for (const size_t waiter : waiters[p]) {
        if (circle_of[waiter] != circle) round = std::max(round, round_of[circle_of[waiter]] + 1);
      }
    }
    round_of[circle] = round;
    if (rounds.size() <= round) rounds.resize(round + 1);
    rounds[round].push_back(std::move(circles[circle]));
  }
  return rounds;
}

}  // namespace gpubound
