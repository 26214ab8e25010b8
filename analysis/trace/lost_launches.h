// SPDX-License-Identifier: Apache-2.0
//
// Launches of a process whose kernel is not there: what a buffer of CUPTI's held that was never
// read. The kernel ran at some time from its launch on, and no later than the next call of the
// thread that waited for the device. One object for a process, one thread.
#ifndef GPUBOUND_ANALYSIS_TRACE_LOST_LAUNCHES_H_
#define GPUBOUND_ANALYSIS_TRACE_LOST_LAUNCHES_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/base/interval.h"

namespace gpubound {

// Correlation ids, which come one close to the other: a bit each.
class IdSet {
 public:
  void Add(uint32_t id) {
    const uint32_t number = id / kPageBits;
    if (last_ == nullptr || number != last_number_) {
      last_ = &pages_[number];  // stays where it is
      last_number_ = number;
    }
    (*last_)[id % kPageBits / 64] |= uint64_t{1} << id % 64;
  }
  bool Has(uint32_t id) const {
    const auto page = pages_.find(id / kPageBits);
    return page != pages_.end() && (page->second[id % kPageBits / 64] >> id % 64 & 1) != 0;
  }
  bool empty() const { return pages_.empty(); }

 private:
  static constexpr uint32_t kPageBits = 1024;
  using Page = std::array<uint64_t, kPageBits / 64>;
  std::unordered_map<uint32_t, Page> pages_;
  Page* last_ = nullptr;
  uint32_t last_number_ = 0;
};

class LostLaunches {
 public:
  // What a call is to this, as its name says.
  enum class CallKind : uint8_t { kOther, kLaunch, kWaitsForDevice, kWaitsForStream };
  static CallKind KindOf(std::string_view name);
  // Whether the call makes a graph that can be launched.
  static bool InstantiatesGraph(std::string_view name);

  struct Call {
    Interval time;
    uint32_t correlation = 0;
    int32_t result = 0;
    CallKind kind = CallKind::kOther;
  };

  // Of a thread, between its first call and its last.
  struct Thread {
    Interval launch{INT64_MAX, INT64_MIN};  // the last one, with what lies within it
    bool launch_ran = true;                 // some work has its id, or that of a call within it
    int64_t open_ns = INT64_MAX;  // the first lost launch that nothing was waited for since
  };

  // Before the calls of any thread: what the process did on devices, and on how many streams; and
  // when its streams were being captured, so that calls launched nothing.
  void NoteWork(uint32_t correlation) {
    if (correlation != 0) ran_.Add(correlation);
  }
  void NoteStreams(size_t streams) { one_stream_ = streams <= 1; }
  void NoteCapture(int64_t time_ns, bool begins) {
    edges_.push_back({time_ns, begins});
    captures_any_ = true;
  }
  void NoteInstantiation() { instantiates_ = true; }

  // The calls of |thread|, in the order of their begin, and the end of them.
  void AddCall(const Call& call, Thread* thread);
  void EndThread(Thread* thread);

  // So many were found. None where no work has an id that could say what launched it.
  uint64_t count() const { return count_; }
  // When their kernels may have run; may overlap, and reach beyond the end of the process.
  const std::vector<Interval>& when() const { return when_; }

 private:
  static constexpr size_t kMostIntervals = size_t{1} << 16;

  struct CaptureEdge {
    int64_t time_ns;
    bool begins;
  };

  bool IsCaptured(int64_t time_ns);
  bool WaitsForAll(CallKind kind) const {
    return kind == CallKind::kWaitsForDevice || (one_stream_ && kind == CallKind::kWaitsForStream);
  }
  // On the launch that may be lost, once no call within it can follow.
  void Decide(Thread* thread);
  void Put(const Interval& time);

  IdSet ran_;
  bool one_stream_ = false;
  bool instantiates_ = false;
  bool captures_any_ = false;
  std::vector<CaptureEdge> edges_;  // of captures, until the first call that asks
  std::vector<Interval> captures_;  // ascending and disjoint
  uint64_t count_ = 0;
  std::vector<Interval> when_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_LOST_LAUNCHES_H_
