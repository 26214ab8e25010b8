// SPDX-License-Identifier: Apache-2.0
//
// Finds the API call that launched a piece of device work, while both stream by. Correlation ids
// are 32 bit and wrap (at a million calls a second, after more than an hour), so an id names a call
// only together with a time: the call is the last one with that id that began before the work did,
// and not longer ago than an id lives; where there is none, the first that began after it by no
// more than clocks differ. Calls whose work may still come are remembered, and besides them some of
// the newest. One object, one thread.
//
//   ring, by number of the call modulo its size:   | .. | call 8 | call 9 | call 2 | call 3 | .. |
//   buckets, by correlation: newest call -> previous call of the same bucket -> ...
#ifndef GPUBOUND_ANALYSIS_TIMELINE_CALL_INDEX_H_
#define GPUBOUND_ANALYSIS_TIMELINE_CALL_INDEX_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/base/state_archive.h"
#include "analysis/trace/call_causes.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/label_roles.h"

namespace gpubound {

// Work may seem to begin a little before its call does: the two are stamped by different clocks
// that CUPTI aligns. Far above that error, far below the time in which ids wrap.
inline constexpr int64_t kClockSlackNs = 10'000'000;

// By more than this no alignment of clocks should be off. The shortest launch of the H100 profiles
// in tests/data/kineto takes 4.8 us: work that begins so long before its call was stamped by a
// clock that is off by 15.
inline constexpr int64_t kClockToleranceNs = 10'000;

// Number of a call in order of begin, over the whole process.
using CallNumber = uint64_t;
inline constexpr CallNumber kNoCall = ~uint64_t{0};

struct IndexedCall {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint32_t correlation = 0;
  uint32_t thread = 0;
  OperationIndex operation = kNotOne;  // kNotOne: not known yet
  ApiClass api_class = ApiClass::kCall;
  // The index's own: so many calls to the previous one in the same bucket; 0: none remembered.
  uint32_t back : 22 = 0;
  uint32_t awaited : 2 = static_cast<uint32_t>(Launches::kMany);  // work that may still come
  Launches awaits() const { return static_cast<Launches>(awaited); }
};
static_assert(sizeof(IndexedCall) == 32 && std::is_trivially_copyable_v<IndexedCall>);

class CallIndex {
 public:
  CallIndex();

  // Calls come in order of begin.
  CallNumber Add(const ThreadCall& call, ApiClass api_class, Launches launches) {
    if (next_ >= size_ && IsNeeded(ring_[next_ & (size_ - 1)], call.call.start_ns)) {
      MakeRoom(ring_[next_ & (size_ - 1)].awaits());
    }
    const CallNumber number = next_++;
    const uint32_t correlation = call.call.correlation;
    if (correlation != 0 && correlation < lowest_id_) NoteLowest(correlation, call.call.start_ns);
    ring_[number & (size_ - 1)] = {call.call.start_ns,
                                   call.call.end_ns,
                                   correlation,
                                   call.thread,
                                   kNotOne,
                                   api_class,
                                   Link(number, correlation),
                                   AwaitedOf(call.call, launches)};
    return number;
  }

  // The call behind |work|, if all calls that begin until kClockSlackNs after it have been added:
  // of nested calls with the same correlation (a runtime function and the driver function inside
  // it) the outermost. kNoCall where none is remembered.
  CallNumber Find(const DeviceWork& work) const;

  // Whether |work|, for which Find() knows no call, was launched before anything that is recorded:
  // ids ascend, and its own is lower than that of every call that began before it did.
  bool PrecedesAll(const DeviceWork& work) const;

  // Some work of that call was found, and nobody will ask for the call on its account again.
  void Settle(IndexedCall* call) {
    if (call->awaits() == Launches::kOne) call->awaited = 0;
  }

  // Whether no work has come of some call that launches one piece of it.
  bool AwaitsAny() const;

  // Every call that is remembered, of so many |threads|.
  void Visit(StateArchive& archive, size_t threads);

  // Null when the call is no longer remembered. Valid until the next Add().
  IndexedCall* At(CallNumber number) {
    return Remembered(number) == kNoCall ? nullptr : &ring_[number & (size_ - 1)];
  }
  const IndexedCall* At(CallNumber number) const {
    return const_cast<CallIndex*>(this)->At(number);
  }

 private:
  // Of most processes all calls that matter fit, and both tables into a processor's own cache.
  static constexpr size_t kFirstSize = 4096;
  // A launch queue holds about a thousand entries per stream before the next launch waits, so work
  // whose call lies further back than this many calls does not exist in practice; it would be
  // counted as work without a launch. 40 bytes each, with the bucket.
  static constexpr size_t kLargestSize = size_t{1} << 20;
  static_assert(kLargestSize < size_t{1} << 22, "IndexedCall::back counts so far");

  // What is never touched takes no memory.
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  using Ring = std::unique_ptr<IndexedCall[], Free>;

  // Until its operation is known and its work has come. Of a copy that is recorded in pieces each
  // begins before the call ends. Calls are added kClockSlackNs ahead of the work at |added_ns|.
  static bool IsNeeded(const IndexedCall& call, int64_t added_ns) {
    const int64_t work_ns = std::max(added_ns, INT64_MIN + kClockSlackNs) - kClockSlackNs;
    return call.awaits() != Launches::kNothing || call.operation == kNotOne ||
           call.end_ns > work_ns;
  }
  // A call that failed launches nothing.
  static uint32_t AwaitedOf(const ApiCall& call, Launches launches) {
    return static_cast<uint32_t>(call.result == 0 ? launches : Launches::kNothing);
  }
  // |awaits|: of the call that is forgotten where there can be no more room.
  void MakeRoom(Launches awaits) {
    if (size_ < kLargestSize) return Grow();
    forgot_awaited_ |= awaits == Launches::kOne;
  }
  [[gnu::noinline]] void NoteLowest(uint32_t correlation, int64_t start_ns) {
    lowest_id_ = correlation;
    lows_.push_back({start_ns, correlation});
  }
  void Grow();
  CallNumber Oldest() const { return next_ > size_ ? next_ - size_ : 0; }
  // Makes |number| the newest of its bucket; returns what its entry says of the one before.
  uint32_t Link(CallNumber number, uint32_t correlation) {
    CallNumber& behind_newest = buckets_[correlation & (size_ - 1)];
    const CallNumber newest = Remembered(behind_newest - 1);
    behind_newest = number + 1;
    return newest == kNoCall ? 0 : static_cast<uint32_t>(number - newest);
  }
  CallNumber Remembered(CallNumber number) const {
    return number != kNoCall && number + size_ >= next_ ? number : kNoCall;
  }

  size_t size_ = 0;  // a power of two
  Ring ring_;
  // The number behind the newest call's; 0: none. Written from the first to the last at once: each
  // is read before it is written, and a page that is read first costs two faults, of which the
  // second stops all threads.
  std::unique_ptr<CallNumber[]> buckets_;
  CallNumber next_ = 0;
  bool forgot_awaited_ = false;
  uint32_t lowest_id_ = std::numeric_limits<uint32_t>::max();
  // By begin: each call whose id was lower than those of all before it. The first is nearly always
  // the only one.
  std::vector<std::pair<int64_t, uint32_t>> lows_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_CALL_INDEX_H_
