// SPDX-License-Identifier: Apache-2.0
//
// Suspends and goes on.
#include "libprofiler/iteration_suspender.h"

#include <exception>
#include <string>

#include "libprofiler/current_thread.h"

namespace gpubound {

IterationSuspender::IterationSuspender(bool enabled, uint64_t seed, DeviceTables* facts,
                                       Ledger* ledger)
    : enabled_(enabled),
      facts_(facts),
      ledger_(ledger),
      plan_(enabled, seed),
      told_(plan_.verdict()) {
  facts_->AddFact("in_run_calibration", VerdictName(told_));
  if (enabled) facts_->AddFact("in_run_seed", std::to_string(seed));
}

void IterationSuspender::OnStep(ThreadBuffer* buffer, uint64_t ticks, int64_t now_ns) noexcept {
  if (!enabled_ || buffer->context() == nullptr) return;
  const AtLock at_lock;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stepping_ == ThreadId{}) stepping_ = buffer->thread();
  if (buffer->thread() != stepping_) return;
  if (active()) EndLocked(buffer, ticks);
  if (plan_.OnStep(now_ns)) BeginLocked(buffer, ticks, now_ns);
  if (plan_.verdict() != told_) TellVerdict();
}

void IterationSuspender::EndIfOverdue(ThreadBuffer* buffer, uint64_t ticks,
                                      int64_t now_ns) noexcept {
  if (now_ns < overdue_ns_.load(std::memory_order_relaxed)) return;
  const AtLock at_lock;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (active()) EndLocked(buffer, ticks);
}

void IterationSuspender::End(ThreadBuffer* buffer, uint64_t ticks) noexcept {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (lock.owns_lock() && active()) EndLocked(buffer, ticks);
}

void IterationSuspender::BeginLocked(ThreadBuffer* buffer, uint64_t ticks,
                                     int64_t now_ns) noexcept {
  unrecorded_before_ = buffer->unrecorded();
  overdue_ns_.store(now_ns + plan_.longest_ns(), std::memory_order_relaxed);
  buffer->EmitWithPayload(SlotKind::kSuspension, LabelId{}, 0, ticks);
  ledger_->Add(LedgerCounter::iterations_suspended, 1);
  Switch(true);
}

void IterationSuspender::EndLocked(ThreadBuffer* buffer, uint64_t ticks) noexcept {
  Switch(false);
  // Another thread ends what was none of its own: how many scopes there were is not known then, and
  // the reader sees by the thread that there is nothing to compare.
  const uint64_t opened =
      buffer->thread() == stepping_ ? buffer->unrecorded() - unrecorded_before_ : 0;
  buffer->EmitWithPayload(SlotKind::kSuspension, LabelId{}, 1 + opened, ticks);
}

void IterationSuspender::TellVerdict() noexcept {
  told_ = plan_.verdict();
  try {
    facts_->AddFact("in_run_calibration", VerdictName(told_));
  } catch (const std::exception&) {  // out of memory: the marks tell as much
  }
}

}  // namespace gpubound
