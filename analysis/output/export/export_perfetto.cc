// SPDX-License-Identifier: Apache-2.0
//
// Writes Perfetto traces. One object, one thread.
#include "analysis/output/export/export_perfetto.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/output/export/iteration_marks.h"
#include "analysis/output/export/perfetto_lanes.h"
#include "analysis/output/export/perfetto_packets.h"
#include "analysis/output/export/thread_merge.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/run_frame.h"
#include "analysis/timeline/launch_match.h"
#include "analysis/trace/known_graphs.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

// Perfetto's trace processor takes a greater pid or tid for a negative one, and for a thread more.
constexpr int64_t kGreatestId = std::numeric_limits<int32_t>::max();

// Details of slices that are shorter than what they stand for.
constexpr char kBeginCut[] = "begin_cut";
constexpr char kEndCut[] = "end_cut";

const char* CategoryOf(const Label& label) {
  switch (label.kind) {
    case LabelKind::kOperation:
      return "operation";
    case LabelKind::kAnnotation:
      return "annotation";
    case LabelKind::kLayer:
      return LayerName(label.layer);
    default:
      return "scope";
  }
}

std::string Extent(const uint32_t (&axes)[3]) {
  return std::to_string(axes[0]) + "x" + std::to_string(axes[1]) + "x" + std::to_string(axes[2]);
}

class ProcessWriter {
 public:
  // |first_flow|: flows of this process have greater numbers. |pid_is_taken|: by another process
  // of the trace, and a viewer would take the two for one.
  ProcessWriter(const ProcessTrace& trace, bool pid_is_taken, uint64_t first_flow,
                PerfettoPackets* packets)
      : trace_(trace),
        classes_(trace),
        source_(SourceOf(trace)),
        first_flow_(first_flow),
        packets_(*packets) {
    const int64_t pid = trace.identity.pid;
    own_pid_ = pid > 0 && pid <= kGreatestId && !pid_is_taken;
    process_ =
        own_pid_ ? packets_.AddProcess(pid, trace.name, trace.command)
                 : packets_.AddTrack(PerfettoTrack{}, trace.name + " (pid " + std::to_string(pid) +
                                                          " on " + trace.identity.host + ")");
    for (const ThreadTrace& thread : trace.threads) {
      threads_.emplace_back().track = AddThread(thread);
    }
  }

  void Write() {
    WriteWork();
    WriteCalls();
    WriteThreads();
    WriteUtilization();
  }

  uint64_t last_flow() const { return first_flow_ + calls_; }

 private:
  struct Thread {
    PerfettoTrack track{};
    std::vector<LabelId> open;  // outermost first
    std::optional<PerfettoLanes> calls;
    std::optional<PerfettoTrack> iterations;
    int64_t last_ns = 0;  // of its last event
  };

  PerfettoTrack AddThread(const ThreadTrace& thread) {
    // An importer makes up a greater id for a thread that has none.
    const bool made_up = thread.tid > kGreatestId;
    if (own_pid_ && !made_up) {
      return packets_.AddThread(process_, trace_.identity.pid, thread.tid, thread.name);
    }
    const std::string number = "thread " + std::to_string(thread.tid);
    if (!made_up) return packets_.AddTrack(process_, number + " " + thread.name);
    return packets_.AddTrack(process_, thread.name.empty() ? number : thread.name);
  }

  // Lanes below |parent|, all called |name|.
  PerfettoLanes LanesBelow(PerfettoTrack parent, const std::string& name) {
    return PerfettoLanes([this, parent, name] { return packets_.AddTrack(parent, name); });
  }

  void WriteWork() {
    std::map<uint32_t, PerfettoTrack> devices;  // by DeviceId
    std::map<uint32_t, PerfettoLanes> streams;  // by StreamId
    LaunchMatch match(*source_);
    LaunchMatch::Launched next;
    while (match.Next(&next)) {
      const DeviceWork& item = next.work;
      auto lanes = streams.find(Raw(item.stream));
      if (lanes == streams.end()) {
        const Stream& stream = trace_.StreamOf(item.stream);
        const auto [device, added] = devices.try_emplace(Raw(stream.device));
        const Device& row = trace_.DeviceOf(stream.device);
        if (added) {
          device->second =
              packets_.AddTrack(process_, "GPU " + std::to_string(row.info.index) + " " + row.name);
        }
        const std::string name = "stream " + std::to_string(stream.stream) + " (context " +
                                 std::to_string(stream.context) + ")";
        lanes = streams.emplace(Raw(item.stream), LanesBelow(device->second, name)).first;
      }
      if (next.call != nullptr) {
        launches_.resize(std::max<size_t>(launches_.size(), next.number + 1));
        launches_[next.number] = true;
      }
      const PerfettoTrack track = lanes->second.Take(item.start_ns, item.end_ns);
      PutWork(track, item, next.call != nullptr ? first_flow_ + next.number + 1 : 0);
    }
  }

  void PutWork(PerfettoTrack track, const DeviceWork& item, uint64_t flow) {
    const Work& work = trace_.WorkOf(item.work);
    const bool is_kernel = work.info.kind == WorkKind::kKernel;
    const std::string grid = is_kernel ? Extent(work.info.grid) : "";
    const std::string block = is_kernel ? Extent(work.info.block) : "";
    std::vector<PerfettoDetail> details = {{"correlation", item.correlation}};
    if (item.bytes != 0) details.push_back({"bytes", item.bytes});
    if (is_kernel) details.push_back({"grid", 0, grid});
    if (is_kernel) details.push_back({"block", 0, block});
    packets_.Begin(track, item.start_ns, WorkClassName(classes_.Of(item)), work.name, flow,
                   details);
    packets_.End(track, item.end_ns);
  }

  void WriteCalls() {
    for (RecordStream<ThreadCall> calls(source_->Calls()); calls.Peek() != nullptr; calls.Pop()) {
      const ThreadCall& next = *calls.Peek();
      Thread& thread = ThreadAt(next.thread);
      if (!thread.calls) thread.calls = LanesBelow(thread.track, "CUDA API");
      const PerfettoTrack track = thread.calls->Take(next.call.start_ns, next.call.end_ns);
      const bool launches = calls_ < launches_.size() && launches_[calls_];
      ++calls_;
      packets_.Begin(track, next.call.start_ns, "cuda_api", trace_.LabelOf(next.call.label).text,
                     launches ? first_flow_ + calls_ : 0, {{"correlation", next.call.correlation}});
      packets_.End(track, next.call.end_ns);
    }
  }

  // Threads that the trace has no row for come after the others: they only called CUDA.
  Thread& ThreadAt(uint32_t index) {
    while (threads_.size() <= index) {
      ThreadTrace thread;
      thread.tid = source_->FurtherThreads().at(threads_.size() - trace_.threads.size());
      threads_.emplace_back().track = AddThread(thread);
    }
    return threads_[index];
  }

  void WriteThreads() {
    const auto threads = static_cast<uint32_t>(trace_.threads.size());
    ThreadMerge merge(*source_, threads);
    ThreadMerge::Event next;
    while (merge.Next(&next)) {
      Thread& thread = threads_[next.thread];
      if (next.missing) Resync(next.thread, next);
      WriteEvent(next.thread, next.event);
      thread.last_ns = next.event.time_ns;
    }
    for (uint32_t t = 0; t < threads; ++t) {
      const bool tail_is_there = !trace_.threads[t].tail_thinned;
      if (!tail_is_there) CutRanges(t, /*thinned=*/true);
      // Where a span was to end, what follows it begins behind it.
      const int64_t last_ns = threads_[t].last_ns;
      CutDownTo(&threads_[t], tail_is_there ? std::max(trace_.span_end_ns, last_ns) : last_ns, 0);
    }
    for (const auto& [id, range] : ranges_) {
      WriteRange(range, range.known_until_ns.value_or(trace_.span_end_ns), /*cut=*/true);
    }
    EndPhase(trace_.span_end_ns);
  }

  void WriteEvent(uint32_t index, const ThreadEvent& event) {
    Thread& thread = threads_[index];
    const Label& label = trace_.LabelOf(event.label);
    if (const auto iteration = marks_.Take(trace_, index, event)) {
      PutIteration(&thread, *iteration, event.payload);
    }
    switch (event.kind) {
      case SlotKind::kBegin:
        Open(&thread, event.time_ns, event.label);
        break;
      case SlotKind::kEnd:
        EndScope(&thread, event);
        break;
      case SlotKind::kRangeStart:
        if (label.kind != LabelKind::kApi) ranges_[event.payload] = {index, event, std::nullopt};
        break;
      case SlotKind::kRangeEnd:
        if (const auto range = ranges_.find(event.payload); range != ranges_.end()) {
          WriteRange(range->second, event.time_ns, /*cut=*/false);
          ranges_.erase(range);
        }
        break;
      case SlotKind::kPhase:
        if (!phases_) phases_ = packets_.AddTrack(process_, "phases");
        EndPhase(event.time_ns);
        packets_.Begin(*phases_, event.time_ns, "phase", label.text);
        phase_ = Range{index, event, std::nullopt};
        break;
      case SlotKind::kMark:
        packets_.Instant(thread.track, event.time_ns, "mark", label.text);
        break;
      case SlotKind::kCounter:
        packets_.Value(CounterCalled(label.text), event.time_ns,
                       std::bit_cast<double>(event.payload));
        break;
      default:
        break;
    }
  }

  void PutIteration(Thread* thread, const Interval& time, uint64_t number) {
    if (!thread->iterations) {
      thread->iterations = packets_.AddTrack(thread->track, "iterations");
    }
    packets_.Begin(*thread->iterations, time.begin_ns, "iteration", "iteration", 0,
                   {{"number", number}});
    packets_.End(*thread->iterations, time.end_ns);
  }

  void Open(Thread* thread, int64_t time_ns, LabelId id,
            const std::vector<PerfettoDetail>& details = {}) {
    const Label& label = trace_.LabelOf(id);
    if (label.kind == LabelKind::kApi) return;  // of an importer; the call itself is written too
    packets_.Begin(thread->track, time_ns, CategoryOf(label), label.text, 0, details);
    thread->open.push_back(id);
  }

  // Closes all down to |kept|, outermost first.
  void CloseDownTo(Thread* thread, int64_t time_ns, size_t kept,
                   const std::vector<PerfettoDetail>& details = {}) {
    for (; thread->open.size() > kept; thread->open.pop_back()) {
      packets_.End(thread->track, time_ns, details);
    }
  }
  // Likewise of scopes that did not end there as far as is known.
  void CutDownTo(Thread* thread, int64_t time_ns, size_t kept) {
    CloseDownTo(thread, time_ns, kept, {{kEndCut, 1}});
  }

  // A scope that ends before those inside it: slices nest, so theirs are cut in two.
  void EndScope(Thread* thread, const ThreadEvent& event) {
    const auto found = std::find(thread->open.rbegin(), thread->open.rend(), event.label);
    if (found == thread->open.rend()) return;
    const std::vector<LabelId> inside(found.base(), thread->open.end());
    CloseDownTo(thread, event.time_ns, thread->open.size() - inside.size() - 1);
    for (const LabelId label : inside) Open(thread, event.time_ns, label);
  }

  // Events are missing before |next|. What was open may have ended meanwhile, and what is open now
  // may be another one of its name.
  void Resync(uint32_t index, const ThreadMerge::Event& next) {
    Thread& thread = threads_[index];
    CutRanges(index, next.thinned);
    CutDownTo(&thread, next.known_until_ns, 0);
    for (const LabelId label : next.open) {
      Open(&thread, next.event.time_ns, label, {{kBeginCut, 1}});
    }
    if (next.thinned) marks_.Thin(index);
  }

  struct Range {
    uint32_t thread = 0;
    ThreadEvent event;
    std::optional<int64_t> known_until_ns;  // events of the thread are missing from then on
  };

  // Events of the thread are missing from its last one on. A phase survives the loss of a few.
  void CutRanges(uint32_t index, bool thinned) {
    const auto cut = [&](Range* range) {
      if (range->thread != index || range->known_until_ns) return;
      range->known_until_ns = std::max(range->event.time_ns, threads_[index].last_ns);
    };
    for (auto& [id, range] : ranges_) cut(&range);
    if (phase_ && thinned) cut(&*phase_);
  }

  // At |time_ns| another one begins, or the process ends.
  void EndPhase(int64_t time_ns) {
    if (!phase_) return;
    if (phase_->known_until_ns) {
      packets_.End(*phases_, *phase_->known_until_ns, {{kEndCut, 1}});
    } else {
      packets_.End(*phases_, std::max(phase_->event.time_ns, time_ns));
    }
    phase_.reset();
  }

  // Ranges are written when they end, not by begin as PerfettoLanes wants it: one goes to a track
  // on which everything ended before it began.
  void WriteRange(const Range& range, int64_t end_ns, bool cut) {
    end_ns = std::max(end_ns, range.event.time_ns);
    Thread& thread = threads_[range.thread];
    const Label& label = trace_.LabelOf(range.event.label);
    auto& lanes = range_lanes_[range.thread];
    auto free = std::find_if(lanes.begin(), lanes.end(), [&range](const auto& lane) {
      return lane.second <= range.event.time_ns;
    });
    if (free == lanes.end()) {
      free = lanes.insert(lanes.end(), {packets_.AddTrack(thread.track, "ranges"), 0});
    }
    packets_.Begin(free->first, range.event.time_ns, CategoryOf(label), label.text);
    if (cut) {
      packets_.End(free->first, end_ns, {{kEndCut, 1}});
    } else {
      packets_.End(free->first, end_ns);
    }
    free->second = end_ns;
  }

  PerfettoTrack CounterCalled(const std::string& name) {
    const auto [entry, added] = counters_.try_emplace(name);
    if (added) entry->second = packets_.AddCounter(process_, name);
    return entry->second;
  }

  void WriteUtilization() {
    for (const DeviceSample& sample : trace_.utilization) {
      if (sample.sample.gpu_percent == kNotKnown) continue;
      packets_.Value(CounterCalled("nvidia-smi utilisation % of " + sample.uuid),
                     sample.sample.time_ns, sample.sample.gpu_percent);
    }
  }

  const ProcessTrace& trace_;
  const WorkClasses classes_;
  const std::shared_ptr<const EventSource> source_;
  const uint64_t first_flow_;
  PerfettoPackets& packets_;
  bool own_pid_ = false;
  PerfettoTrack process_{};
  std::vector<Thread> threads_;
  IterationMarks marks_;
  std::vector<bool> launches_;                  // by CallNumber: some work of it is in the trace
  uint64_t calls_ = 0;                          // written so far
  std::unordered_map<uint64_t, Range> ranges_;  // open ones, by id
  std::map<uint32_t, std::vector<std::pair<PerfettoTrack, int64_t>>> range_lanes_;
  std::map<std::string, PerfettoTrack> counters_;
  std::optional<PerfettoTrack> phases_;
  std::optional<Range> phase_;
};

}  // namespace

void WritePerfettoTrace(const Run& run, OutputFile* file) {
  const bool empty = run.processes.empty();
  const int64_t monotonic_ns = empty ? 0 : run.processes.front().span_begin_ns;
  const int64_t realtime_ns = empty ? 0 : run.processes.front().identity.start_realtime_ns;
  std::vector<int64_t> offsets_ns;
  if (!empty) offsets_ns = AlignClocks(run, FrameOf(run).host).offset_ns;
  // Perfetto has no time below 0, which a host may have begun at before the first process's.
  int64_t first_ns = 0;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    first_ns = std::min(first_ns, run.processes[p].span_begin_ns + offsets_ns[p]);
  }
  PerfettoPackets packets(file, monotonic_ns - first_ns, realtime_ns);
  std::set<int64_t> pids;
  uint64_t flow = 0;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    packets.SetOffset(offsets_ns[p] - first_ns);
    const bool taken = !pids.insert(process.identity.pid).second;
    ProcessWriter writer(process, taken, flow, &packets);
    writer.Write();
    flow = writer.last_flow();
  }
}

}  // namespace gpubound
