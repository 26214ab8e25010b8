// SPDX-License-Identifier: Apache-2.0
//
// Which device work had to wait for an event of another stream: the first that was launched into
// its stream after the stream was told to. One object, one caller.
//
//   thread    | wait(stream 2, event) | launch A into 2 | launch B into 2 |
//   stream 2                                |--- A ---|--- B ---|          A waits, B does not
#ifndef GPUBOUND_ANALYSIS_SWEEP_STREAM_WAITS_H_
#define GPUBOUND_ANALYSIS_SWEEP_STREAM_WAITS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/fifo.h"
#include "analysis/base/state_archive.h"
#include "analysis/trace/event_source.h"

namespace gpubound {

class StreamWaits {
 public:
  // |process| is used here only.
  StreamWaits(const ProcessTrace& process, std::unique_ptr<RecordCursor<Sync>> syncs);

  // Whether |work| had to wait, whose launch began at |launched_ns|. Work comes in order of begin.
  bool IsFirstAfterWait(const DeviceWork& work, int64_t launched_ns) {
    if (syncs_.Peek() != nullptr && syncs_.Peek()->start_ns < work.start_ns) {
      TakeUntil(work.start_ns);
    }
    return any_ && TakeWaits(work, launched_ns);
  }

  // Takes up all that begins before |time_ns|.
  void TakeUntil(int64_t time_ns);
  // What holds at a time until which all was taken up.
  void Visit(StateArchive& archive);

 private:
  bool TakeWaits(const DeviceWork& work, int64_t launched_ns);

  RecordStream<Sync> syncs_;
  bool any_ = false;
  // By context and event: key of the stream in which it was recorded last.
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> recorded_in_;
  // By key of the stream: when it was told to, of which work may still come.
  std::unordered_map<uint64_t, Fifo<int64_t>> waits_;
  std::vector<uint64_t> key_of_;  // StreamId
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_STREAM_WAITS_H_
