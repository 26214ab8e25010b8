// SPDX-License-Identifier: Apache-2.0
//
// The calling thread's buffer, and who let it begin. Initial-exec, so that reading it is one load;
// two words fit into the static TLS block that dlopen can still hand out. All of it begins as zero:
// where one thread loads the library while another is making a third, glibc (2.36) may leave out
// the third's copy of the library's initial values.
#ifndef GPUBOUND_LIBPROFILER_CURRENT_THREAD_H_
#define GPUBOUND_LIBPROFILER_CURRENT_THREAD_H_

#include <atomic>
#include <cstdint>

#include "libprofiler/thread_buffer.h"

namespace gpubound {

extern constinit thread_local ThreadBuffer* t_thread_buffer  // null: none
    __attribute__((tls_model("initial-exec")));

// Always full and never attached: the buffer of threads that have none.
extern constinit ThreadBuffer g_no_buffer;

inline ThreadBuffer* BufferOfThisThread() noexcept {
  ThreadBuffer* buffer = t_thread_buffer;
  return buffer != nullptr ? buffer : &g_no_buffer;
}

// What a thread without a buffer was let go on by last (`woken` of the API); 0: nothing.
extern constinit thread_local uint64_t t_begun_by __attribute__((tls_model("initial-exec")));

// Where a thread points while it is at one of our locks.
ThreadBuffer* BufferAtLock() noexcept;

// For as long as the calling thread is at a lock that a signal handler of the program, which may
// interrupt it there, must not want: what the handler annotates meanwhile is not recorded. Costs no
// system call, as blocking signals does.
class AtLock {
 public:
  AtLock() : before_(t_thread_buffer) {
    t_thread_buffer = BufferAtLock();
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  ~AtLock() {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    t_thread_buffer = before_;
  }
  AtLock(const AtLock&) = delete;
  AtLock& operator=(const AtLock&) = delete;

  // In such a handler.
  static bool IsHere() noexcept { return t_thread_buffer == BufferAtLock(); }

 private:
  ThreadBuffer* const before_;
};

// Slow path of a buffer that is not attached: gives the calling thread one, which may start the
// recording. Null when |stale| is not BufferOfThisThread() or nothing is recorded.
ThreadBuffer* AttachCallingThread(const ThreadBuffer* stale) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_CURRENT_THREAD_H_
