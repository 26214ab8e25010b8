// SPDX-License-Identifier: Apache-2.0
//
// Which processors a thread may have. Of the first 1,024 of a machine (sched_setaffinity(2)); on
// others, and where the system refuses, nothing changes.
#ifndef GPUBOUND_TOOLS_LAUNCH_PROCESSORS_H_
#define GPUBOUND_TOOLS_LAUNCH_PROCESSORS_H_

#include <sched.h>
#include <sys/types.h>

#include <optional>
#include <random>

namespace gpubound {

class Processors {
 public:
  Processors() = default;                       // not known
  static Processors Allowed(pid_t thread = 0);  // those that it, or the calling one, may have
  static Processors Current();                  // the one that the calling thread has now

  // One of these, at random.
  Processors Draw(std::mt19937_64* random) const;
  // False where either is not known.
  bool Contain(const Processors& others) const;
  bool operator==(const Processors& other) const;

  // |thread| has one of these from here on. Threads that it starts inherit that, others of its
  // process go on as they are.
  void Hold(pid_t thread) const;

 private:
  explicit Processors(const cpu_set_t& set) : set_(set) {}

  std::optional<cpu_set_t> set_;  // null: not known
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_PROCESSORS_H_
