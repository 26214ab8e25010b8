// SPDX-License-Identifier: Apache-2.0
//
// A detached thread and what it shares with its owner.
#include "cupti_hooks/sampling/sampling_thread.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "libprofiler/clock.h"
#include "libprofiler/own_threads.h"

namespace gpubound {
namespace {

constexpr int64_t kEndPollNs = 1'000'000;

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

}  // namespace

void SamplingThread::Control::SleepUntil(int64_t time_ns) {
  while (!stopping() && NowNs() < time_ns) wake_.Wait(time_ns - NowNs());
}

SamplingThread::~SamplingThread() {
  if (state_ != nullptr && state_->ended.load(std::memory_order_acquire)) delete state_;
}

bool SamplingThread::Start(const char* name, Work work) {
  auto* state = new State;
  state->work = std::move(work);
  if (!StartOwnThread(name, &SamplingThread::Main, state)) {
    delete state;
    return false;
  }
  state_ = state;
  return true;
}

void* SamplingThread::Main(void* argument) {
  auto* state = static_cast<State*>(argument);
  try {
    state->work(&state->control);
  } catch (const std::exception&) {  // out of memory: no more samples
  }
  state->end.Set();
  state->ended.store(true, std::memory_order_release);
  return nullptr;
}

void SamplingThread::RequestStop() {
  if (state_ == nullptr) return;
  state_->control.stop_.store(true, std::memory_order_release);
  state_->control.wake_.Set();
}

bool SamplingThread::Stop(int64_t deadline_ns) {
  RequestStop();
  while (!HasEnded() && NowNs() < deadline_ns) {
    state_->end.Wait(std::min(kEndPollNs, deadline_ns - NowNs()));
  }
  return HasEnded();
}

bool SamplingThread::HasEnded() const {
  return state_ == nullptr || state_->ended.load(std::memory_order_acquire);
}

void SamplingThread::Abandon() noexcept {
  if (state_ != nullptr) state_->control.abandoned_.store(true, std::memory_order_release);
}

}  // namespace gpubound
