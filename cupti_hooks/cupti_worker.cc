// SPDX-License-Identifier: Apache-2.0
//
// The worker's loop and its end. Everything that calls into CUPTI after the start is here or in
// delivery.cc, on this one thread.
#include "cupti_hooks/cupti_worker.h"

#include <signal.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <random>
#include <string>
#include <utility>

#include "cupti_hooks/cupti_session.h"
#include "cupti_hooks/delivery.h"
#include "libprofiler/clock.h"

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

std::string Percent(double share) { return std::to_string(std::llround(100 * share)); }

}  // namespace

CuptiWorker::CuptiWorker(const CuptiApi& api, ActivityBuffers* buffers, CallbackState* state,
                         DeviceHost* host, int64_t started_ns)
    : api_(api),
      buffers_(buffers),
      state_(state),
      host_(host),
      started_ns_(started_ns),
      delivered_until_ns_(started_ns) {}

void CuptiWorker::SampleCalls(std::vector<CallbackPoint> points, double share) {
  sampled_ = std::move(points);
  sampled_share_ = share;
}

bool CuptiWorker::Start(CUpti_SubscriberHandle subscriber) {
  subscriber_ = subscriber;
  // The program's signals are the program's: none is delivered to our thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool made = pthread_create(&thread_, nullptr, &CuptiWorker::Main, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!made) return false;
  pthread_setname_np(thread_, "gpubound-cupti");
  pthread_detach(thread_);
  return true;
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
  BeginSampling(&delivery);
  while (!stops()) {
    const int64_t next_window_ns = sampler_ ? sampler_->next_ns() : INT64_MAX;
    buffers_->worker_signal().Wait(std::min(NextFlushNs(), next_window_ns) - NowNs());
    if (cupti_is_gone()) return;
    if (NowNs() >= next_window_ns && !stops()) CountInWindow();
    if (cupti_is_gone()) return;
    TakeTurn(&delivery);
  }
  if (cupti_is_gone()) return;
  EndSampling();
  BringInTheRest(&delivery);
  delivered_until_ns_.store(delivery.delivered_until_ns(), std::memory_order_release);
  complete_.store(delivery.EverythingDelivered(), std::memory_order_release);
}

int64_t CuptiWorker::NextFlushNs() const {
  return last_flush_ns_ + (buffers_->IsShort() ? kShortIntervalNs : kFlushIntervalNs);
}

void CuptiWorker::TakeTurn(Delivery* delivery) {
  if (NowNs() < NextFlushNs()) return delivery->Drain();
  delivery->Flush(false);
  if (!std::exchange(has_flushed_, true)) host_->EndBeforeHandlersSoFar();
  delivered_until_ns_.store(delivery->delivered_until_ns(), std::memory_order_release);
  last_flush_ns_ = NowNs();
}

void CuptiWorker::CountInWindow() {
  sampler_->RunWindow();
  if (has_sampled_ || !sampler_->has_counted()) return;
  has_sampled_ = true;
  host_->Fact("queries_sampled", Percent(sampled_share_));
}

// On this thread, which is the only one to switch callbacks once recording goes on: CUPTI leaves it
// to its clients that no two do so at once.
void CuptiWorker::BeginSampling(Delivery* delivery) {
  if (sampled_.empty()) return;
  QuerySampler::World world;
  world.now_ns = &NowNs;
  world.wait_until = [this, delivery](int64_t until_ns) {
    // A turn would make a brief window longer; in a long one what comes cannot wait.
    const bool is_long = until_ns - NowNs() > kShortIntervalNs;
    while (!stops() && !cupti_is_gone() && NowNs() < until_ns) {
      const int64_t wake_ns = is_long ? std::min(until_ns, NextFlushNs()) : until_ns;
      buffers_->worker_signal().Wait(wake_ns - NowNs());
      if (is_long && !stops() && !cupti_is_gone()) TakeTurn(delivery);
    }
  };
  world.switch_callbacks = [this](bool on) {
    return !cupti_is_gone() && SwitchCallbacks(api_, subscriber_, sampled_, on);
  };
  world.take = [this] { return state_->suppressed_calls.Take(); };
  world.count = [this](uint64_t calls) {
    host_->Count(LedgerCounter::api_calls_suppressed, calls);
  };
  world.random = [random = std::minstd_rand(static_cast<uint32_t>(NowNs()))]() mutable {
    return std::uniform_real_distribution<double>()(random);
  };
  sampler_.emplace(std::move(world), sampled_share_);
}

void CuptiWorker::EndSampling() {
  if (!sampler_) return;
  const std::optional<double> error = sampler_->Finish();
  if (error) host_->Fact("queries_standard_error", std::to_string(std::llround(*error)));
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
  // What is complete first: should a later step hang, that much is safe.
  delivery->Flush(false);
  while (!delivery->EverythingDelivered() && NowNs() < patience_ns && !cupti_is_gone()) {
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

void CuptiWorker::Stop(int64_t deadline_ns, AfterStop after) {
  stop_deadline_ns_.store(std::max<int64_t>(deadline_ns, 1), std::memory_order_release);
  buffers_->worker_signal().Set();
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
