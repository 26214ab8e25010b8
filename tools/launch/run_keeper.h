// SPDX-License-Identifier: Apache-2.0
//
// Keeps a run small while it goes on: sums it and thins it again and again, outside the program
// (docs/long_runs.md), on a thread of its own that takes no signals.
#ifndef GPUBOUND_TOOLS_LAUNCH_RUN_KEEPER_H_
#define GPUBOUND_TOOLS_LAUNCH_RUN_KEEPER_H_

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "analysis/base/status.h"
#include "analysis/compact/retention.h"

namespace gpubound {

class RunKeeper {
 public:
  // Begins, where a thread is to be had. |folder| is the run's directory.
  RunKeeper(std::string folder, const Retention& retention);
  ~RunKeeper();
  RunKeeper(const RunKeeper&) = delete;
  RunKeeper& operator=(const RunKeeper&) = delete;

  // The program has ended: once more, now that everything is there. The last thing that went wrong,
  // here or before; the run is sound all the same, but larger than it was to be.
  std::optional<Error> Finish();

 private:
  void Run();
  void Compact();
  void Stop();

  const std::string folder_;
  const Retention retention_;
  std::optional<Error> error_;  // of the newest compaction; the thread's until it is joined
  std::mutex mutex_;            // guards |stop_|
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

// Between the end of a compaction that took |took| and the begin of the next: seldom enough to cost
// at most a twentieth of a core, often enough that what 100,000 events a second write meanwhile
// (20 MB in half a minute) is small.
std::chrono::milliseconds PauseAfter(std::chrono::milliseconds took);

// How large a segment of a run may become that is to be kept within |max_bytes|: only whole
// segments are thinned while the program goes on.
uint64_t SegmentBytesFor(uint64_t max_bytes);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_RUN_KEEPER_H_
