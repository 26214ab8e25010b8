// SPDX-License-Identifier: Apache-2.0
//
// What a replay of a process tells others, and who is asked. No state.
#include "analysis/replay_peers.h"

#include <algorithm>
#include <tuple>

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

ReplayPeers::ReplayPeers(const Run& run) : run_(run), replays_(run.processes.size()) {
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

const ProcessReplay* ReplayPeers::ReplayOf(const std::string& host, int64_t pid,
                                           int64_t time_ns) const {
  const std::optional<size_t> found = Find(host, pid, time_ns);
  return found ? replays_[*found] : nullptr;
}

std::optional<Moment> ReplayPeers::MomentOf(const std::string& host, int64_t pid,
                                            int64_t time_ns) const {
  const ProcessReplay* const found = ReplayOf(host, pid, time_ns);
  if (found == nullptr) return std::nullopt;
  return found->LeadAt(time_ns);
}

// Which of several ended the wait is not recorded, nor whether it took all of them. Whoever answers
// comes to rest then: if all rest, each may have been waited for, and the last one decides; if some
// are busy, it was the one that came to rest in the wait, nearest before its end. A wait in which
// none did is told by the one that did anything nearest before its end. Where all have waited
// themselves since before it began, their answers were there already.
std::optional<ProcessReplay::Release> ReplayPeers::ReleaseBy(size_t waiter,
                                                             const std::vector<int64_t>& pids,
                                                             int64_t begun_ns,
                                                             int64_t time_ns) const {
  const std::string& host = run_.processes[waiter].identity.host;
  std::vector<const ProcessReplay*> peers;
  for (const int64_t pid : pids) {
    const ProcessReplay* const peer = ReplayOf(host, pid, time_ns);
    if (peer != nullptr) peers.push_back(peer);
  }
  if (peers.empty()) return std::nullopt;
  const auto is_ready = [&](const ProcessReplay* peer) { return peer->WaitsSince(begun_ns); };
  if (std::ranges::all_of(peers, is_ready)) {
    Moment ready;
    for (const ProcessReplay* peer : peers) ready = Later(ready, peer->At(peer->LastEvent()));
    return ProcessReplay::Release{ready, /*was_ready=*/true};
  }
  if (pids.size() == 1) return ProcessReplay::Release{peers.front()->LeadAt(time_ns)};
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
  if (!std::ranges::all_of(peers, rests)) return ProcessReplay::Release{nearest->LeadAt(time_ns)};
  // As long after the last of them as it was after the one that was last in the recording.
  Moment release = nearest->At(time_ns);
  const double delay = release.at - nearest->At(nearest->LastEvent()).at;
  for (const ProcessReplay* peer : peers) {
    const Moment rested = peer->At(peer->LastEvent()).After(delay);
    if (rested.at > release.at) nearest = peer;
    release = Later(release, rested);
  }
  return ProcessReplay::Release{nearest->Leading(release)};
}

}  // namespace gpubound
