// SPDX-License-Identifier: Apache-2.0
//
// Waits across processes. No state.
#include "analysis/run_waits.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace gpubound {
namespace {

bool AnyLabel(const ProcessTrace& process, LabelKind kind, Layer layer) {
  return std::any_of(process.labels.begin(), process.labels.end(), [=](const Label& label) {
    return label.kind == kind && (layer == Layer::kUnset || label.layer == layer);
  });
}

bool MayWaitFor(const ProcessTrace& waiter, const ProcessTrace& awaited) {
  if (waiter.identity.host != awaited.identity.host) return false;
  const std::string pid = std::to_string(awaited.identity.pid);
  return std::any_of(waiter.labels.begin(), waiter.labels.end(), [&pid](const Label& label) {
    return label.kind == LabelKind::kLayer && label.layer == Layer::kWait &&
           label.domain == kPeerDomain && label.text == pid;
  });
}

}  // namespace

std::vector<Peer> PeersOf(const Run& run, size_t process) {
  std::vector<Peer> peers;
  const ProcessIdentity& own = run.processes[process].identity;
  for (const ProcessTrace& other : run.processes) {
    if (other.identity.host != own.host || other.identity.pid == own.pid) continue;
    const bool simulates = AnyLabel(other, LabelKind::kLayer, Layer::kSimulator);
    const auto known = std::find_if(peers.begin(), peers.end(), [&](const Peer& peer) {
      return peer.pid == other.identity.pid;  // exec in place: one pid, several processes
    });
    if (known == peers.end()) {
      peers.push_back({other.identity.pid, simulates});
    } else {
      known->simulates |= simulates;
    }
  }
  return peers;
}

std::vector<std::vector<size_t>> AnalysisRounds(const Run& run) {
  const size_t count = run.processes.size();
  std::vector<std::set<size_t>> waiters(count);  // that are still to be analysed
  for (size_t p = 0; p < count; ++p) {
    if (AnyLabel(run.processes[p], LabelKind::kOperation, Layer::kUnset)) continue;
    for (size_t other = 0; other < count; ++other) {
      if (other == p || !MayWaitFor(run.processes[other], run.processes[p])) continue;
      waiters[p].insert(other);
    }
  }
  std::vector<std::vector<size_t>> rounds;
  std::vector<bool> done(count);
  for (size_t left = count; left > 0; left -= rounds.back().size()) {
    std::vector<size_t> round;
    for (size_t p = 0; p < count; ++p) {
      if (!done[p] && waiters[p].empty()) round.push_back(p);
    }
    if (round.empty()) {  // a circle
      for (size_t p = 0; p < count; ++p) {
        if (!done[p]) round.push_back(p);
      }
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
