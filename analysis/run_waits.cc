// SPDX-License-Identifier: Apache-2.0
//
// Waits across processes. No state.
#include "analysis/run_waits.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/memory_source.h"
#include "analysis/run_sums.h"
#include "analysis/thread_scan.h"

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

bool BeganBefore(const Run& run, size_t a, size_t b) {
  const int64_t a_ns = run.processes[a].identity.start_realtime_ns;
  const int64_t b_ns = run.processes[b].identity.start_realtime_ns;
  return std::tie(a_ns, a) < std::tie(b_ns, b);
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

std::vector<Peer> PeersOf(const Run& run, const std::vector<ProcessNature>& natures,
                          size_t process) {
  const ProcessTrace& own = run.processes[process];
  std::map<int64_t, bool> simulates;  // exec in place: one pid, several processes
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& other = run.processes[p];
    if (!SameHost(own, other) || other.identity.pid == own.identity.pid) continue;
    simulates[other.identity.pid] |= natures[p].simulates;
  }
  std::vector<Peer> peers;
  for (const auto& [pid, does] : simulates) peers.push_back({{pid}, does});
  std::set<std::vector<int64_t>> groups;
  for (const Label& label : own.labels) {
    std::vector<int64_t> pids = AwaitedPids(label);
    std::erase_if(pids, [&simulates](int64_t pid) { return !simulates.contains(pid); });
    if (pids.size() > 1) groups.insert(std::move(pids));
  }
  for (const std::vector<int64_t>& group : groups) {
    const bool any = std::any_of(group.begin(), group.end(),
                                 [&simulates](int64_t pid) { return simulates.at(pid); });
    peers.push_back({group, any});
  }
  return peers;
}

std::vector<std::vector<size_t>> AnalysisRounds(const Run& run,
                                                const std::vector<ProcessNature>& natures) {
  const size_t count = run.processes.size();
  std::vector<std::set<size_t>> waiters(count);  // that are still to be analysed
  for (size_t other = 0; other < count; ++other) {
    const std::set<int64_t> awaited = PidsAwaitedBy(run.processes[other]);
    for (size_t p = 0; p < count && !awaited.empty(); ++p) {
      if (p == other || natures[p].opens_operations) continue;
      if (!SameHost(run.processes[p], run.processes[other])) continue;
      if (awaited.contains(run.processes[p].identity.pid)) waiters[p].insert(other);
    }
  }
  std::vector<std::vector<size_t>> rounds;
  std::vector<bool> done(count);
  for (size_t left = count; left > 0; left -= rounds.back().size()) {
    std::vector<size_t> round;
    for (size_t p = 0; p < count; ++p) {
      if (!done[p] && waiters[p].empty()) round.push_back(p);
    }
    const bool circle = round.empty();
    for (size_t p = 0; p < count && circle; ++p) {
      const bool first =
          std::all_of(waiters[p].begin(), waiters[p].end(),
                      [&run, p](size_t waiter) { return BeganBefore(run, p, waiter); });
      if (!done[p] && first) round.push_back(p);
    }
    for (const size_t p : round) done[p] = true;
    for (std::set<size_t>& of_process : waiters) {
      for (const size_t p : round) of_process.erase(p);
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

std::vector<NamedWait> WaitsFor(int64_t pid, const Interval& span,
                                const std::vector<NamedWait>& waits) {
  struct Edge {
    int64_t time_ns;
    bool begins;
    size_t wait;
    bool operator<(const Edge& other) const {
      return std::tie(time_ns, begins, wait) < std::tie(other.time_ns, other.begins, other.wait);
    }
  };
  std::vector<Edge> edges;
  for (size_t i = 0; i < waits.size(); ++i) {
    const Interval time = waits[i].time.ClippedTo(span);
    if (waits[i].pid != pid || waits[i].operation == kNoOperation || time.empty()) continue;
    edges.push_back({time.begin_ns, true, i});
    edges.push_back({time.end_ns, false, i});
  }
  std::sort(edges.begin(), edges.end());

  std::vector<NamedWait> owned;
  std::set<std::pair<int64_t, size_t>> open;  // (minus begin, wait): the first one owns
  const NamedWait* owner = nullptr;
  int64_t since_ns = 0;
  for (size_t i = 0; i < edges.size();) {
    const int64_t now_ns = edges[i].time_ns;
    for (; i < edges.size() && edges[i].time_ns == now_ns; ++i) {
      const std::pair key{-waits[edges[i].wait].time.begin_ns, edges[i].wait};
      if (edges[i].begins) {
        open.insert(key);
      } else {
        open.erase(key);
      }
    }
    const NamedWait* next = open.empty() ? nullptr : &waits[open.begin()->second];
    if (next == owner) continue;
    if (owner != nullptr) owned.push_back({pid, {since_ns, now_ns}, owner->operation});
    owner = next;
    since_ns = now_ns;
  }
  return owned;
}

}  // namespace gpubound
