// SPDX-License-Identifier: Apache-2.0
//
// The keeper's thread and its end.
#include "tools/launch/run_keeper.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

#include "analysis/compact/compact.h"
#include "tools/launch/guarded.h"
#include "tools/launch/run_directory.h"

namespace gpubound {
namespace {

constexpr std::chrono::seconds kShortestPause{30};
constexpr std::chrono::minutes kLongestPause{10};
constexpr int kPauseToWork = 20;

constexpr uint64_t kSmallestSegment = uint64_t{1} << 20;
constexpr uint64_t kLargestSegment = uint64_t{64} << 20;
constexpr uint64_t kSegmentsKept = 16;

}  // namespace

uint64_t SegmentBytesFor(uint64_t max_bytes) {
  return std::clamp(max_bytes / kSegmentsKept, kSmallestSegment, kLargestSegment);
}

std::chrono::milliseconds PauseAfter(std::chrono::milliseconds took) {
  return std::clamp<std::chrono::milliseconds>(took * kPauseToWork, kShortestPause, kLongestPause);
}

RunKeeper::RunKeeper(std::string folder, const Retention& retention)
    : folder_(std::move(folder)), retention_(retention) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  // The thread inherits the mask, and the launcher's signals go on to its main thread.
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { Run(); });
  } catch (const std::system_error&) {
    // No thread is to be had: then the run is made small when it has ended.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

RunKeeper::~RunKeeper() { Stop(); }

void RunKeeper::Run() {
  using Clock = std::chrono::steady_clock;
  std::chrono::milliseconds pause = kShortestPause;
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, pause, [this] { return stop_; })) {
    lock.unlock();
    const Clock::time_point begin = Clock::now();
    Compact();
    pause = PauseAfter(std::chrono::ceil<std::chrono::milliseconds>(Clock::now() - begin));
    lock.lock();
  }
}

void RunKeeper::Compact() {
  try {
    if (!HoldsTrace(folder_)) return;
    const Result<Compaction> compaction = CompactRun(folder_, {}, retention_);
    error_ = compaction.ok() ? std::nullopt : std::optional(compaction.error());
  } catch (const std::exception& exception) {
    error_ = InternalError("keeping the run small", folder_, exception);
  }
}

void RunKeeper::Stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::optional<Error> RunKeeper::Finish() {
  Stop();
  Compact();
  return error_;
}

}  // namespace gpubound
