// SPDX-License-Identifier: Apache-2.0
//
// Carries the plan out: at the end of an iteration that the plan chooses, scopes of this process go
// unrecorded, until the next iteration ends. Marks in the trace say from when to when.
//
// What is suspended is what can safely be: scopes of every origin (C, C++, Python, calls that hooks
// wrapped, NVTX), of all threads. Steps, phases, counters, hand-overs and marks are recorded as
// ever. So are the records of device sources: CUPTI loses the kernels of graphs captured before
// when its API kinds are switched off and on, and cannot tell busy from idle without the others.
//
// The first thread that ends an iteration is the one whose iterations count. Any thread; the lock
// is taken when an iteration is suspended or goes on, and by steps, never by scopes.
#ifndef GPUBOUND_LIBPROFILER_ITERATION_SUSPENDER_H_
#define GPUBOUND_LIBPROFILER_ITERATION_SUSPENDER_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "libprofiler/api_table.h"
#include "libprofiler/device_tables.h"
#include "libprofiler/ledger.h"
#include "libprofiler/suspension_plan.h"
#include "libprofiler/thread_buffer.h"

namespace gpubound {

class IterationSuspender {
 public:
  // |facts| and |ledger| outlive the object. What is decided, and from which |seed|, is a fact.
  IterationSuspender(bool enabled, uint64_t seed, DeviceTables* facts, Ledger* ledger);

  // Told how scopes are to go from now on. Set before the first step. Without one, whoever opens
  // scopes asks active().
  void UseRoute(void (*route)(ScopeRoute route) noexcept) { route_ = route; }
  bool active() const { return active_.load(std::memory_order_relaxed); }
  // False: no step needs to be told.
  bool enabled() const { return enabled_; }

  // The calling thread, which has |buffer|, has recorded that an iteration ends at |ticks|, which
  // is |now_ns|.
  void OnStep(ThreadBuffer* buffer, uint64_t ticks, int64_t now_ns) noexcept;

  // For threads that run scopes unrecorded, once in a while: recording goes on where the iteration
  // has lasted too long to be one.
  void EndIfOverdue(ThreadBuffer* buffer, uint64_t ticks, int64_t now_ns) noexcept;

  // The calling thread ends the recording; it may be inside a signal handler, so nothing is waited
  // for.
  void End(ThreadBuffer* buffer, uint64_t ticks) noexcept;

  // In a fork child of any kind: records as ever. Touches no lock.
  void AbandonInForkChild() noexcept { Switch(false); }

 private:
  void BeginLocked(ThreadBuffer* buffer, uint64_t ticks, int64_t now_ns) noexcept;
  void EndLocked(ThreadBuffer* buffer, uint64_t ticks) noexcept;
  void TellVerdict() noexcept;
  void Switch(bool active) noexcept {
    active_.store(active, std::memory_order_relaxed);
    if (route_ != nullptr) route_(active ? ScopeRoute::kUnrecorded : ScopeRoute::kRecorded);
  }

  const bool enabled_;
  DeviceTables* const facts_;
  Ledger* const ledger_;
  std::atomic<bool> active_{false};
  void (*route_)(ScopeRoute route) noexcept = nullptr;

  std::mutex mutex_;
  SuspensionPlan plan_;
  SuspensionPlan::Verdict told_;
  ThreadId stepping_{};  // none yet
  uint64_t unrecorded_before_ = 0;
  std::atomic<int64_t> overdue_ns_{0};
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_ITERATION_SUSPENDER_H_
