// SPDX-License-Identifier: Apache-2.0
//
// The index. One object, one thread.
#include "analysis/timeline/call_index.h"

#include <algorithm>
#include <iterator>
#include <new>

namespace gpubound {
namespace {

// Work waits in the launch queue at most so long. Less than the fastest wrap of ids (2^32 calls at
// two million a second), so a call that was lost is never replaced by its successor's namesake.
constexpr int64_t kLongestQueueNs = int64_t{30} * 60 * 1'000'000'000;

bool Contains(const IndexedCall& outer, const IndexedCall& inner) {
  return outer.thread == inner.thread && outer.start_ns <= inner.start_ns &&
         inner.end_ns <= outer.end_ns;
}

}  // namespace

CallIndex::CallIndex() { Grow(); }

void CallIndex::Grow() {
  const CallNumber oldest = Oldest();
  const size_t smaller = size_;
  const size_t size = smaller == 0 ? kFirstSize : 2 * smaller;
  size_ = size;
  const Ring before = std::move(ring_);
  ring_.reset(static_cast<IndexedCall*>(std::calloc(size, sizeof(IndexedCall))));
  if (ring_ == nullptr) throw std::bad_alloc();
  buckets_ = std::make_unique<CallNumber[]>(size);
  for (CallNumber number = oldest; number < next_; ++number) {
    IndexedCall& entry = ring_[number & (size - 1)];
    entry = before[number & (smaller - 1)];
    entry.back = Link(number, entry.correlation);
  }
}

bool CallIndex::AwaitsAny() const {
  bool any = forgot_awaited_;
  for (CallNumber number = Oldest(); number < next_ && !any; ++number) {
    any = ring_[number & (size_ - 1)].awaits() == Launches::kOne;
  }
  return any;
}

// A call is close to the one before it in everything, so differences are short.
void CallIndex::Visit(StateArchive& archive, size_t threads) {
  int64_t begun_ns = 0;
  uint32_t correlation = 0;
  const auto visit = [&](IndexedCall* call) {
    int64_t after_ns = call->start_ns - begun_ns;
    int64_t length_ns = call->end_ns - call->start_ns;
    auto step = static_cast<int32_t>(call->correlation - correlation);
    Launches awaited = call->awaits();
    archive.All(after_ns, length_ns, step, call->operation, call->api_class);
    archive.IndexBelow(kLaunches, awaited);
    call->awaited = static_cast<uint32_t>(awaited);
    archive.IndexBelow(threads, call->thread);
    if (call->operation != kNotOne && call->operation >= archive.operations()) archive.Fail();
    call->start_ns = begun_ns += after_ns;
    call->end_ns = begun_ns + length_ns;
    call->correlation = correlation += static_cast<uint32_t>(step);
  };
  CallNumber first = Oldest();
  CallNumber end = next_;
  archive.All(first, end, lows_);
  if (archive.reads() && !lows_.empty()) lowest_id_ = lows_.back().second;
  if (!archive.reads()) {
    for (CallNumber number = first; number < end; ++number) {
      visit(&ring_[number & (size_ - 1)]);
    }
    return;
  }
  if (first > end || end - first > kLargestSize) return archive.Fail();
  while (end - first > size_) Grow();  // while there is none
  for (next_ = first; next_ < end && !archive.failed(); ++next_) {
    IndexedCall& entry = ring_[next_ & (size_ - 1)];
    visit(&entry);
    entry.back = Link(next_, entry.correlation);
  }
}

// Goes back through the calls with that id, from the newest: those that begin after the work, of
// which the first is kept for want of a better one, then those before it.
CallNumber CallIndex::Find(const DeviceWork& work) const {
  if (work.correlation == 0) return kNoCall;
  CallNumber found = kNoCall;
  CallNumber number = Remembered(buckets_[work.correlation & (size_ - 1)] - 1);
  while (number != kNoCall) {
    const IndexedCall& call = ring_[number & (size_ - 1)];
    if (call.correlation == work.correlation && call.start_ns <= work.start_ns + kClockSlackNs) {
      const IndexedCall* const chosen = At(found);
      if (call.start_ns > work.start_ns) {
        found = number;
      } else if (chosen == nullptr || chosen->start_ns > work.start_ns) {
        if (call.start_ns < work.start_ns - kLongestQueueNs) return found;
        found = number;
      } else if (Contains(call, *chosen)) {
        found = number;  // the runtime function contains the driver function
      } else {
        break;
      }
    }
    number = call.back == 0 ? kNoCall : Remembered(number - call.back);
  }
  return found;
}

bool CallIndex::PrecedesAll(const DeviceWork& work) const {
  if (work.correlation == 0) return false;
  const auto later =
      std::upper_bound(lows_.begin(), lows_.end(), work.start_ns,
                       [](int64_t time_ns, const auto& low) { return time_ns < low.first; });
  return later != lows_.begin() && work.correlation < std::prev(later)->second;
}

}  // namespace gpubound
