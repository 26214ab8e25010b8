// SPDX-License-Identifier: Apache-2.0
//
// One place per stream and per context that some work may run in. One object, one caller.
#include "analysis/sweep/finished_waits.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/trace/stream_key.h"
#include "proto/sync_types.h"

namespace gpubound {
namespace {

constexpr uint32_t kWholeContext = std::numeric_limits<uint32_t>::max();

}  // namespace

int64_t FinishedWaits::Recent::FirstEndFromSlowPath(int64_t from_ns) const {
  int64_t end_ns = kOpenEnded;
  for (size_t back = 1; back <= std::min(count, kRemembered); ++back) {
    const Interval& wait = waits[(count - back) % kRemembered];
    if (wait.begin_ns < from_ns) break;
    end_ns = std::min(end_ns, wait.end_ns);
  }
  return end_ns;
}

FinishedWaits::FinishedWaits(const ProcessTrace& process, std::unique_ptr<RecordCursor<Sync>> syncs)
    : syncs_(std::move(syncs)),
      places_(1),
      by_stream_(process.streams.size()),
      by_context_(process.streams.size()) {
  const auto place = [this](uint64_t key) {
    const auto [found, added] = place_of_.try_emplace(key, places_.size());
    if (added) places_.emplace_back();
    return found->second;
  };
  for (size_t id = 1; id < process.streams.size(); ++id) {
    const Stream& stream = process.streams[id];
    by_stream_[id] = place(StreamKey(stream.context, stream.stream));
    by_context_[id] = place(StreamKey(stream.context, kWholeContext));
  }
}

int64_t FinishedWaits::LateBySlowPath(const DeviceWork& work, int64_t launched_ns) const {
  const size_t stream = Raw(work.stream);
  if (stream >= by_stream_.size()) return 0;
  const int64_t done_ns = std::min(places_[by_stream_[stream]].FirstEndFrom(launched_ns),
                                   places_[by_context_[stream]].FirstEndFrom(launched_ns));
  return done_ns == kOpenEnded ? 0 : work.end_ns - done_ns;
}

void FinishedWaits::TakeUntil(int64_t time_ns) {
  for (const Sync* sync = syncs_.Peek(); sync != nullptr && sync->start_ns <= time_ns;
       sync = syncs_.Peek()) {
    const bool of_stream = sync->type == kSyncStream;
    if (of_stream || sync->type == kSyncContext) {
      const auto found =
          place_of_.find(StreamKey(sync->context, of_stream ? sync->stream : kWholeContext));
      if (found != place_of_.end()) places_[found->second].Add({sync->start_ns, sync->end_ns});
      newest_ns_ = std::max(newest_ns_, sync->start_ns);
    }
    syncs_.Pop();
  }
}

}  // namespace gpubound
