// SPDX-License-Identifier: Apache-2.0
//
// What a replay of a process tells others, and who is asked. No state.
#include "analysis/replay/replay_peers.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace gpubound {

int64_t ProcessReplay::LastEvent() const {
  const ReplayThread* const reporting = StartedLeader();
  return reporting == nullptr ? process_.BegunNs() : reporting->at_ns;
}

bool ProcessReplay::IsAtRest() const {
  const ReplayThread* const reporting = StartedLeader();
  if (reporting == nullptr || !reporting->calls.empty()) return false;
  return reporting->scopes.empty() || IsInWait(reporting->cell);
}

bool ProcessReplay::WaitsSince(int64_t time_ns) const {
  const ReplayThread* const reporting = StartedLeader();
  return reporting != nullptr && reporting->calls.empty() && reporting->at_ns <= time_ns &&
         IsInWait(reporting->cell);
}

ReplayPeers::ReplayPeers(const Run& run)
    : run_(run), replays_(run.processes.size()), noted_(run.processes.size()) {
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessIdentity& identity = run.processes[p].identity;
    processes_[{identity.host, identity.pid}].push_back(p);
  }
}

std::optional<size_t> ReplayPeers::Find(const std::string& host, int64_t pid,
                                        int64_t time_ns) const {
  const auto of_pid = processes_.find({host, pid});
  if (of_pid == processes_.end()) return std::nullopt;
  std::optional<size_t> found;
  int64_t begin_ns = INT64_MIN;
  for (const size_t p : of_pid->second) {
    const int64_t own_ns = run_.processes[p].BegunNs();
    if (replays_[p] == nullptr || own_ns > time_ns || own_ns < begin_ns) continue;
    found = p;
    begin_ns = own_ns;
  }
  return found;
}

std::optional<Moment> ReplayPeers::MomentOf(const std::string& host, int64_t pid,
                                            int64_t time_ns) const {
  const std::optional<size_t> found = Find(host, pid, time_ns);
  if (!found) return std::nullopt;
  return replays_[*found]->LeadAt(time_ns);
}

double& ReplayPeers::NotedOf(size_t waiter, size_t process) {
  std::vector<double>& noted = noted_[waiter];
  noted.resize(replays_.size());
  return noted[process];
}

GainedTime ReplayPeers::OthersGained(size_t waiter, int64_t begun_ns) {
  GainedTime gains;
  for (size_t p = 0; p < replays_.size(); ++p) {
    const ProcessReplay* const other = replays_[p];
    if (p == waiter || other == nullptr || other->LastEvent() <= begun_ns) continue;
    if (run_.processes[p].identity.host != run_.processes[waiter].identity.host) continue;
    const double gained = other->GainedItself();
    const double since = gained - std::exchange(NotedOf(waiter, p), gained);
    gains.sooner_ns = std::max(gains.sooner_ns, since);
    gains.later_ns = std::max(gains.later_ns, -since);
  }
  return gains;
}

// Which of several ended the wait is not recorded, nor whether it took all of them. Whoever answers
// comes to rest then: if all rest, each may have been waited for, and the last one decides; if some
// are busy, it was the one that came to rest in the wait, nearest before its end. A wait in which
// none did is told by the one that did anything nearest before its end. Where all have waited
// themselves since before it began, their answers were there already.
std::optional<ProcessReplay::Release> ReplayPeers::ReleaseBy(size_t waiter,
                                                             const std::vector<int64_t>& pids,
                                                             int64_t begun_ns, int64_t time_ns) {
  const std::string& host = run_.processes[waiter].identity.host;
  std::vector<const ProcessReplay*> peers;
  UnknownWaits waits;
  for (const int64_t pid : pids) {
    const std::optional<size_t> found = Find(host, pid, time_ns);
    if (!found) continue;
    const ProcessReplay* const peer = replays_[*found];
    peers.push_back(peer);
    waits.Follow(peer->waits());
    NotedOf(waiter, *found) = peer->GainedItself();
  }
  if (peers.empty()) return std::nullopt;
  const auto is_ready = [&](const ProcessReplay* peer) { return peer->WaitsSince(begun_ns); };
  if (std::ranges::all_of(peers, is_ready)) {
    Moment ready;
    for (const ProcessReplay* peer : peers) ready = Later(ready, peer->At(peer->LastEvent()));
    return ProcessReplay::Release{ready, /*was_ready=*/true, waits};
  }
  const auto release = [&waits](const Moment& at) {
    return ProcessReplay::Release{at, /*was_ready=*/false, waits};
  };
  if (pids.size() == 1) return release(peers.front()->LeadAt(time_ns));
  const auto came_to_rest = [&](const ProcessReplay* peer) {
    return peer->IsAtRest() && peer->LastEvent() >= begun_ns;
  };
  const ProcessReplay* nearest = peers.front();
  for (const ProcessReplay* peer : peers) {
    if (std::tuple(came_to_rest(peer), peer->LastEvent()) >
        std::tuple(came_to_rest(nearest), nearest->LastEvent())) {
      nearest = peer;
    }
  }
  const auto rests = [](const ProcessReplay* peer) { return peer->IsAtRest(); };
  if (!std::ranges::all_of(peers, rests)) return release(nearest->LeadAt(time_ns));
  // As long after the last of them as it was after the one that was last in the recording.
  Moment last = nearest->At(time_ns);
  const double delay = last.at - nearest->At(nearest->LastEvent()).at;
  for (const ProcessReplay* peer : peers) {
    const Moment rested = peer->At(peer->LastEvent()).After(delay);
    if (rested.at > last.at) nearest = peer;
    last = Later(last, rested);
  }
  return release(nearest->Leading(last));
}

}  // namespace gpubound
