// SPDX-License-Identifier: Apache-2.0
//
// Runs the drain on a thread of its own.
#include "libprofiler/flusher.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <utility>

#include "libprofiler/log.h"
#include "libprofiler/own_threads.h"
#include "proto/recording_end.h"

namespace gpubound {
namespace {

// Between drains of live pages the thread still wakes this often: new names reach the database,
// pages are faulted in ahead of use, and the clocks are sampled.
constexpr std::chrono::milliseconds kTick{200};

constexpr char kThreadName[] = "gpubound";

}  // namespace

Flusher::Flusher(Parts parts, std::chrono::milliseconds live_interval)
    : parts_(std::move(parts)), live_interval_(live_interval) {}

bool Flusher::Start() {
  has_thread_ = StartOwnThread(kThreadName, &ThreadMain, this);
  return has_thread_;
}

void Flusher::EndElsewhere(const char* how, std::chrono::milliseconds timeout) noexcept {
  wanted_end_.store(how, std::memory_order_release);
  parts_.pool->Wake();
  AwaitEnd(timeout);
}

void Flusher::AwaitEnd(std::chrono::milliseconds timeout) noexcept {
  const uint64_t own_ns =
      ReadMonotonicNs() + static_cast<uint64_t>(std::chrono::nanoseconds(timeout).count());
  uint64_t deadline_ns = 0;
  if (end_deadline_ns_.compare_exchange_strong(deadline_ns, own_ns)) deadline_ns = own_ns;
  while (!ended_.is_open()) {
    const auto left_ns = static_cast<int64_t>(deadline_ns - ReadMonotonicNs());
    if (left_ns <= 0) return;
    ended_.Wait(left_ns);
  }
}

// Ending waits for sources that want pages, which this thread has to provide meanwhile. A new thread
// also has room of its own for most of what it frees: whoever ends the program may do so in a signal
// handler, in the middle of malloc and with its lock.
void Flusher::ObeyEnd() {
  const char* const how = wanted_end_.exchange(nullptr, std::memory_order_acquire);
  if (how == nullptr) return;
  end_ = how;
  if (StartOwnThread(kThreadName, &EndMain, this)) return;
  ends_here_ = true;
  EndMain(this);
}

void* Flusher::EndMain(void* self) {
  auto* const flusher = static_cast<Flusher*>(self);
  try {
    flusher->parts_.end(flusher->end_);
  } catch (const std::exception& failure) {
    // One line says why recording stopped.
    if (!flusher->parts_.writer->failed()) {
      LogOnce("could not close the trace: %s; it will be salvaged", failure.what());
    }
  }
  flusher->ended_.Open();
  return nullptr;
}

void* Flusher::DueMain(void* self) {
  const auto* const flusher = static_cast<const Flusher*>(self);
  flusher->parts_.finish(flusher->due_);
  return nullptr;
}

// Whoever finishes the recording waits for the background thread, which is the one that calls this.
void Flusher::EndIfDue() {
  if (due_ != nullptr) return;
  if (parts_.window != nullptr && parts_.window->over()) {
    due_ = kStepsOver;
  } else if (parts_.end_ns != 0 && ReadMonotonicNs() >= parts_.end_ns) {
    due_ = kDurationOver;
  }
  if (due_ != nullptr) StartOwnThread(kThreadName, &DueMain, this);
}

// What it would have noted is not worth the recording.
void Flusher::LookAround(bool at_end) noexcept {
  try {
    if (at_end) {
      parts_.bystanders->LookAtEnd();
    } else {
      parts_.bystanders->LookNowAndThen(parts_.clock->MonotonicNs());
    }
  } catch (const std::exception&) {  // out of memory
  }
}

void* Flusher::ThreadMain(void* self) {
  auto* const flusher = static_cast<Flusher*>(self);
  // Nothing may leave this thread as an exception: it would end somebody's program.
  try {
    flusher->Run();
  } catch (const std::exception& failure) {
    LogOnce("the background thread stopped: %s; recording stops here", failure.what());
    // Nobody is to wait for it.
    flusher->ended_.Open();
  }
  return nullptr;
}

void Flusher::PrepareAhead() {
  if (wanted_end_.load(std::memory_order_relaxed) != nullptr || end_ != nullptr) return;
  const uint32_t added = parts_.mapping->AddFirstPages();
  if (added != 0) parts_.pool->PagesAdded(added);
  parts_.pool->PrefaultAhead();
}

void Flusher::Run() {
  using SteadyClock = std::chrono::steady_clock;
  const std::chrono::milliseconds tick = std::min(kTick, live_interval_);
  SteadyClock::time_point live_due = SteadyClock::now() + live_interval_;
  // A fork child may be gone before it needs more than it has.
  if (!parts_.may_be_short) PrepareAhead();
  while (!finish_.load(std::memory_order_acquire)) {
    AwaitWork(tick);
    ObeyEnd();
    EndIfDue();
    EndWithLastThread();
    if (end_ == nullptr) LookAround(/*at_end=*/false);
    bool more = true;
    while (more && !finish_.load(std::memory_order_acquire)) {
      ObeyEnd();
      const SteadyClock::time_point now = SteadyClock::now();
      const bool live = now >= live_due;
      const std::lock_guard<std::mutex> lock(io_mutex_);
      more = parts_.drain->RunOnce(live);
      // With full pages left behind, the live ones were not looked at: still due.
      if (live && !more) live_due = now + live_interval_;
    }
    PrepareAhead();
  }
  if (!ends_here_) Close();
  AwaitLeave();
}

// A look at the threads is no reason for a round.
void Flusher::AwaitWork(std::chrono::nanoseconds longest) {
  if (parts_.cpu_sampler == nullptr) {
    parts_.pool->WaitForWork(longest);
    return;
  }
  const auto end_ns = static_cast<int64_t>(ReadMonotonicNs()) + longest.count();
  for (int64_t now_ns = 0; now_ns < end_ns; now_ns = static_cast<int64_t>(ReadMonotonicNs())) {
    int64_t due_ns = parts_.cpu_sampler->SampleIfDue();
    if (parts_.stack_sampler != nullptr) {
      due_ns = std::min(due_ns, parts_.stack_sampler->SampleIfDue());
    }
    const int64_t left_ns = std::min(end_ns, due_ns) - static_cast<int64_t>(ReadMonotonicNs());
    if (parts_.pool->WaitForWork(std::chrono::nanoseconds(left_ns))) return;
  }
}

// A call into a foreign library may take as long as it likes.
void Flusher::AwaitLeave() {
  const timespec pause = {0, 50'000'000};
  while (!parts_.leave()) {
    EndWithLastThread();
    nanosleep(&pause, nullptr);
  }
}

// Ours do not keep the process alive.
void Flusher::EndWithLastThread() {
  if (exiting_ || !parts_.last_thread->IsLast()) return;
  exiting_ = true;
  ExitAsLastThread();
}

void Flusher::DrainNow() {
  const std::lock_guard<std::mutex> lock(io_mutex_);
  while (parts_.drain->RunOnce(/*live=*/true)) {
  }
}

void Flusher::Close() {
  {
    const std::lock_guard<std::mutex> lock(io_mutex_);
    LookAround(/*at_end=*/true);
    if (parts_.cpu_sampler != nullptr) parts_.cpu_sampler->SampleAtEnd();
    if (parts_.stack_sampler != nullptr) parts_.stack_sampler->SampleAtEnd();
    parts_.drain->Finish(how_);
    // Everything is in the database; only then may the mapping's name go. The seal comes last,
    // since it is the part that a slow disk can stretch.
    if (!parts_.writer->failed()) parts_.mapping->RemoveFile();
    parts_.writer->Seal();
  }
  const std::lock_guard<std::mutex> lock(state_mutex_);
  closed_ = true;
  state_changed_.notify_all();
}

bool Flusher::Finish(const char* how, std::chrono::milliseconds timeout) {
  how_ = how;
  if (!has_thread_ || ends_here_) {
    Close();
    finish_.store(true, std::memory_order_release);
    return true;
  }
  finish_.store(true, std::memory_order_release);
  parts_.pool->Wake();
  std::unique_lock<std::mutex> lock(state_mutex_);
  return state_changed_.wait_for(lock, timeout, [this] { return closed_; });
}

}  // namespace gpubound
