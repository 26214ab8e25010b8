// SPDX-License-Identifier: Apache-2.0
//
// What processes inherit that may wait for each other, each for the next (SPEC section 2): none of
// them can be analysed before the others. When each waits is known without that, so what all of
// them inherit is worked out together, instant by instant, and behind each other:
//
//   main     update |--wait for W, "rollout"-------|      opens operations
//   worker W        |...|--wait for S---|..........|      inherits "rollout"
//   server S   wait for W --|...........|-- wait for W    inherits it too, while W waits for it
//
// Where at one instant some wait for each other in a circle, as a worker that has sent a request
// and a server that has yet to take it do, those have something first for whom somebody outside of
// it waits, and the others from them.
//
// Time grows with waits times members: 0.4 million waits of 9 took 0.8 s, of 65 4.3 s. Memory: what
// is inherited. Pure.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_WAIT_CIRCLES_H_
#define GPUBOUND_ANALYSIS_PROCESSES_WAIT_CIRCLES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/process_waits.h"

namespace gpubound {

struct CircleMember {
  size_t process = 0;  // in the run
  int64_t pid = 0;
  Interval span;
  bool any_operation = false;  // of its own: it inherits nothing
  // Its own, as they are while it inherits nothing.
  const ProcessWaits* waits = nullptr;
  // Those for it of processes that are no members; a list for several is in each one's.
  std::vector<WaitList> outside;
};

// What each member inherits, as InheritedBy() has it.
std::vector<Heritage> InheritInCircle(const std::vector<CircleMember>& members);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_WAIT_CIRCLES_H_
