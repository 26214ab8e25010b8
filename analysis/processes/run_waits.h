// SPDX-License-Identifier: Apache-2.0
//
// How the processes of a run wait for each other: whom each may wait for, in which order they have
// to be analysed, so that it is known what a process without operations inherits (SPEC section 2).
// Only recorded waits count; nothing is guessed from coincidence in time. Pure.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_RUN_WAITS_H_
#define GPUBOUND_ANALYSIS_PROCESSES_RUN_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What a process turns out to do, told from its events: a fork child has the names of its parent,
// used or not.
struct ProcessNature {
  bool opens_operations = false;
  bool simulates = false;
};
// By process; only of those that another one waits for.
std::vector<ProcessNature> NaturesOf(const Run& run);

// Whom each process waits for. |run| outlives it; any thread.
class PeerTable {
 public:
  PeerTable(const Run& run, const std::vector<ProcessNature>& natures);

  // The other processes of its host that run.processes[process] waits for, each for itself, then
  // those groups of them that it waits for together.
  std::vector<Peer> Of(size_t process) const;

 private:
  const Run& run_;
  std::map<std::pair<std::string, int64_t>, bool> simulates_;  // exec: one pid, several processes
};

// Processes that may wait for each other in a circle, as a worker does that waits for orders;
// mostly one alone. Ascending indices.
using WaitCircle = std::vector<size_t>;

// All processes in rounds: one that may inherit comes after those that wait for it, or with them in
// a circle.
std::vector<std::vector<WaitCircle>> AnalysisRounds(const Run& run,
                                                    const std::vector<ProcessNature>& natures);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_RUN_WAITS_H_
