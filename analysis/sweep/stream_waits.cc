// SPDX-License-Identifier: Apache-2.0
//
// Waits by stream. One object, one caller.
#include "analysis/sweep/stream_waits.h"

#include <algorithm>
#include <utility>

#include "analysis/trace/stream_key.h"
#include "proto/sync_types.h"

namespace gpubound {
namespace {

// Of a stream that is told to wait and never runs anything.
constexpr size_t kMostWaits = 65'536;

}  // namespace

StreamWaits::StreamWaits(const ProcessTrace& process, std::unique_ptr<RecordCursor<Sync>> syncs)
    : syncs_(std::move(syncs)) {
  for (const Stream& stream : process.streams) {
    key_of_.push_back(StreamKey(stream.context, stream.stream));
  }
}

void StreamWaits::TakeUntil(int64_t time_ns) {
  for (const Sync* sync = syncs_.Peek(); sync != nullptr && sync->start_ns < time_ns;
       syncs_.Pop(), sync = syncs_.Peek()) {
    const uint64_t stream = StreamKey(sync->context, sync->stream);
    if (sync->type == kSyncEventRecorded) recorded_in_[{sync->context, sync->event}] = stream;
    if (sync->type != kSyncEventByStream) continue;
    const auto recorded = recorded_in_.find({sync->context, sync->event});
    // An event of its own stream keeps a stream waiting for nothing.
    if (recorded != recorded_in_.end() && recorded->second == stream) continue;
    Fifo<int64_t>& waits = waits_[stream];
    if (waits.size() == kMostWaits) waits.pop();
    waits.push(sync->start_ns);
    any_ = true;
  }
}

bool StreamWaits::TakeWaits(const DeviceWork& work, int64_t launched_ns) {
  if (Raw(work.stream) >= key_of_.size()) return false;
  const auto found = waits_.find(key_of_[Raw(work.stream)]);
  if (found == waits_.end()) return false;
  Fifo<int64_t>& waits = found->second;
  bool waited = false;
  for (; !waits.empty() && waits.front() < launched_ns; waits.pop()) waited = true;
  return waited;
}

void StreamWaits::Visit(StateArchive& archive) {
  std::vector<std::pair<std::pair<uint32_t, uint64_t>, uint64_t>> recorded(recorded_in_.begin(),
                                                                           recorded_in_.end());
  std::vector<std::pair<uint64_t, std::vector<int64_t>>> waits;
  for (const auto& [stream, times] : waits_) {
    waits.emplace_back(stream, std::vector(times.waiting().begin(), times.waiting().end()));
  }
  std::sort(waits.begin(), waits.end());
  archive.All(any_, recorded, waits);
  if (!archive.reads()) return;
  recorded_in_ = {recorded.begin(), recorded.end()};
  for (const auto& [stream, times] : waits) {
    for (const int64_t time_ns : times) waits_[stream].push(time_ns);
  }
}

}  // namespace gpubound
