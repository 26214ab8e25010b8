// SPDX-License-Identifier: Apache-2.0
//
// Waits for a stream or a context that have returned, beside the device work that they waited for:
// work that seems to go on after such a wait has times that lie too late. Only the newest waits are
// remembered, and what is not remembered is not judged. One object, one caller.
//
//   thread   | launch |    | wait returns when all before it is done |
//   stream            |------------- work -------------|-- late by --|
#ifndef GPUBOUND_ANALYSIS_SWEEP_FINISHED_WAITS_H_
#define GPUBOUND_ANALYSIS_SWEEP_FINISHED_WAITS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/trace/event_source.h"

namespace gpubound {

class FinishedWaits {
 public:
  // |process| is used here only.
  FinishedWaits(const ProcessTrace& process, std::unique_ptr<RecordCursor<Sync>> syncs);

  // By how much |work| seems to end after a wait that was called when the call that launched it had
  // returned, at |launched_ns|, and that had to wait for it; 0 or below: it does not. Work comes in
  // order of begin.
  int64_t LateBy(const DeviceWork& work, int64_t launched_ns) {
    if (syncs_.Peek() != nullptr && syncs_.Peek()->start_ns <= work.end_ns) TakeUntil(work.end_ns);
    return newest_ns_ >= launched_ns ? LateBySlowPath(work, launched_ns) : 0;
  }

 private:
  // A thread that waits launches nothing meanwhile, so between a launch and the end of its work
  // there is about one wait per thread.
  static constexpr size_t kRemembered = 16;
  struct Recent {
    std::array<Interval, kRemembered> waits;
    size_t count = 0;  // of all that ever were
    void Add(const Interval& wait) { waits[count++ % kRemembered] = wait; }
    // The end of the first that began at |from_ns| or later; kOpenEnded where there is none.
    int64_t FirstEndFrom(int64_t from_ns) const {
      const bool any = count != 0 && waits[(count - 1) % kRemembered].begin_ns >= from_ns;
      return any ? FirstEndFromSlowPath(from_ns) : kOpenEnded;
    }
    int64_t FirstEndFromSlowPath(int64_t from_ns) const;
  };

  int64_t LateBySlowPath(const DeviceWork& work, int64_t launched_ns) const;
  void TakeUntil(int64_t time_ns);

  RecordStream<Sync> syncs_;
  int64_t newest_ns_ = INT64_MIN;                  // latest begin of all waits so far
  std::vector<Recent> places_;                     // the first is of no stream and stays empty
  std::unordered_map<uint64_t, size_t> place_of_;  // by stream and context, or by context alone
  std::vector<size_t> by_stream_;                  // StreamId: its own place
  std::vector<size_t> by_context_;                 // StreamId: that of its context
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_FINISHED_WAITS_H_
