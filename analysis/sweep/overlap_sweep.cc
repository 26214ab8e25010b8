// SPDX-License-Identifier: Apache-2.0
//
// The sweep. Time that passes is booked when it has passed. One object, one caller.
#include "analysis/sweep/overlap_sweep.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "analysis/base/spill_file.h"
#include "analysis/sweep/caused_time.h"
#include "analysis/sweep/finished_waits.h"
#include "analysis/sweep/lane_books.h"
#include "analysis/sweep/node_operations.h"
#include "analysis/sweep/stream_waits.h"
#include "analysis/timeline/smi_model.h"
#include "proto/step_range.h"

namespace gpubound {
namespace {

class Sweep {
 public:
  explicit Sweep(const SweepInput& input)
      : in_(input),
        all_(input.everything),
        timeline_(
            {input.process, input.source, input.roles, input.scan, input.peers, input.inherited}),
        activity_(std::make_shared<DeviceActivity>(SpillFolder())),
        devices_({input.process, input.source, input.span, input.unknown, activity_.get()}),
        book_(input.span.begin_ns, timeline_.state(), CellBook::Devices::kEach),
        lanes_(timeline_, input.process->python, input.span.begin_ns),
        iterations_(input.span, input.roles->operations().size(),
                    input.process->first_iteration_counts),
        gaps_(devices_.devices().size()),
        queued_(devices_.devices().size(), input.span, DoingOf(timeline_.state())),
        stream_waits_(*input.process, input.source->Syncs()),
        nodes_(*input.process, *input.roles),
        waits_(*input.process, input.source->Syncs()),
        caused_(input.span, input.roles->operations().size()),
        kernels_(*input.process, input.span),
        ops_(*input.process, input.span),
        launches_(*input.process, input.roles->operations().size()),
        smi_(input.span),
        cpu_(input.span),
        stacks_(input.span, input.scan->started_ns),
        counters_(input.process->counters, input.span.begin_ns, timeline_.state().operation),
        waits_or_counts_(!input.peers->empty() || !input.process->counters.empty()) {
    TakeState(timeline_.state());
    gaps_.SwitchTo(doing_.cause(), input.span.begin_ns);
  }

  // False: |bytes| are no state of this process.
  bool Resume(std::string_view bytes) {
    StateArchive archive(bytes);
    Visit(archive);
    return archive.done();
  }

  SweepStop RunUntil(int64_t until_ns) {
    RunWindows(until_ns);
    timeline_.TakeUntil(until_ns);
    stream_waits_.TakeUntil(until_ns);
    SweepStop stop;
    stop.waits = std::move(result_.waits);
    stop.last_wait_goes_on = wait_.peer != kNotOne;
    if (stop.last_wait_goes_on) {
      stop.waits.push_back(wait_);
      stop.waits.back().time.end_ns = Clipped(until_ns);  // nobody waits beyond its end
    }
    const IterationTimes& times = iterations_.times();
    stop.warm_up = WarmUpOf(times);
    if (stop.warm_up) stop.boundaries_ns = {stop.warm_up->begin_ns, stop.warm_up->end_ns};
    if (!times.steady.empty()) stop.boundaries_ns.push_back(times.steady.back().time.end_ns);
    stop.steady = times.steady;
    if (iterations_.begun_ns()) stop.boundaries_ns.push_back(*iterations_.begun_ns());
    counters_.SwitchTo(doing_.operation(), Clipped(until_ns));
    StateArchive archive;
    Visit(archive);
    stop.state = archive.Take();
    stop.activity = FinishActivity();
    stop.pauses = devices_.pauses();
    return stop;
  }

  SweepResult Run() {
    RunWindows(kOpenEnded);
    if (all_ && !gaps_begun_) BeginGaps();
    devices_.Run(in_.span.end_ns, in_.span.end_ns, timeline_.paused());
    OpenBooks(in_.span.end_ns);
    BookAllUntil(in_.span.end_ns);
    return Finish();
  }

 private:
  int64_t NextTime() { return std::min(timeline_.NextTime(), devices_.NextTime()); }
  int64_t Clipped(int64_t time_ns) const {
    return std::clamp(time_ns, in_.span.begin_ns, in_.span.end_ns);
  }

  void RunWindows(int64_t until_ns) {
    for (int64_t begin_ns = NextTime(); begin_ns < until_ns; begin_ns = NextTime()) {
      RunWindow(begin_ns, until_ns);
    }
  }

  // From |begin_ns| on, as far as one window goes: take up what will happen, let both sides follow
  // their part of it, then bring the two together.
  void RunWindow(int64_t begin_ns, int64_t until_ns) {
    // What happens at the span's begin, or before it, is a window of its own.
    const bool before_span = begin_ns <= in_.span.begin_ns;
    if (all_ && !before_span && !gaps_begun_) BeginGaps();
    if (before_span) until_ns = std::min(until_ns, in_.span.begin_ns + 1);
    int64_t end_ns = timeline_.Open(begin_ns, until_ns);
    end_ns = devices_.Open(begin_ns, end_ns, [this](const DeviceWork& work, const GpuItem& item) {
      NoteWork(work, item);
    });
    timeline_.Run(begin_ns, end_ns);
    devices_.Run(begin_ns, end_ns, timeline_.paused());
    OpenBooks(Clipped(end_ns));
    BookProcess(begin_ns);
    if (all_) lanes_.BookWindow(Clipped(begin_ns), in_.span);
    SplitCpuTimes(begin_ns, end_ns);
    for (const StackLooks& seen : timeline_.seen_stacks()) stacks_.Add(seen);
    stacks_.Follow(timeline_.doing_at_begin(), begin_ns, timeline_.changes(), end_ns);
    BookAllUntil(Clipped(end_ns));
    queued_.TakeWindow(begin_ns, timeline_.doing_at_begin(), timeline_.changes(),
                       devices_.changes(), [this](IdleCause cause) { iterations_.EndGap(cause); });
    if (all_) {
      NoteGaps(begin_ns);
    } else if (waits_or_counts_) {
      NoteWaits(begin_ns);
    }
    SettleCauses();
  }

  void OpenBooks(int64_t end_ns) {
    smi_.Add(devices_.window(), end_ns);
    book_.OpenWindow(devices_.window());
    if (all_) lanes_.OpenWindow(devices_.window());
  }
  void BookAllUntil(int64_t now_ns) {
    book_.BookUntil(now_ns);
    if (all_) lanes_.BookUntil(now_ns);
  }

  void BookProcess(int64_t begin_ns) {
    const int64_t at_ns = Clipped(begin_ns);
    book_.SwitchTo(timeline_.state_at_begin(), at_ns);
    NoteIterations(begin_ns);
    book_.SwitchAll(std::span(timeline_.changes()), timeline_.phase(), in_.span,
                    [](const Doing& doing) { return doing; });
  }

  // Of the reporting thread, whose time is that of the process, and of those with rows of their own.
  void SplitCpuTimes(int64_t begin_ns, int64_t end_ns) {
    for (const ThreadCpuTime& taken : timeline_.cpu_times()) {
      const bool reports = taken.thread == in_.scan->reporting;
      if (!reports && (!all_ || timeline_.LaneOf(taken.thread) == kNotOne)) continue;
      cpu_.Add(taken.thread, taken.time);
    }
    const auto of_process = [](const Doing& doing) { return doing.operation(); };
    const auto of_lane = [in_lane = timeline_.InLane()](const Doing& doing) {
      return in_lane(doing).operation();
    };
    for (const uint32_t thread : cpu_.open()) {
      if (thread == in_.scan->reporting) {
        cpu_.Follow(thread, timeline_.doing_at_begin().operation(), begin_ns, timeline_.changes(),
                    end_ns, of_process);
        continue;
      }
      const uint32_t lane = timeline_.LaneOf(thread);
      std::span<const ThreadChange> changes;
      if (timeline_.IsLaneAwake(lane)) changes = timeline_.LaneChanges(lane);
      cpu_.Follow(thread, of_lane(timeline_.LaneDoing(lane)), begin_ns, changes, end_ns, of_lane);
    }
    cpu_.CloseShared();
  }

  void NoteWork(const DeviceWork& work, const GpuItem& item) {
    const CallNumber call = timeline_.WorkBegins(work);
    if (!item.other_end) NoteLaunch(work, call);
    NoteQueued(work, item, call);
    launches_.Add(work, call, item.other_end ? nullptr : timeline_.calls().At(call));
    caused_.Add(item, call, nodes_.Of(work.graph_node));
  }

  void NoteLaunch(const DeviceWork& work, CallNumber number) {
    if (number == kNoCall) ++result_.work_without_launch;
    const IndexedCall* call = timeline_.calls().At(number);
    if (call == nullptr) return;
    NoteMisplaced(call->start_ns - work.start_ns, &result_.early_work);
    NoteMisplaced(waits_.LateBy(work, call->end_ns), &result_.late_work);
  }
  void NoteQueued(const DeviceWork& work, const GpuItem& item, CallNumber number) {
    const IndexedCall* call = timeline_.calls().At(number);
    if (call != nullptr) {
      const bool waits = stream_waits_.IsFirstAfterWait(work, call->start_ns);
      return queued_.Add(item, call->end_ns, waits);
    }
    const bool before_all = number == kNoCall && timeline_.calls().PrecedesAll(work);
    queued_.Add(item, before_all ? kLaunchedBeforeAll : kNeverLaunched, false);
  }
  static void NoteMisplaced(int64_t by_ns, MisplacedWork* misplaced) {
    if (by_ns <= kClockToleranceNs) return;
    ++misplaced->count;
    misplaced->most_ns = std::max(misplaced->most_ns, by_ns);
  }

  void SettleCauses() {
    const auto book = [this](const GpuItem& item, OperationIndex operation,
                             OperationIndex launched) {
      if (all_ || item.is_graph) kernels_.Add(item, operation);
      if (all_) ops_.Add(item);
      launches_.Attribute(launched);
    };
    caused_.Settle(&timeline_.calls(), book);
  }

  // All that happens at the span's begin, or before it, has happened.
  void BeginGaps() {
    gaps_begun_ = true;
    for (uint32_t device = 0; device < devices_.devices().size(); ++device) {
      const DeviceTimeline::Device& now = devices_.devices()[device];
      if (now.state != DeviceState::kIdle) continue;
      gaps_.Begin(device, in_.span.begin_ns, State(), now.last_work);
    }
  }

  // Goes through the changes of both sides. At the instant of a device's change the CPU side was as
  // |before| says and is as State() does.
  void NoteGaps(int64_t begin_ns) {
    CpuState before = State();
    int64_t state_ns = begin_ns;
    phase_ = timeline_.phase();
    MoveTo({begin_ns, timeline_.doing_at_begin()});
    const PlainList<ThreadChange>& changes = timeline_.changes();
    const ThreadChange* next = changes.begin();
    const ThreadChange* const end = changes.end();
    const PlainList<DeviceChange>& device_changes = devices_.changes();
    for (size_t at = 0; at < device_changes.size(); ++at) {
      const DeviceChange& device = device_changes[at];
      if (at + 1 < device_changes.size() && IsShortGap(device, device_changes[at + 1])) {
        ++at;
        continue;
      }
      for (; next != end && next->time_ns <= device.time_ns; ++next) {
        if (next + 1 == end || next[1].time_ns > device.time_ns) before = State();
        state_ns = next->time_ns;
        MoveTo(*next);
      }
      NoteGap(device, device.time_ns == state_ns ? before : State(), queued_.causes()[at]);
    }
    for (; next != end; ++next) MoveTo(*next);
  }

  // The same without gaps. Without counters, windows in which it waits for nobody are passed over.
  void NoteWaits(int64_t begin_ns) {
    phase_ = timeline_.phase();
    const std::span changes = timeline_.changes();
    const auto waits = [](const ThreadChange& change) { return change.doing.HasPeer(); };
    if (in_.process->counters.empty() && !doing_.HasPeer() &&
        !timeline_.doing_at_begin().HasPeer() &&
        std::none_of(changes.begin(), changes.end(), waits)) {
      doing_ = changes.empty() ? timeline_.doing_at_begin() : changes.back().doing;
      return;
    }
    MoveTo({begin_ns, timeline_.doing_at_begin()});
    for (const ThreadChange& change : changes) MoveTo(change);
  }

  // Nearly all are.
  bool IsShortGap(const DeviceChange& begin, const DeviceChange& end) const {
    if (begin.to != DeviceState::kIdle || end.device != begin.device) return false;
    return !gaps_.Matters(end.device, Clipped(end.time_ns) - Clipped(begin.time_ns));
  }

  void NoteGap(const DeviceChange& change, const CpuState& before, IdleCause cause) {
    const int64_t now_ns = Clipped(change.time_ns);
    if (change.from == DeviceState::kIdle) {
      gaps_.End(change.device, now_ns, before, change.begun, cause);
    }
    if (change.to == DeviceState::kIdle) {
      gaps_.Begin(change.device, now_ns, State(), change.last_work);
    }
  }

  CpuState State() const { return CpuStateOf(phase_, doing_); }
  void TakeState(const CpuState& state) {
    phase_ = state.phase;
    doing_ = DoingOf(state);
  }
  void MoveTo(const ThreadChange& change) {
    const Doing& now = change.doing;
    const int64_t now_ns = Clipped(change.time_ns);
    if (change.time_ns >= in_.span.end_ns) gaps_.EndSpan(in_.span.end_ns, State());
    if (!now.IsSameWait(doing_)) {
      NoteWait(now, now_ns);
      if (now.operation() != doing_.operation()) counters_.SwitchTo(now.operation(), now_ns);
    }
    if (now.cause() != doing_.cause()) gaps_.SwitchTo(now.cause(), now_ns);
    doing_ = now;
  }

  // It is another one from |now_ns| on.
  void NoteWait(const Doing& now, int64_t now_ns) {
    CloseWait(now_ns);
    if (now.peer() == kNotOne) return;
    wait_ = {now.peer(), now.operation(), {now_ns, now_ns}};
  }
  void CloseWait(int64_t now_ns) {
    if (wait_.peer == kNotOne) return;
    wait_.time.end_ns = now_ns;
    if (!wait_.time.empty()) result_.waits.push_back(wait_);
    wait_.peer = kNotOne;
  }

  void NoteIterations(int64_t time_ns) {
    const bool starts = in_.scan->any_operation && !started_ && time_ns >= in_.scan->started_ns;
    if (!starts && timeline_.steps().empty()) return;
    const int64_t now_ns = Clipped(time_ns);
    book_.BookUntil(now_ns);
    const bool warm_up = in_.roles->IsWarmUp(timeline_.phase());
    if (starts) {
      queued_.TakePart(now_ns);
      iterations_.Begin(now_ns, warm_up, &book_);
    }
    started_ = true;  // a step before the first operation begins an iteration too
    if (time_ns > in_.span.end_ns) return;
    bool begun = time_ns > in_.span.begin_ns && !starts;
    for (const uint64_t number : timeline_.steps()) {
      // What ends before the first that was asked for begins that one: clocks that are a little
      // apart put some of it into the span.
      const bool begins = number == kIterationsBegin || number < first_wanted_;
      // What begins with the span or with the first operation has nothing behind it to end.
      if (begun && !begins) {
        iterations_.Step(number, now_ns, warm_up, queued_.TakePart(now_ns), &book_);
      } else {
        queued_.TakePart(now_ns);
        iterations_.Begin(now_ns, warm_up, &book_);
      }
      begun |= begins;
    }
  }

  SweepResult Finish() {
    SettleCauses();
    CloseWait(in_.span.end_ns);
    for (uint32_t device = 0; device < devices_.devices().size(); ++device) {
      result_.device_used.push_back(devices_.devices()[device].used);
      result_.device_ran_graph.push_back(devices_.devices()[device].ran_graph);
      if (all_) gaps_.End(device, in_.span.end_ns, State(), WorkId{}, IdleCause::kUnknown);
    }
    result_.pauses = devices_.pauses();
    result_.rows = book_.Rows();
    for (CellBook::Row& row : result_.rows) PutByDevice(&row);
    for (size_t lane = 0; all_ && lane < timeline_.lanes(); ++lane) {
      const uint32_t thread = timeline_.lane_thread(lane);
      result_.lanes.push_back({thread, !in_.scan->own[thread], lanes_.Rows(lane),
                               timeline_.lane_scopes(lane), cpu_.Take(thread)});
    }
    result_.counts = timeline_.Finish();
    result_.cpu = cpu_.Take(in_.scan->reporting);
    result_.stacks = stacks_.Take();
    result_.total_cpu_time = timeline_.total_cpu_time();
    result_.caused_ns = caused_.caused_ns();
    result_.iterations = iterations_.Take();
    if (all_) {
      result_.gaps = gaps_.Take(result_.device_used);
      result_.marked_gaps = gaps_.TakeMarked(result_.device_used);
    }
    result_.queued = queued_.Take();
    result_.kernels = kernels_.Take();
    result_.ops = ops_.Take();
    result_.launches = launches_.times();
    result_.activity = FinishActivity();
    result_.smi_model = smi_.Share();
    result_.most_smi_model = smi_.MostShare();
    result_.counters = counters_.Finish(in_.span.end_ns, in_.roles->operations().size());
    result_.fill_is_upper_bound = devices_.classifier().fill_is_upper_bound();
    result_.mixed_graphs = devices_.classifier().mixed_graphs();
    result_.doubtful_scopes = timeline_.doubtful_scopes();
    result_.launches_unanswered = timeline_.calls().AwaitsAny();
    return std::move(result_);
  }

  std::shared_ptr<const DeviceActivity> FinishActivity() {
    for (uint32_t device = 0; device < devices_.devices().size(); ++device) {
      if (devices_.devices()[device].used) activity_->Use(device);
    }
    activity_->Finish();
    return activity_;
  }

  void Visit(StateArchive& archive) {
    archive.SetLimits(in_.roles->operations().size(), in_.roles->phases().size());
    archive.All(timeline_, devices_);
    TakeState(timeline_.state());
    book_.Visit(archive, timeline_.state());
    if (book_.devices() > devices_.devices_used().size()) archive.Fail();
    archive.All(lanes_);
    archive.All(iterations_, gaps_, caused_, smi_, gaps_begun_, started_);
    queued_.Visit(archive, doing_);
    archive.All(stream_waits_, launches_, cpu_, stacks_);
    counters_.Visit(archive, doing_.operation());
    // The wait that is not over is that of the state.
    archive.All(wait_.time.begin_ns);
    wait_.peer = doing_.peer();
    wait_.operation = doing_.operation();
    archive.All(kernels_, ops_, result_.work_without_launch, result_.early_work, result_.late_work);
  }

  // The book numbers devices by first use, a result by id.
  void PutByDevice(CellBook::Row* row) const {
    std::vector<int64_t> busy_ns(devices_.devices().size());
    std::vector<int64_t> unknown_ns(devices_.devices().size());
    for (size_t i = 0; i < devices_.devices_used().size(); ++i) {
      busy_ns[devices_.devices_used()[i]] = row->busy_ns[i];
      unknown_ns[devices_.devices_used()[i]] = row->unknown_ns[i];
    }
    row->busy_ns = std::move(busy_ns);
    row->unknown_ns = std::move(unknown_ns);
  }

  const SweepInput& in_;
  const bool all_;  // not the breakdown alone
  const uint64_t first_wanted_ = ParseStepRange(in_.process->steps).value_or(StepRange{}).begin;
  ProcessTimeline timeline_;
  const std::shared_ptr<DeviceActivity> activity_;
  DeviceTimeline devices_;
  PhaseIndex phase_ = kNoPhaseIndex;  // that NoteGaps() has come to
  Doing doing_;                       // likewise
  CellBook book_;
  LaneBooks lanes_;
  IterationBook iterations_;
  IdleGaps gaps_;
  QueuedTime queued_;
  StreamWaits stream_waits_;
  const NodeOperations nodes_;
  FinishedWaits waits_;
  CausedTime caused_;
  KernelBook kernels_;
  OpBook ops_;
  LaunchStats launches_;
  SmiModel smi_;
  CpuSplitter cpu_;
  StackBook stacks_;
  CounterBook counters_;
  PeerWait wait_;
  const bool waits_or_counts_;
  bool gaps_begun_ = false;
  bool started_ = false;
  SweepResult result_;
};

Error NoState(const SweepInput& input) {
  return {
      "resuming the sums",
      input.process->identity.host + " pid " + std::to_string(input.process->identity.pid),
      "bytes that do not fit this process", "the state that gpubound compact wrote",
      "Put back the run's sums.gpubound; without it only the detail that is left can be shown."};
}

}  // namespace

Result<SweepResult> SweepOverlap(const SweepInput& input) {
  Sweep sweep(input);
  if (!input.before.empty() && !sweep.Resume(input.before)) return NoState(input);
  return sweep.Run();
}

Result<SweepStop> SweepUntil(const SweepInput& input, int64_t until_ns) {
  Sweep sweep(input);
  if (!input.before.empty() && !sweep.Resume(input.before)) return NoState(input);
  return sweep.RunUntil(until_ns);
}

}  // namespace gpubound
