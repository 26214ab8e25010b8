// SPDX-License-Identifier: Apache-2.0
//
// What no record of CUPTI tells, timed from inside its callbacks: calls of the driver, and what any
// call waits for or marks. Calls of the runtime have records. Those of the driver's would make
// CUPTI listen within it, and each launch cost more than by the callbacks (docs/results/gpu.md).
//
// Data flow: the program's threads, inside their CUDA calls, put what ended into a bounded queue;
// the source's worker takes it out. No lock, and no allocation after construction.
//
//   slot:  | turn | call |    turn = 2 x lap: free;  2 x lap + 1: filled, of that lap
//
// Source of the queue: D. Vyukov, Bounded MPMC queue, with one taker.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_TIMED_CALLS_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_TIMED_CALLS_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "cupti_hooks/cupti/api_functions.h"
#include "cupti_hooks/cupti/cupti_api.h"
#include "libprofiler/wake_signal.h"
#include "proto/event_model.h"

namespace gpubound {

struct TimedCall {
  uint64_t start_ns = 0;  // CUPTI's clock
  uint64_t end_ns = 0;
  uint64_t event = 0;  // the CUDA event's handle, which tells events apart while they live
  uint32_t correlation = 0;
  uint32_t tid = 0;
  uint32_t context = 0;
  uint32_t stream = 0;
  CUpti_CallbackId id = 0;
  int32_t result = 0;
  CUpti_CallbackDomain domain = CUPTI_CB_DOMAIN_INVALID;
  bool has_record = false;           // which tells of all but what it waits for
  Awaited awaited = Awaited::kNone;  // where it succeeded
};

// As records.
ApiRecord ApiRecordOf(const TimedCall& call, LabelId label);
SyncRecord SyncRecordOf(const TimedCall& call);  // |call| awaits something

class TimedCalls {
 public:
  // All outlive the object. |worker| is woken when the queue fills.
  TimedCalls(const CuptiApi& api, const ApiFunctions& functions, WakeSignal* worker);

  // Begin and end of a call of a function that is not quiet. Any thread, in a callback of CUPTI's.
  // A driver function that a runtime function calls is part of that one.
  void OnCall(CUpti_CallbackDomain domain, CUpti_CallbackId id,
              const CUpti_CallbackData& call) noexcept;

  // From now on calls are not looked at, and CUPTI is not asked. Any thread.
  void Close() noexcept { closed_.store(true, std::memory_order_relaxed); }

  // The worker. False: nothing more is there.
  bool Take(TimedCall* call) noexcept;
  // Calls lost since it was last asked, because the queue was full or the clock could not be read.
  uint64_t TakeLost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }
  // Likewise, those that seemed to end before they began; they are kept with length zero.
  uint64_t TakeInverted() noexcept { return inverted_.exchange(0, std::memory_order_relaxed); }

  // How many calls the queue holds: of the fastest launches (docs/results/gpu.md), those of half a
  // second in which the worker does not run.
  static constexpr uint64_t kSize = uint64_t{1} << 17;

 private:
  struct Slot {
    std::atomic<uint64_t> turn;
    TimedCall call;
  };
  struct Free {
    void operator()(Slot* slots) const { std::free(slots); }
  };

  void Put(const TimedCall& call) noexcept;
  uint64_t Now() const noexcept;
  void Describe(CUpti_CallbackDomain domain, const CUpti_CallbackData& call, TimedCall* to) const;
  uint32_t StreamOf(CUpti_CallbackDomain domain, const CUpti_CallbackData& call, void* handle,
                    CUpti_CallbackId id) const;

  const CuptiApi& api_;
  const ApiFunctions& functions_;
  WakeSignal* const worker_;
  // Zeroed pages, which cost memory once they are used. Null where there is none: all are lost.
  const std::unique_ptr<Slot[], Free> slots_;
  alignas(64) std::atomic<uint64_t> next_put_{0};
  alignas(64) uint64_t next_take_ = 0;
  std::atomic<uint64_t> lost_{0};
  std::atomic<uint64_t> inverted_{0};
  std::atomic<bool> closed_{false};
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_TIMED_CALLS_H_
