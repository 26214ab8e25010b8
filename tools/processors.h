// SPDX-License-Identifier: Apache-2.0
//
// Which processors a thread may have. Of the first 1,024 of a machine (sched_setaffinity(2)); on
// others, and where the system refuses, nothing changes.
#ifndef GPUBOUND_TOOLS_PROCESSORS_H_
#define GPUBOUND_TOOLS_PROCESSORS_H_

#include <sched.h>
#include <sys/types.h>

#include <optional>

namespace gpubound {

class Processors {
 public:
  static Processors Allowed();  // those that the calling thread may have
  static Processors Current();  // the one that it has now

  // |thread| has one of these from here on. Threads that it starts inherit that, others of its
  // process go on as they are.
  void Hold(pid_t thread) const;

 private:
  explicit Processors(std::optional<cpu_set_t> set) : set_(set) {}

  std::optional<cpu_set_t> set_;  // null: not known
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_PROCESSORS_H_
