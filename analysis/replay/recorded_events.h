// SPDX-License-Identifier: Apache-2.0
//
// What an event that was recorded in a stream stands for: the last piece of work that had been
// launched into the stream before. Work begins later than it is launched, so which piece that is
// is known when the first one behind the record begins.
//
//   calls   launch A   record   launch B          wait
//   stream        [ A          ][ B        ]           what the event stands for ends with A
//
// Holds the latest record of each event, and older ones as long as somebody waits for them. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_REPLAY_RECORDED_EVENTS_H_
#define GPUBOUND_ANALYSIS_REPLAY_RECORDED_EVENTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "analysis/replay/replay_device.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct EventRecord {
  StreamId stream{};
  int64_t called_ns = 0;
  bool passed = false;  // work behind it has begun
  DoneWork behind;      // once passed
};

class RecordedEvents {
 public:
  // |event| of |context| was recorded in |stream| by a call at |called_ns|. Calls come in order of
  // their ends.
  void Record(uint32_t context, uint64_t event, StreamId stream, int64_t called_ns) {
    auto record = std::make_shared<EventRecord>();
    record->stream = stream;
    record->called_ns = called_ns;
    Stream& recorded_in = streams_[Raw(stream)];
    if (recorded_in.newest_ns > called_ns) {  // what came behind it is known already
      record->passed = true;
      record->behind = recorded_in.before;
    } else {
      if (recorded_in.open.size() >= kMostOpen) recorded_in.open.pop_front();
      recorded_in.open.push_back(record);
    }
    if (latest_.size() >= kMostEvents) latest_.clear();  // of events that were destroyed long ago
    latest_[{context, event}] = std::move(record);
  }

  // Work launched at |launched_ns| begins in |stream|. In order of begin.
  void NoteWork(StreamId stream, int64_t launched_ns, const DoneWork& work) {
    Stream& of = streams_[Raw(stream)];
    while (!of.open.empty() && of.open.front()->called_ns < launched_ns) {
      of.open.front()->passed = true;
      of.open.front()->behind = of.last;
      of.open.pop_front();
    }
    if (launched_ns > of.newest_ns) {
      of.newest_ns = launched_ns;
      of.before = of.last;
    }
    of.last.end_ns = std::max(of.last.end_ns, work.end_ns);
    of.last.done = Later(of.last.done, work.done);
  }

  // Null where no record of the event is known.
  std::shared_ptr<const EventRecord> Latest(uint32_t context, uint64_t event) const {
    const auto found = latest_.find({context, event});
    return found == latest_.end() ? nullptr : found->second;
  }
  const EventRecord* Find(uint32_t context, uint64_t event) const {
    return Latest(context, event).get();
  }

  // The work that |record| stands for, as far as it has begun.
  const DoneWork& WorkOf(const EventRecord& record) const {
    if (record.passed) return record.behind;
    static const DoneWork kNothing;
    const auto stream = streams_.find(Raw(record.stream));
    return stream == streams_.end() ? kNothing : stream->second.last;
  }

 private:
  static constexpr size_t kMostOpen = 4096;  // records in a stream without work behind them
  static constexpr size_t kMostEvents = size_t{1} << 16;

  struct Stream {
    std::deque<std::shared_ptr<EventRecord>> open;  // by call
    DoneWork last;                                  // of all that has begun
    DoneWork before;                                // ... before the newest piece
    int64_t newest_ns = INT64_MIN;                  // when that was launched
  };
  std::map<std::pair<uint32_t, uint64_t>, std::shared_ptr<EventRecord>> latest_;
  std::unordered_map<uint32_t, Stream> streams_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_RECORDED_EVENTS_H_
