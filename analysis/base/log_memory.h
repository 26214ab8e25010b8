// SPDX-License-Identifier: Apache-2.0
//
// How much the logs of a program (record_log.h) may have in memory, all together: a run of a
// thousand processes has a log for each. Any thread.
#ifndef GPUBOUND_ANALYSIS_BASE_LOG_MEMORY_H_
#define GPUBOUND_ANALYSIS_BASE_LOG_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace gpubound {

class LogMemory {
 public:
  // A quarter of what was available when it was first asked for.
  static LogMemory& OfThisProgram();

  explicit LogMemory(size_t bytes) : left_(static_cast<int64_t>(bytes)) {}
  bool Take(size_t bytes) {
    const auto count = static_cast<int64_t>(bytes);
    if (left_.fetch_sub(count, std::memory_order_relaxed) >= count) return true;
    left_.fetch_add(count, std::memory_order_relaxed);
    return false;
  }
  void GiveBack(size_t bytes) {
    left_.fetch_add(static_cast<int64_t>(bytes), std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t> left_;
};

// What the machine can give by |meminfo| (/proc/meminfo), within the limit of a container
// (memory.max of cgroup v2, which may be "max", and memory.current). Of what is not told a quarter
// of a GiB.
size_t AvailableMemory(const std::string& meminfo, const std::string& limit,
                       const std::string& used);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_LOG_MEMORY_H_
