// SPDX-License-Identifier: Apache-2.0
//
// What a process and everything that it started use of the CPU and of memory, from /proc: no
// privilege, no cost to those processes. Reads files; one thread.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_PROCESS_TREE_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_PROCESS_TREE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "proto/event_model.h"

namespace gpubound {

class ProcessTree {
 public:
  // Of |pid| and what it started; |proc| is "/proc". |cpu_ns| tells what the calling thread has
  // used.
  ProcessTree(std::string proc, uint32_t pid, int64_t (*cpu_ns)() = nullptr);

  // A process that ends meanwhile is left out. CPU time is that of the tree's processes and of
  // those of their children that they waited for, so it never decreases unless a process is
  // orphaned; the run-queue delay is that of the threads which live. All zero when the process
  // cannot be read.
  //
  // Threads tell of that delay and of new processes, and there may be thousands. So they are looked
  // at as often as takes 1 % of a processor: each time, in a tree of some hundred threads and a
  // sample a second. In between both are as they were.
  ProcessTreeSample Measure(int64_t now_ns);

 private:
  void LookAtThreads();

  const std::string proc_;
  int64_t (*const cpu_ns_)();
  std::vector<uint32_t> pids_;  // the first is that of the tree
  int64_t run_delay_ns_ = 0;
  int64_t look_due_ns_ = INT64_MIN;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_PROCESS_TREE_H_
