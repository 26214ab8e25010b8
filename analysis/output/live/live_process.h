// SPDX-License-Identifier: Apache-2.0
//
// The last minute of one process that may still run: what its main thread did and at which lines of
// its program, how often it stepped, what its devices ran. Fed with chunks as they appear. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_PROCESS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_PROCESS_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/output/live/live_segment.h"
#include "analysis/output/live/recent_time.h"
#include "analysis/trace/told_progress.h"
#include "proto/chunk_decoder.h"

namespace gpubound {

// What is kept: the longest window, and some time for its end to lag.
inline constexpr int64_t kLiveMemoryNs = 70'000'000'000;

class LiveProcess {
 public:
  // Facts that the segments of the process fill in.
  LiveFacts& facts() { return facts_; }
  const LiveFacts& facts() const { return facts_; }

  // New labels were read.
  void LearnNames();

  // A chunk of thread events, stacks or device work; others are ignored. Damaged ones are too: the
  // report says so, a glance at a run does not.
  void Take(const ChunkRow& chunk);

  // Until when the process is known.
  int64_t Until() const;

  // Closed, or killed.
  bool Ended() const { return facts_.end_ns || facts_.gone; }

  // What it does is known since |time_ns|: recorded since, or begun since.
  bool KnowsOperationsSince(int64_t time_ns) const;

  // Forgets what is too old for any window.
  void Forget();

  // Of the thread that shows what the process does: time of each operation in |window|, by names().
  std::vector<int64_t> OperationTimes(const Interval& window) const;
  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::string> OperationNow() const;
  int64_t StepsIn(const Interval& window) const;

  // A line of the program itself; where all of a stack is a library's, its innermost one.
  struct Line {
    FunctionId function{};
    uint32_t number = 0;
    friend auto operator<=>(const Line&, const Line&) = default;
  };
  // At how many looks in |window| that thread was at each of lines().
  std::vector<int64_t> LooksAtLines(const Interval& window) const;
  const std::vector<Line>& lines() const { return lines_; }
  // What each of kWorkCounters (analysis/trace/told_progress.h) counted in |window|.
  std::vector<int64_t> WorkIn(const Interval& window) const;

  // What tells |device| apart: its uuid, else name and ordinal.
  static std::string KeyOf(const Device& device) {
    return device.uuid.empty() ? device.name + " " + std::to_string(device.info.index)
                               : device.uuid;
  }
  // Work of a device, by its key.
  const std::map<std::string, std::vector<Interval>>& new_work() const { return new_work_; }
  void ClearNewWork() { new_work_.clear(); }
  int64_t BusyIn(const Interval& window) const { return busy_.LengthWithin(window); }

 private:
  struct Thread {
    RecentTime times;  // by operation
    std::vector<LabelId> open;
    int64_t last_ns = 0;
    bool began = false;
    bool has_operation = false;
  };
  static constexpr uint32_t kNone = 0xffffffff;

  uint32_t OperationOf(LabelId label) const;
  uint32_t Innermost(const Thread& thread) const;
  std::optional<uint32_t> ShownOrdinal() const;
  const Thread* Shown() const;
  void Book(Thread* thread, int64_t now_ns);
  void TakeThread(const ChunkRow& chunk);
  void TakeCounter(const ThreadEvent& event);
  void TakeDevice(const ChunkRow& chunk);
  void TakeStacks(const ChunkRow& chunk);
  uint32_t LineOf(FrameId innermost);

  LiveFacts facts_;
  std::vector<std::string> names_;
  std::vector<uint32_t> operation_of_;    // by label id; kNone: is none
  std::map<uint32_t, Thread> threads_;    // by ordinal
  std::map<uint32_t, RecentTime> looks_;  // by tid: of looks, by line
  std::vector<Line> lines_;
  std::map<Line, uint32_t> line_of_;
  RecentTime steps_;
  std::map<LabelId, uint32_t> work_labels_;  // to the place in kWorkCounters
  std::array<WorkCounted, kWorkCounters.size()> counted_;
  RecentTime work_;
  RecentUnion busy_;
  std::map<std::string, std::vector<Interval>> new_work_;
  ChunkDecoder decoder_;
  ThreadEvents thread_events_;
  DeviceEvents device_events_;
  StackEvents stack_events_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_PROCESS_H_
