// SPDX-License-Identifier: Apache-2.0
//
// Where the processes of a run are in its replay, asked by pid: those that another one waits for,
// and the parent of one that begins. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_PEERS_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_PEERS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/replay/replay_moment.h"
#include "analysis/replay/replay_process.h"
#include "analysis/trace/run.h"

namespace gpubound {

class ReplayPeers {
 public:
  explicit ReplayPeers(const Run& run);  // |run| outlives the object

  // From now on run.processes[process] can be asked; |replay| outlives the object.
  void Begin(size_t process, const ProcessReplay* replay) { replays_[process] = replay; }

  // The process |pid| that lives at |time_ns|, of several that an exec made the latest, by its
  // place in the run. Nothing where none is known.
  std::optional<size_t> Find(const std::string& host, int64_t pid, int64_t time_ns) const;

  // Where that process is then.
  std::optional<Moment> MomentOf(const std::string& host, int64_t pid, int64_t time_ns) const;

  // How much the others of its host gained by themselves since run.processes[waiter] was told last,
  // or last waited for them, of those that did anything since |begun_ns|.
  GainedTime OthersGained(size_t waiter, int64_t begun_ns);

  // By what run.processes[waiter] goes on that waited from |begun_ns| until |time_ns| for any of
  // |pids|, or for all.
  std::optional<ProcessReplay::Release> ReleaseBy(size_t waiter, const std::vector<int64_t>& pids,
                                                  int64_t begun_ns, int64_t time_ns);

 private:
  double& NotedOf(size_t waiter, size_t process);

  const Run& run_;
  std::vector<const ProcessReplay*> replays_;  // null: not begun
  std::vector<std::vector<double>> noted_;     // by waiter and process: gains it was told of
  std::map<std::pair<std::string, int64_t>, std::vector<size_t>> processes_;  // by host and pid
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_PEERS_H_
