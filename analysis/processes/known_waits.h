// SPDX-License-Identifier: Apache-2.0
//
// Waits of those processes of a run that have been analysed, and what others inherit by them (SPEC
// section 2): worked out whenever it is asked for, since for all heirs together it may be many
// times as much as the waits. Kept are waits by which somebody may inherit, and those that a report
// explains. Told by one thread, then asked by any number of them.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_KNOWN_WAITS_H_
#define GPUBOUND_ANALYSIS_PROCESSES_KNOWN_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/process_waits.h"
#include "analysis/processes/run_waits.h"
#include "analysis/trace/run.h"

namespace gpubound {

// At each instant of |span| the operation of the wait begun last; of those begun at once that of
// the first process. Of one process no two waits in |lists| are at the same time.
Heritage InheritedBy(const std::vector<WaitList>& lists, const Interval& span);

class KnownWaits {
 public:
  // |run| outlives the object. |root|: the number of its root. |explained|: waits will be explained
  // (awaited.h).
  KnownWaits(const Run& run, size_t root, const std::vector<ProcessNature>& natures,
             bool explained);

  // What the waits that are known leave to a process, if it has no operations.
  Heritage LeftTo(size_t process) const;
  // By whom; WaitList::waits is the object's own.
  std::vector<WaitList> ListsFor(size_t process) const;
  // That it is left something else, as of a circle of processes that wait for each other.
  void Leave(size_t process, Heritage heritage) { left_[process] = std::move(heritage); }

  // How a process waited; once for each. |inherits|: it does inherit what LeftTo() said.
  void Tell(size_t process, bool inherits, ProcessWaits waits);

  // Of a process of which was told. Its waits are those that a report explains.
  bool Inherits(size_t process) const { return inherits_[process]; }
  Heritage HeritageOf(size_t process) const {
    return inherits_[process] ? LeftTo(process) : Heritage();
  }
  const ProcessWaits& WaitsOf(size_t process) const { return waits_[process]; }

 private:
  struct Place {
    size_t process;
    size_t group;
  };
  using Heir = std::pair<std::string, int64_t>;  // host, pid

  bool MayLeave(const std::string& host, const GroupWaits& group) const;

  const Run& run_;
  const size_t root_;
  const bool explained_;
  std::vector<ProcessWaits> waits_;  // by process
  std::vector<bool> inherits_;       // likewise
  std::map<size_t, Heritage> left_;  // by process, where it was said
  // Waits for processes that may inherit.
  std::map<Heir, std::vector<Place>> heirs_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_KNOWN_WAITS_H_
