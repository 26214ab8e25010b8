// SPDX-License-Identifier: Apache-2.0
//
// Keeps the sleepers by the time at which they wake. One object, one caller.
#include "analysis/timeline/thread_roster.h"

#include <algorithm>
#include <functional>

namespace gpubound {

void ThreadRoster::AddAwake(uint32_t thread) {
  if (threads_.size() <= thread) threads_.resize(thread + size_t{1});
  awake_.push_back(thread);
}

void ThreadRoster::AddAsleep(uint32_t thread, const Sleeper& sleeper) {
  if (threads_.size() <= thread) threads_.resize(thread + size_t{1});
  threads_[thread] = {true, sleeper};
  ++rests_[sleeper.rest];
  PushDue(thread, sleeper.next_ns);
}

void ThreadRoster::Expect(uint32_t thread, int64_t time_ns) {
  Thread& expected = threads_[thread];
  if (!expected.asleep || expected.sleeper.next_ns <= time_ns) return;
  expected.sleeper.next_ns = time_ns;
  PushDue(thread, time_ns);
}

int64_t ThreadRoster::NextTime() {
  DropStale();
  return due_.empty() ? kOpenEnded : due_.front().time_ns;
}

std::optional<uint32_t> ThreadRoster::WakeBefore(int64_t end_ns) {
  if (NextTime() >= end_ns) return std::nullopt;
  const uint32_t thread = due_.front().thread;
  threads_[thread].asleep = false;
  const auto rest = rests_.find(threads_[thread].sleeper.rest);
  if (--rest->second == 0) rests_.erase(rest);
  awake_.push_back(thread);
  return thread;
}

void ThreadRoster::Order() {
  if (ordered_ == awake_.size()) return;
  const auto woken = awake_.begin() + static_cast<std::ptrdiff_t>(ordered_);
  std::sort(woken, awake_.end());
  std::inplace_merge(awake_.begin(), woken, awake_.end());
  ordered_ = awake_.size();
}

void ThreadRoster::PushDue(uint32_t thread, int64_t time_ns) {
  if (time_ns == kOpenEnded) return;
  due_.push_back({time_ns, thread});
  std::push_heap(due_.begin(), due_.end(), std::greater<>());
}

void ThreadRoster::DropStale() {
  while (!due_.empty()) {
    const Thread& thread = threads_[due_.front().thread];
    if (thread.asleep && thread.sleeper.next_ns == due_.front().time_ns) return;
    std::pop_heap(due_.begin(), due_.end(), std::greater<>());
    due_.pop_back();
  }
}

}  // namespace gpubound
