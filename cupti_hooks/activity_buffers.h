// SPDX-License-Identifier: Apache-2.0
//
// The memory that CUPTI writes its records into. CUPTI asks for a buffer on the program's own
// thread, inside its CUDA call, so handing one out takes no lock and allocates nothing, and it was
// zeroed by the worker. Only where CUPTI may not be declined and all are in use, one that nobody
// has read is taken back and zeroed there: 1 MiB, in a program that loses records already.
//
//   free --Request (program's thread)--> at CUPTI --Complete (CUPTI's thread)--> completed
//     ^                                                                             |
//     +------------- Recycle (worker, zeroed) <------ taken <--- TakeCompleted -----+
//
// A fixed number of slots, reserved once; memory is committed where it is first touched, so an idle
// program pays for what it used at its busiest. When all are in use CUPTI is told so and counts
// what it drops; a CUPTI that would crash at that gets the completed buffer that nobody has read
// yet, or a slot of an emergency reserve.
//
// Lives until the process ends: CUPTI may call back at any time.
#ifndef GPUBOUND_CUPTI_HOOKS_ACTIVITY_BUFFERS_H_
#define GPUBOUND_CUPTI_HOOKS_ACTIVITY_BUFFERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cupti_hooks/index_stack.h"
#include "libprofiler/wake_signal.h"

namespace gpubound {

class ActivityBuffers {
 public:
  struct Options {
    uint32_t count = 256;
    uint32_t emergency_count = 0;  // beyond |count|, for a CUPTI that may not be declined
    size_t bytes = 1 << 20;        // of each; a multiple of 8
    bool may_decline = true;
  };

  // What CUPTI handed back.
  struct Completed {
    uint32_t slot;
    uint8_t* data;
    size_t valid_bytes;
  };

  // Null without memory.
  static ActivityBuffers* Create(const Options& options) noexcept;

  ActivityBuffers(const ActivityBuffers&) = delete;
  ActivityBuffers& operator=(const ActivityBuffers&) = delete;

  // Program's thread. |now_ns| is CLOCK_MONOTONIC. False: none is free, and *buffer is null.
  bool Request(int64_t now_ns, uint8_t** buffer, size_t* bytes) noexcept;

  // CUPTI's thread, or the one inside FlushAll. A buffer that is not ours is ignored.
  void Complete(uint8_t* buffer, size_t valid_bytes) noexcept;

  // Worker. False when there is none. The slot counts as outstanding until it is recycled.
  bool TakeCompleted(Completed* completed) noexcept;
  void Recycle(const Completed& completed) noexcept;

  // When the oldest buffer that is not recycled was requested; INT64_MAX when there is none, and
  // |unless_requesting| while a request is half way. Nothing recorded earlier is still missing.
  int64_t OldestOutstanding(int64_t unless_requesting) const noexcept;

  // How much of a buffer CUPTI is given while few are in use: small ones, so that a program that
  // makes few records does not keep them for long behind one that is not complete.
  void set_preferred_bytes(size_t bytes) noexcept;
  size_t preferred_bytes() const noexcept {
    return preferred_bytes_.load(std::memory_order_relaxed);
  }

  uint32_t outstanding() const noexcept;
  uint64_t requests() const noexcept { return requests_.load(std::memory_order_relaxed); }
  // Bytes of completed buffers that were given to CUPTI again before they were read.
  uint64_t TakeDiscardedBytes() noexcept { return discarded_bytes_.exchange(0); }

  WakeSignal& completed_signal() noexcept { return completed_signal_; }

 private:
  struct alignas(64) Slot {
    std::atomic<int64_t> requested_ns{0};  // 0 while free
    size_t valid_bytes = 0;
  };

  ActivityBuffers(const Options& options, uint8_t* memory, Slot* slots,
                  std::atomic<uint32_t>* links) noexcept;
  uint32_t TakeSlot() noexcept;
  uint32_t slot_count() const { return options_.count + options_.emergency_count; }
  uint8_t* DataOf(uint32_t slot) const { return memory_ + size_t{slot} * options_.bytes; }

  const Options options_;
  uint8_t* const memory_;
  Slot* const slots_;
  IndexStack free_;
  IndexStack emergency_;
  IndexStack completed_;
  std::atomic<int32_t> free_count_;
  std::atomic<uint32_t> requesting_{0};
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> discarded_bytes_{0};
  std::atomic<size_t> preferred_bytes_;
  WakeSignal completed_signal_;
};

// The bytes to prefer when |bytes_per_second| of records arrive: about half a second's worth, a
// power of two between 32 KiB and |largest|. Pure.
size_t PreferredBufferBytes(uint64_t bytes_per_second, size_t largest);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_ACTIVITY_BUFFERS_H_
