// SPDX-License-Identifier: Apache-2.0
//
// The sweep. Time that passes is booked when it has passed. One object, one caller.
#include "analysis/overlap_sweep.h"

#include <algorithm>

#include "analysis/caused_time.h"
#include "analysis/smi_model.h"

namespace gpubound {
namespace {

class Sweep {
 public:
  explicit Sweep(const SweepInput& input)
      : in_(input),
        timeline_(
            {input.process, input.source, input.roles, input.scan, input.peers, input.inherited}),
        devices_(*input.process, *input.source, input.span, *input.unknown),
        book_(&clock_, &devices_.clocks()),
        iterations_(input.span, input.roles->operations().size()),
        gaps_(devices_.clocks().size()),
        caused_(input.span, input.roles->operations().size()),
        smi_(input.span),
        now_ns_(input.span.begin_ns) {
    result_.works.resize(std::max<size_t>(input.process->works.size(), 1) + 1);
    on_begin_ = [this](const DeviceWork& work, const GpuItem& item) { NoteWork(work, item); };
    book_.SwitchTo(timeline_.state(), now_ns_);
    for (size_t lane = 0; lane < timeline_.lanes(); ++lane) {
      lanes_.emplace_back(&clock_, nullptr);
      lanes_[lane].SwitchTo(timeline_.LaneState(lane), now_ns_);
    }
  }

  SweepResult Run() {
    for (int64_t next_ns = NextTime(); next_ns != kOpenEnded; next_ns = NextTime()) {
      Pass(ClippedToSpan(next_ns));
      Step(next_ns);
    }
    Pass(in_.span.end_ns);
    return Finish();
  }

 private:
  int64_t NextTime() { return std::min(timeline_.NextTime(), devices_.NextTime()); }
  int64_t ClippedToSpan(int64_t time_ns) const {
    return std::clamp(time_ns, in_.span.begin_ns, in_.span.end_ns);
  }

  void Pass(int64_t until_ns) {
    const int64_t ns = until_ns - now_ns_;
    if (ns <= 0) return;
    if (now_ns_ == in_.span.begin_ns) BeginGaps();
    clock_.by_state[devices_.state()] += ns;
    clock_.sum_ns += devices_.running() * ns;
    clock_.filled += static_cast<FilledTime>(devices_.fill()) * static_cast<uint64_t>(ns);
    gaps_.Pass(timeline_.state().cause, ns);
    now_ns_ = until_ns;
  }

  // All that happens at the span's begin, or before it, has happened.
  void BeginGaps() {
    for (uint32_t device = 0; device < devices_.clocks().size(); ++device) {
      const DeviceClock& clock = devices_.clocks()[device];
      if (clock.state != DeviceState::kIdle) continue;
      gaps_.Begin(device, now_ns_, timeline_.state(), clock.last_work);
    }
  }

  // Brings both sides to the state that holds from |time_ns| on.
  void Step(int64_t time_ns) {
    devices_.MoveTo(time_ns, on_begin_);
    const CpuState before = timeline_.state();
    if (timeline_.NextTime() == time_ns) {
      timeline_.Advance();
      if (timeline_.state() != before) book_.SwitchTo(timeline_.state(), now_ns_);
      for (const uint32_t lane : timeline_.changed_lanes()) {
        lanes_[lane].SwitchTo(timeline_.LaneState(lane), now_ns_);
      }
      NoteWait(before);
      NoteIterations(time_ns);
      devices_.SetPaused(timeline_.paused(), now_ns_);
    }
    for (const DeviceTimeline::Change& change : devices_.changes()) NoteGap(change, before);
    devices_.ClearChanges();
    caused_.Settle(timeline_.calls());
  }

  void NoteWork(const DeviceWork& work, const GpuItem& item) {
    const CallNumber call = timeline_.WorkBegins(work);
    if (call == kNoCall) ++result_.work_without_launch;
    const Interval time{item.begin_ns, item.end_ns};
    caused_.Add(time, call);
    if (item.work_class != kCopy) smi_.Add(time);
    WorkCount& count = result_.works[std::min<size_t>(Raw(work.work), result_.works.size() - 1)];
    ++count.count;
    count.sum_ns += time.ClippedTo(in_.span).length();
    count.work_class = item.work_class;
  }

  void NoteGap(const DeviceTimeline::Change& change, const CpuState& before) {
    const DeviceClock& clock = devices_.clocks()[change.device];
    if (change.from == DeviceState::kIdle && devices_.used(change.device)) {
      gaps_.End(change.device, now_ns_, before, change.begun);
    }
    if (clock.state == DeviceState::kIdle) {
      gaps_.Begin(change.device, now_ns_, timeline_.state(), clock.last_work);
    }
  }

  void NoteWait(const CpuState& before) {
    const CpuState& now = timeline_.state();
    if (now.peer == before.peer && now.operation == before.operation) return;
    CloseWait();
    if (now.peer == kNotOne) return;
    wait_ = {now.peer, {now_ns_, now_ns_}, now.operation};
  }
  void CloseWait() {
    if (wait_.peer == kNotOne) return;
    wait_.time.end_ns = now_ns_;
    if (!wait_.time.empty()) result_.waits.push_back(wait_);
    wait_.peer = kNotOne;
  }

  void NoteIterations(int64_t time_ns) {
    const bool starts = in_.scan->any_operation && !started_ && time_ns >= in_.scan->started_ns;
    if (!starts && timeline_.steps().empty()) return;
    const std::vector<CellBook::Row>& rows = book_.RowsAt(now_ns_);
    const bool warm_up = in_.roles->IsWarmUp(timeline_.state().phase);
    if (starts) iterations_.Begin(now_ns_, warm_up, rows);
    started_ = true;  // a step before the first operation begins an iteration too
    if (time_ns > in_.span.end_ns) return;
    for (const uint64_t number : timeline_.steps()) {
      if (time_ns > in_.span.begin_ns) {
        iterations_.Step(number, now_ns_, warm_up, rows);
      } else {
        iterations_.Begin(now_ns_, warm_up, rows);
      }
    }
  }

  SweepResult Finish() {
    caused_.Settle(timeline_.calls());
    CloseWait();
    for (uint32_t device = 0; device < devices_.clocks().size(); ++device) {
      const bool used = devices_.used(device);
      result_.device_used.push_back(used);
      if (used) gaps_.End(device, in_.span.end_ns, timeline_.state(), WorkId{});
    }
    result_.rows = book_.RowsAt(now_ns_);
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      result_.lanes.push_back({timeline_.lane_thread(lane), lanes_[lane].RowsAt(now_ns_)});
    }
    result_.counts = timeline_.Finish();
    result_.caused_ns = caused_.caused_ns();
    result_.iterations = iterations_.Take();
    result_.gaps = gaps_.Take();
    result_.smi_model = smi_.Share();
    result_.fill_is_upper_bound = devices_.classifier().fill_is_upper_bound();
    result_.scopes_open_at_end = timeline_.scopes_open_at_end();
    result_.unbalanced_scopes = timeline_.unbalanced_scopes();
    return std::move(result_);
  }

  const SweepInput& in_;
  ProcessTimeline timeline_;
  DeviceTimeline devices_;
  DeviceTimeline::OnBegin on_begin_;
  GpuClock clock_;
  CellBook book_;
  std::vector<CellBook> lanes_;
  IterationBook iterations_;
  IdleGaps gaps_;
  CausedTime caused_;
  SmiModel smi_;
  PeerWait wait_;
  bool started_ = false;
  int64_t now_ns_;  // in the span
  SweepResult result_;
};

}  // namespace

SweepResult SweepOverlap(const SweepInput& input) { return Sweep(input).Run(); }

}  // namespace gpubound
