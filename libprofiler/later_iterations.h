// SPDX-License-Identifier: Apache-2.0
//
// Keeps when the iterations behind the end of the recording end, in a file of their own
// (proto/later_format.h): the first ones, as many as it has room for. Any thread; no lock, and no
// system call once it is made. Lives as long as the process, whose threads go on ending iterations.
#ifndef GPUBOUND_LIBPROFILER_LATER_ITERATIONS_H_
#define GPUBOUND_LIBPROFILER_LATER_ITERATIONS_H_

#include <cstdint>
#include <memory>
#include <string>

#include "proto/later_format.h"

namespace gpubound {

class LaterIterations {
 public:
  // Null where there can be no such file, which is said once; the trace is whole without.
  static std::unique_ptr<LaterIterations> Create(const std::string& path);
  ~LaterIterations();
  LaterIterations(const LaterIterations&) = delete;
  LaterIterations& operator=(const LaterIterations&) = delete;

  // Iteration |number| ended at |now_ns| (CLOCK_MONOTONIC).
  void Add(uint64_t number, int64_t now_ns) noexcept;

 private:
  explicit LaterIterations(void* mapped);

  LaterHeader* const header_;
  LaterIteration* const iterations_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_LATER_ITERATIONS_H_
