// SPDX-License-Identifier: Apache-2.0
//
// When nothing of a process worked: its primary thread was blocked, and none of the threads that
// work under its operation was busy. Window by window.
//
//   primary thread   |-------- blocked -----------|      |-- blocked --|
//   another                 |--busy--|
//   nothing worked   |------|        |------------|      |-------------|
//
// One object, one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_BLOCKED_TIME_H_
#define GPUBOUND_ANALYSIS_TIMELINE_BLOCKED_TIME_H_

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"

namespace gpubound {

class BlockedTime {
 public:
  // Before the window in which it begins.
  void AddBlocked(const Interval& time) { blocked_.push_back(time); }
  void AddBusy(const Interval& time) { busy_.push_back(time); }

  // When something changes after the last window; kOpenEnded when nothing does.
  int64_t NextTime() const;

  // A window: stretches of it, ascending and disjoint. Valid until the next one.
  std::span<const Interval> Open(int64_t begin_ns, int64_t end_ns);

  void Visit(StateArchive& archive);

 private:
  std::vector<Interval> blocked_;
  std::vector<Interval> busy_;
  std::vector<Interval> found_;
  int64_t now_ns_ = INT64_MIN;  // end of the last window
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_BLOCKED_TIME_H_
