// SPDX-License-Identifier: Apache-2.0
//
// The memory that CUPTI writes its records into. CUPTI asks for a buffer on the program's own
// thread, inside its CUDA call, so handing one out takes no lock and allocates nothing, and it was
// zeroed by the worker. Only where CUPTI may not be declined and all are in use, one that nobody
// has read is taken back and zeroed there, in a program that loses records already.
//
//   free --Request (program's thread)--> at CUPTI --Complete (CUPTI's thread)--> completed
//     ^                                                                             |
//     +------------- Recycle (worker, zeroed) <------ taken <--- TakeCompleted -----+
//
// A fixed number of slots, large ones and small ones, reserved once; memory is committed where it
// is first touched, so an idle program pays for what it used at its busiest. CUPTI since 13.0 keeps
// a buffer for each thread until it is flushed, hence the many small ones, and a worker that is
// woken when few are left. When all are in use CUPTI is told so and counts what it drops; a CUPTI
// that would crash at that gets the completed buffer that nobody has read yet, or a slot of an
// emergency reserve.
//
// Lives until the process ends: CUPTI may call back at any time.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_ACTIVITY_BUFFERS_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_ACTIVITY_BUFFERS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cupti_hooks/cupti/index_stack.h"
#include "libprofiler/wake_signal.h"

namespace gpubound {

class ActivityBuffers {
 public:
  struct Options {
    uint32_t count = 192;
    size_t bytes = 1 << 20;  // of each; a multiple of 8
    uint32_t small_count = 2048;
    size_t small_bytes = 32 << 10;  // of each; likewise, and no more than |bytes|
    uint32_t emergency_count = 0;   // of small ones, for a CUPTI that may not be declined
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

  // How much of a large buffer CUPTI is given: little, so that a program that makes few records
  // does not keep them for long behind one that is not complete. While more than half of the large
  // ones are in use it is given small ones.
  void set_preferred_bytes(size_t bytes) noexcept;
  size_t preferred_bytes() const noexcept {
    return preferred_bytes_.load(std::memory_order_relaxed);
  }

  // Less than a quarter is free: a flush would bring some back.
  bool IsShort() const noexcept {
    return free_count_.load(std::memory_order_relaxed) * 4 <
           static_cast<int32_t>(options_.count + options_.small_count);
  }

  bool may_decline() const noexcept { return options_.may_decline; }
  uint32_t outstanding() const noexcept;
  uint64_t requests() const noexcept { return requests_.load(std::memory_order_relaxed); }
  // Bytes of completed buffers that were given to CUPTI again before they were read.
  uint64_t TakeDiscardedBytes() noexcept { return discarded_bytes_.exchange(0); }

  // Set when a buffer is completed, and at each request while they are short.
  WakeSignal& worker_signal() noexcept { return worker_signal_; }

 private:
  struct alignas(64) Slot {
    std::atomic<int64_t> requested_ns{0};  // 0 while free
    size_t given_bytes = 0;
    size_t valid_bytes = 0;
  };

  ActivityBuffers(const Options& options, uint8_t* memory, Slot* slots,
                  std::atomic<uint32_t>* links) noexcept;
  uint32_t TakeSlot() noexcept;
  uint32_t TakeFree() noexcept;
  bool IsLarge(uint32_t slot) const { return slot < options_.count; }
  bool IsEmergency(uint32_t slot) const { return slot >= options_.count + options_.small_count; }
  uint8_t* DataOf(uint32_t slot) const;
  uint32_t SlotOf(const uint8_t* buffer) const;

  const Options options_;
  uint8_t* const memory_;
  Slot* const slots_;
  IndexStack large_;
  IndexStack small_;
  IndexStack emergency_;
  IndexStack completed_;
  std::atomic<int32_t> free_large_;
  std::atomic<int32_t> free_count_;  // large and small
  std::atomic<uint32_t> requesting_{0};
  std::atomic<uint64_t> requests_{0};
  std::atomic<uint64_t> discarded_bytes_{0};
  std::atomic<size_t> preferred_bytes_;
  WakeSignal worker_signal_;
};

// The bytes to prefer when |bytes_per_second| of records arrive: about half a second's worth, a
// power of two between 32 KiB and |largest|. Pure.
size_t PreferredBufferBytes(uint64_t bytes_per_second, size_t largest);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_ACTIVITY_BUFFERS_H_
