// SPDX-License-Identifier: Apache-2.0
//
// The GPU side of a process: what its devices do at each instant. Follows the stream of device work
// window by window and holds what runs at one instant. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_DEVICE_TIMELINE_H_
#define GPUBOUND_ANALYSIS_TIMELINE_DEVICE_TIMELINE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "analysis/base/fifo.h"
#include "analysis/base/interval.h"
#include "analysis/base/plain_list.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/device_activity.h"
#include "analysis/timeline/gpu_segments.h"
#include "analysis/timeline/gpu_work.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// A device went from one state to another.
struct DeviceChange {
  int64_t time_ns;
  uint32_t device;
  DeviceState from;
  DeviceState to;
  WorkId begun;      // the first work that began on it at this instant; none if it only ended
  WorkId last_work;  // that has ended last; none so far
};

class DeviceTimeline {
 public:
  struct Input {  // everything outlives the object
    const ProcessTrace* process = nullptr;
    const EventSource* source = nullptr;
    Interval span;
    const std::vector<Interval>* unknown = nullptr;  // disjoint and ascending
    DeviceActivity* activity = nullptr;              // where what runs on each device goes to
  };
  explicit DeviceTimeline(const Input& input);

  // The next instant at which something happens; kOpenEnded when nothing does.
  int64_t NextTime() const {
    return work_.Peek() == nullptr ? next_ns_ : std::min(next_ns_, work_.Peek()->start_ns);
  }

  // Takes up the work that begins before |end_ns| and calls |on_begin|(work, item) for each, also
  // for those without length, in order. Where that is very much, stops earlier, after |begin_ns|.
  // Returns the time before which all was taken up.
  template <typename OnBegin>
  int64_t Open(int64_t begin_ns, int64_t end_ns, OnBegin on_begin);

  // All that happens from |begin_ns| on, which is NextTime() or before, and before |end_ns|, as
  // Open() said. |paused|: recording is off since |begin_ns|.
  void Run(int64_t begin_ns, int64_t end_ns, bool paused);
  const GpuWindow& window() const { return window_; }
  const PlainList<DeviceChange>& changes() const { return changes_; }

  // What holds between two windows; see ProcessTimeline::Visit().
  void Visit(StateArchive& archive);

  struct Device {
    DeviceState state = DeviceState::kIdle;
    bool used = false;
    bool ran_graph = false;  // that was recorded as a whole
    uint32_t running = 0;
    uint64_t fill = 0;
    WorkId last_work{};      // that ended last
    RunningWork active = 0;  // as |running| says
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(state, used, ran_graph, running, fill, last_work);
    }
  };
  // By DeviceId, and behind them one that is never used: it stands for those of which nothing is
  // known yet.
  const std::vector<Device>& devices() const { return devices_; }
  // In the order of their first work.
  const std::vector<uint32_t>& devices_used() const { return devices_used_; }
  const WorkClassifier& classifier() const { return classifier_; }
  // When recording was off, in order; the last one may have no end.
  const std::vector<Interval>& pauses() const { return pauses_; }

 private:
  // So much work is taken up at once, unless more begins at one instant.
  static constexpr size_t kMostWork = 8192;

  static constexpr uint32_t kNotUsed = 0xffffffff;

  struct Touched {
    uint32_t device;
    WorkId begun;
  };
  void NotePause(int64_t now_ns);
  bool unknown() const { return in_unknown_ || paused_; }
  int64_t Clipped(int64_t time_ns) const {
    return std::clamp(time_ns, span_.begin_ns, span_.end_ns);
  }
  void Meet(uint32_t device);
  void OpenWindow();
  void CloseWindow();
  void Step(int64_t now_ns);
  bool IsOneDeviceUntil(int64_t end_ns) const;
  void RunOneDevice(int64_t end_ns);
  void Begin(const GpuItem& item);
  // Puts |item| into its place among those between |bottom| and |top|, which move up to there.
  static void PutByEnd(const GpuItem& item, const GpuItem* bottom, GpuItem* top) {
    // Few run at once, and what begins last mostly ends last.
    for (; top != bottom && top[-1].end_ns <= item.end_ns; --top) *top = top[-1];
    *top = item;
  }
  // |segment| begins at |now_ns|, clipped; its sums are those of the one |before| it and what that
  // one was until then.
  void MoveSegment(int64_t now_ns, const GpuSegment& before, GpuSegment* segment) const {
    const int64_t begin_ns = Clipped(now_ns);
    const int64_t ns = begin_ns - before.begin_ns;
    segment->begin_ns = begin_ns;
    segment->sum_ns = before.sum_ns + int64_t{before.running} * ns;
    segment->graph_ns = before.graph_ns + (before.in_graph ? ns : 0);
    segment->filled = before.filled + before.fill * static_cast<uint64_t>(ns);
  }
  const GpuItem& EndLast();
  void EndUntil(int64_t now_ns);
  void MoveUnknown(int64_t now_ns);
  RunningWork RunningOn(uint32_t device) const;
  void NoteActivity(uint32_t device, int64_t now_ns);
  void AddFill(Device* device, int64_t fill);
  void RefreshDevice(uint32_t device, int64_t now_ns, WorkId begun);
  void RefreshAll(int64_t now_ns);
  Fill FillNow() const;
  void AddSegment(int64_t now_ns);
  void FindNext();
  bool IsSound() const;

  const Interval span_;
  const std::vector<Interval>& unknown_;
  DeviceActivity& activity_;
  size_t next_unknown_ = 0;
  bool in_unknown_ = false;
  bool paused_ = false;
  std::vector<Interval> pauses_;
  RecordStream<DeviceWork> work_;
  WorkClassifier classifier_;
  Fifo<GpuItem> begins_;        // taken up
  PlainList<GpuItem> running_;  // by end, latest first
  int64_t next_ns_ = kOpenEnded;
  ActiveSet classes_;
  uint32_t counted_ = 0;  // of |running_|, without other ends
  std::vector<Device> devices_;
  std::vector<uint32_t> devices_used_;
  std::vector<uint32_t> place_;  // by DeviceId, in |devices_used_|
  std::vector<Touched> touched_;
  uint64_t busy_devices_ = 0;
  uint32_t running_graphs_ = 0;  // recorded as a whole
  uint64_t fill_of_devices_ = 0;
  GpuSegment last_;
  GpuWindow window_;
  PlainList<DeviceChange> changes_;
};

template <typename OnBegin>
int64_t DeviceTimeline::Open(int64_t begin_ns, int64_t end_ns, OnBegin on_begin) {
  size_t taken = 0;
  for (const DeviceWork* next = work_.Peek(); next != nullptr; next = work_.Peek()) {
    if (next->start_ns >= end_ns) break;
    if (++taken > kMostWork && next->start_ns > begin_ns) {
      end_ns = next->start_ns;
      break;
    }
    // Made where it stays: a copy of what was just put together from small pieces waits for them.
    GpuItem* const item = begins_.Add();
    if (const WorkFacts* const known = classifier_.Known(*next)) {
      new (item) GpuItem{*known, next->start_ns, next->end_ns};
    } else {  // and only then its device may be new
      new (item) GpuItem(classifier_.Classify(*next));
      if (place_[item->device] == kNotUsed) Meet(item->device);
    }
    on_begin(*next, *item);
    work_.Pop();
  }
  FindNext();
  return end_ns;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_DEVICE_TIMELINE_H_
