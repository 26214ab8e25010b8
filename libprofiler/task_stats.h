// SPDX-License-Identifier: Apache-2.0
//
// What the kernel says of the threads of this process: which there are, and for how long each has
// been on a CPU (its CPU clock) and ready without one (/proc/self/task/TID/schedstat, where the
// kernel keeps it).
//
// How many threads there are, an open folder says in 0.3 us, and its path in 23 us where nobody has
// used it for a while. The clock takes 0.2 us to read. What a thread is ready for is counted when it gets a CPU, so of a
// thread whose clock stands still nothing else has to be read.
//
// A file of /proc takes 4 us to open, read and close, and 0.6 us to read again. So a few stay open
// (kept_file.h), below the number at which the program's table would have to grow.
//
// One thread; CloseInForkChild() in a child made by it or by any other.
#ifndef GPUBOUND_LIBPROFILER_TASK_STATS_H_
#define GPUBOUND_LIBPROFILER_TASK_STATS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libprofiler/kept_file.h"

namespace gpubound {

// Since the thread began. Neither ever decreases.
struct TaskCounters {
  uint64_t on_cpu_ns = 0;
  std::optional<uint64_t> ready_ns;  // absent: not known
};

class TaskStats {
 public:
  virtual ~TaskStats() = default;
  // The threads of the program, not ours, oldest first; false where they are the same as at the
  // last call, unless |anew|.
  virtual bool List(bool anew, std::vector<uint32_t>* tids) = 0;
  // Absent: the thread has ended. |before|: what was read last; null: nothing.
  virtual std::optional<TaskCounters> Read(uint32_t tid, const TaskCounters* before) = 0;
  // CPU time of a thread so far; negative: it has ended.
  virtual int64_t CpuNs(uint32_t tid) = 0;
  // Whether it is on a CPU or ready to run. A file is read, for some 10 us.
  virtual bool IsRunnable(uint32_t tid) = 0;
  // It will not be read again soon.
  virtual void Forget(uint32_t tid) = 0;
  // CPU time of the calling thread: what looking costs.
  virtual int64_t OwnCpuNs() = 0;
  virtual void CloseInForkChild() noexcept {}
};

class ProcTaskStats final : public TaskStats {
 public:
  static constexpr size_t kMostOpen = 8;

  ProcTaskStats();
  ~ProcTaskStats() override;
  bool List(bool anew, std::vector<uint32_t>* tids) override;
  std::optional<TaskCounters> Read(uint32_t tid, const TaskCounters* before) override;
  int64_t CpuNs(uint32_t tid) override;
  bool IsRunnable(uint32_t tid) override;
  void Forget(uint32_t tid) override;
  int64_t OwnCpuNs() override;
  // Closes what the child inherited; no lock, no allocation.
  void CloseInForkChild() noexcept override;

 private:
  struct File : KeptFile {
    uint32_t tid = 0;  // 0: none
    bool Open(const char* path, int flags);
    void Close();
  };
  std::optional<uint64_t> ReadReadyNs(uint32_t tid);
  File* FileOf(uint32_t tid);
  uint64_t CountLinks();

  const bool has_schedstat_;
  uint64_t links_ = 0;  // of /proc/self/task: two more than threads
  File folder_;         // that
  std::array<File, kMostOpen> files_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_TASK_STATS_H_
