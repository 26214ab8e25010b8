// SPDX-License-Identifier: Apache-2.0
//
// What a replay of a process tells others, and who is asked. No state.
#include "analysis/replay_peers.h"

#include <tuple>

namespace gpubound {

int64_t ProcessReplay::LastEvent() const {
  const ReplayThread* const reporting = StartedReporting();
  return reporting == nullptr ? process_.BegunNs() : reporting->at_ns;
}

bool ProcessReplay::IsAtRest() const {
  const ReplayThread* const reporting = StartedReporting();
  if (reporting == nullptr || !reporting->calls.empty()) return false;
  return reporting->scopes.empty() ||
         reporting->cell % kLayers == static_cast<size_t>(Layer::kWait);
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
  return found->At(time_ns);
}

// Which of several ended the wait is not recorded, nor whether it took all of them. Whoever answers
// comes to rest then: if all rest, each may have been waited for, and the last one decides; if some
// are busy, it was the one that came to rest in the wait, nearest before its end. A wait in which
// none did is told by the one that did anything nearest before its end.
std::optional<Moment> ReplayPeers::ReleaseBy(size_t waiter, const std::vector<int64_t>& pids,
                                             int64_t time_ns) const {
  const std::string& host = run_.processes[waiter].identity.host;
  if (pids.size() == 1) return MomentOf(host, pids.front(), time_ns);
  // What waits did nothing since it began to wait.
  const int64_t begun_ns = replays_[waiter]->LastEvent();
  const ProcessReplay* nearest = nullptr;
  bool nearest_rests = false;
  bool all_rest = true;
  for (const int64_t pid : pids) {
    const ProcessReplay* const peer = ReplayOf(host, pid, time_ns);
    if (peer == nullptr) continue;
    const bool rests = peer->IsAtRest() && peer->LastEvent() >= begun_ns;
    all_rest &= peer->IsAtRest();
    if (nearest != nullptr &&
        std::tuple(rests, peer->LastEvent()) <= std::tuple(nearest_rests, nearest->LastEvent())) {
      continue;
    }
    nearest = peer;
    nearest_rests = rests;
  }
  if (nearest == nullptr) return std::nullopt;
  Moment release = nearest->At(time_ns);
  if (!all_rest) return release;
  // As long after the last of them as it was after the one that was last in the recording.
  const double delay = release.at - nearest->At(nearest->LastEvent()).at;
  for (const int64_t pid : pids) {
    const ProcessReplay* const peer = ReplayOf(host, pid, time_ns);
    if (peer != nullptr) release = Later(release, peer->At(peer->LastEvent()).After(delay));
  }
  return release;
}

}  // namespace gpubound
