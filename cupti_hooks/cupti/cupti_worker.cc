// SPDX-License-Identifier: Apache-2.0
//
// The worker's loop and its end. Everything that calls into CUPTI after the start is here or in
// delivery.cc, on this one thread.
#include "cupti_hooks/cupti/cupti_worker.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "cupti_hooks/cupti/cupti_session.h"
#include "cupti_hooks/cupti/delivery.h"
#include "libprofiler/clock.h"
#include "libprofiler/own_threads.h"

namespace gpubound {
namespace {

constexpr int64_t kFlushIntervalNs = 500'000'000;
constexpr int64_t kShortIntervalNs = 5'000'000;  // while buffers are short
// At the end: how long work that is still running on the device is waited for, and how often it is
// looked at. Work that a program leaves behind when it exits is rarely longer; a stuck collective
// is.
constexpr int64_t kPatienceNs = 250'000'000;
constexpr int64_t kPollNs = 5'000'000;
constexpr int64_t kEndPollNs = 1'000'000;

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

}  // namespace

CuptiWorker::CuptiWorker(const CuptiApi& api, ActivityBuffers* buffers, CallbackState* state,
                         DeviceHost* host, int64_t started_ns)
    : api_(api),
      buffers_(buffers),
      state_(state),
      host_(host),
      started_ns_(started_ns),
      delivered_until_ns_(started_ns) {}

bool CuptiWorker::Start(CUpti_SubscriberHandle subscriber) {
  subscriber_ = subscriber;
  return StartOwnThread("gpubound-cupti", &CuptiWorker::Main, this);
}

void* CuptiWorker::Main(void* worker) {
  CuptiWorker* self = static_cast<CuptiWorker*>(worker);
  try {
    self->Run();
  } catch (const std::exception&) {
    // Out of memory: what was not converted stays outstanding, and Stop says so.
  }
  self->ended_signal_.Set();
  self->ended_.store(true, std::memory_order_release);
  return nullptr;
}

void CuptiWorker::Run() {
  DeviceSink* sink = host_->NewSink();
  if (sink == nullptr) return;  // recording is off for good
  Delivery delivery(api_, buffers_, state_, host_, sink, started_ns_, &NowNs, gone_);
  last_flush_ns_ = NowNs();
  while (!stops()) {
    buffers_->worker_signal().Wait(NextFlushNs() - NowNs());
    if (cupti_is_gone()) return;
    TakeTurn(&delivery);
  }
  if (cupti_is_gone()) return;
  BringInTheRest(&delivery);
  delivered_until_ns_.store(delivery.delivered_until_ns(), std::memory_order_release);
  complete_.store(delivery.EverythingDelivered(), std::memory_order_release);
}

int64_t CuptiWorker::NextFlushNs() const {
  return last_flush_ns_ + (buffers_->IsShort() ? kShortIntervalNs : kFlushIntervalNs);
}

void CuptiWorker::TakeTurn(Delivery* delivery) {
  if (NowNs() < NextFlushNs()) return delivery->Drain();
  const bool calls_cupti = buffers_->requests() != 0;
  delivery->Flush(false);
  if (calls_cupti && !std::exchange(has_flushed_, true)) host_->EndBeforeHandlersSoFar();
  delivered_until_ns_.store(delivery->delivered_until_ns(), std::memory_order_release);
  last_flush_ns_ = NowNs();
}

// Converts what comes until |until_ns|, or until nothing is left at CUPTI.
void CuptiWorker::AwaitBuffers(Delivery* delivery, int64_t until_ns) {
  while (!delivery->EverythingDelivered() && NowNs() < until_ns && !cupti_is_gone()) {
    buffers_->worker_signal().Wait(std::min(kPollNs, until_ns - NowNs()));
    delivery->Drain();
  }
}

void CuptiWorker::BringInTheRest(Delivery* delivery) {
  const int64_t deadline_ns = stop_deadline_ns_.load(std::memory_order_acquire);
  const int64_t patience_ns = std::min(deadline_ns, NowNs() + kPatienceNs);
  delivery->EndAt(end_ns_.load(std::memory_order_relaxed));
  // What is complete first: should a later step hang, that much is safe.
  delivery->Flush(false);
  while (!delivery->EndIsKnown() && NowNs() < patience_ns && !cupti_is_gone()) {
    // In between, however often the signal comes: a flush that is recorded takes a buffer itself.
    AwaitBuffers(delivery, std::min(NowNs() + kPollNs, patience_ns));
    if (!cupti_is_gone()) delivery->Flush(false);
  }
  if (cupti_is_gone()) return;
  DisableKinds(api_);
  state_->StopTimingCalls();
  delivery->Flush(true);
  // Buffers may come a moment after the flush has returned, from a thread of CUPTI's.
  AwaitBuffers(delivery, deadline_ns);
  if (cupti_is_gone()) return;
  delivery->Finish();
  Unsubscribe(api_, subscriber_);
}

void CuptiWorker::AwaitEnd(int64_t deadline_ns) {
  while (!HasEnded() && NowNs() < deadline_ns) {
    ended_signal_.Wait(std::min(kEndPollNs, deadline_ns - NowNs()));
  }
}

void CuptiWorker::Abandon() noexcept {
  if (HasEnded()) return;
  gone_.store(true, std::memory_order_release);
  state_->StopTimingCalls();
  buffers_->worker_signal().Set();
}

void CuptiWorker::RequestStop(int64_t deadline_ns, AfterStop after) {
  if (stops()) return;
  if (after == AfterStop::kProgramGoesOn) end_ns_.store(NowNs(), std::memory_order_relaxed);
  stop_deadline_ns_.store(std::max<int64_t>(deadline_ns, 1), std::memory_order_release);
  buffers_->worker_signal().Set();
}

void CuptiWorker::Stop(int64_t deadline_ns, AfterStop after) {
  RequestStop(deadline_ns, after);
  AwaitEnd(deadline_ns);
  if (after == AfterStop::kProgramEnds) Abandon();
  if (complete_.load(std::memory_order_acquire)) return;
  const uint32_t outstanding = buffers_->outstanding();
  if (outstanding == 0 || fatal_.load(std::memory_order_acquire)) return;
  if (loss_is_said_.exchange(true)) return;
  host_->Count(LedgerCounter::undelivered_device_buffers, outstanding);
  host_->MarkUnknown(delivered_until_ns_.load(std::memory_order_acquire), INT64_MAX,
                     "recording ended before CUPTI had delivered everything");
}

void CuptiWorker::OnFatalError() noexcept {
  if (fatal_.exchange(true)) return;
  gone_.store(true, std::memory_order_release);
  state_->StopTimingCalls();
  buffers_->worker_signal().Set();
  try {
    host_->Count(LedgerCounter::cupti_api_errors, 1);
    host_->MarkUnknown(delivered_until_ns_.load(std::memory_order_acquire), INT64_MAX,
                       "CUPTI ended itself after a fatal error");
    host_->Note("CUPTI ended itself after a fatal error; GPU time is unknown from then on");
  } catch (const std::exception&) {  // out of memory: the flag is what matters
  }
}

}  // namespace gpubound
