// SPDX-License-Identifier: Apache-2.0
//
// The thread of the CUPTI source: flushes twice a second, converts what comes, and at the end
// brings in the rest, within a deadline that no call into CUPTI can hold up.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_WORKER_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_WORKER_H_

#include <atomic>
#include <cstdint>

#include "cupti_hooks/cupti/activity_buffers.h"
#include "cupti_hooks/cupti/callback_state.h"
#include "cupti_hooks/cupti/cupti_api.h"
#include "cupti_hooks/cupti/cupti_session.h"
#include "libprofiler/device_source.h"
#include "libprofiler/wake_signal.h"

namespace gpubound {

class Delivery;

class CuptiWorker {
 public:
  // All outlive the worker's thread. Work of the device has been recorded since |started_ns|.
  CuptiWorker(const CuptiApi& api, ActivityBuffers* buffers, CallbackState* state, DeviceHost* host,
              int64_t started_ns);

  // False when no thread could be made.
  bool Start(CUpti_SubscriberHandle subscriber);

  // Asks the thread to bring in the rest and to leave CUPTI, and waits for it until |deadline_ns|
  // (CLOCK_MONOTONIC). What is missing then is counted and unknown. Where the program goes on, so
  // does the thread, until it has left CUPTI; else it is abandoned. From any thread, several times.
  void Stop(int64_t deadline_ns, AfterStop after);
  // The first half of it: returns at once. The first call counts.
  void RequestStop(int64_t deadline_ns, AfterStop after);

  // The thread calls CUPTI no more: the process ends, and CUPTI must not be called once its own
  // exit handlers have run. From any thread and from a signal handler.
  void Abandon() noexcept;

  // Waits until the thread has left, or until |deadline_ns|.
  void AwaitEnd(int64_t deadline_ns);

  // True once the thread will touch nothing any more.
  bool HasEnded() const { return ended_.load(std::memory_order_acquire); }

  // CUPTI has given up on itself: from now on nothing is recorded. From any thread, inside a
  // callback of CUPTI's.
  void OnFatalError() noexcept;

 private:
  static void* Main(void* worker);
  void Run();
  int64_t NextFlushNs() const;
  // Asks CUPTI for what is complete if it is time to, else takes what has come.
  void TakeTurn(Delivery* delivery);
  void AwaitBuffers(Delivery* delivery, int64_t until_ns);
  void BringInTheRest(Delivery* delivery);
  bool stops() const { return stop_deadline_ns_.load(std::memory_order_acquire) != 0; }
  bool cupti_is_gone() const { return gone_.load(std::memory_order_acquire); }

  const CuptiApi api_;  // its own: it may outlive the source
  ActivityBuffers* const buffers_;
  CallbackState* const state_;
  DeviceHost* const host_;
  const int64_t started_ns_;
  CUpti_SubscriberHandle subscriber_ = nullptr;
  int64_t last_flush_ns_ = 0;  // the thread's, as the next one
  bool has_flushed_ = false;
  std::atomic<int64_t> stop_deadline_ns_{0};  // 0: go on
  std::atomic<int64_t> end_ns_{INT64_MAX};    // of a recording whose program goes on
  std::atomic<int64_t> delivered_until_ns_;
  std::atomic<bool> gone_{false};  // CUPTI is not to be called any more
  std::atomic<bool> fatal_{false};
  std::atomic<bool> complete_{false};  // everything was delivered
  std::atomic<bool> loss_is_said_{false};
  std::atomic<bool> ended_{false};
  WakeSignal ended_signal_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_WORKER_H_
