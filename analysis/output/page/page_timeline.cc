// SPDX-License-Identifier: Apache-2.0
//
// Follows the streams of each process and fills its tracks. No state.
#include "analysis/output/page/page_timeline.h"

#include <algorithm>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>

#include "analysis/base/demangle.h"
#include "analysis/output/page/foreign_ends.h"
#include "analysis/output/page/scope_track.h"
#include "analysis/output/page/thinned_time.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/run_frame.h"
#include "analysis/trace/known_graphs.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/work_classes.h"
#include "proto/given_names.h"

namespace gpubound {
namespace {

constexpr double kBytesPerBucket = 7;  // of a band in which something happens all the time

// Dense numbers for names; 0 for those beyond the limit.
class NameTable {
 public:
  explicit NameTable(size_t most) : most_(most) { names_.push_back(kOtherNames); }
  uint32_t IndexOf(const std::string& name) {
    const auto known = indices_.find(name);
    if (known != indices_.end()) return known->second;
    if (names_.size() > most_) return 0;
    indices_.emplace(name, static_cast<uint32_t>(names_.size()));
    names_.push_back(name);
    return static_cast<uint32_t>(names_.size() - 1);
  }
  std::vector<std::string> Take() { return std::move(names_); }

 private:
  size_t most_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> indices_;
};

// A scope as the timeline names it: of a wait for other processes the text is their pids.
std::string ScopeName(const Label& label) {
  const bool waits = label.kind == LabelKind::kLayer && label.layer == Layer::kWait;
  const bool pids =
      !label.text.empty() && label.text.find_first_not_of("0123456789 ") == std::string::npos;
  return waits && pids ? "wait for " + label.text : label.text;
}

// Whether |number| stands in |name|, and not as a part of a longer one.
bool HasNumber(const std::string& name, const std::string& number) {
  const auto is_digit = [&name](size_t at) {
    return at < name.size() && name[at] >= '0' && name[at] <= '9';
  };
  for (size_t at = name.find(number); at != std::string::npos; at = name.find(number, at + 1)) {
    if ((at == 0 || !is_digit(at - 1)) && !is_digit(at + number.size())) return true;
  }
  return false;
}

// A track while its events stream by.
struct OpenTrack {
  OpenTrack(TrackKind kind, std::string title, const BucketGrid& grid, uint32_t coarser,
            DetailPlan* plan)
      : track{}, band(grid, coarser), keeper(plan) {
    track.kind = kind;
    track.title = std::move(title);
  }
  TimelineTrack track;
  ShareBand band;
  EventKeeper keeper;
};

// By name of device work: a bit for each of its classes.
using ClassBits = std::vector<uint8_t>;

std::vector<uint32_t> NamesOf(const ClassBits& bits, WorkClass work_class) {
  std::vector<uint32_t> names;
  for (uint32_t name = 0; name < bits.size(); ++name) {
    if ((bits[name] >> work_class & 1) != 0) names.push_back(name);
  }
  return names;
}

// Numbers of a process's own ids in the table of names, looked up once each.
template <typename Rows, typename NameOf>
std::vector<uint32_t> NumbersOf(const Rows& rows, NameTable* names, NameOf name_of) {
  std::vector<uint32_t> numbers;
  for (const auto& row : rows) numbers.push_back(names->IndexOf(name_of(row)));
  return numbers;
}

uint32_t At(const std::vector<uint32_t>& numbers, uint32_t id) {
  return id < numbers.size() ? numbers[id] : 0;
}

class ProcessTracks {
 public:
  ProcessTracks(const ProcessTrace& process, const ReportProcess& report, int64_t to_run_ns,
                const BucketGrid& grid, uint32_t coarser, const PageLimits& limits,
                NameTable* names, ClassBits* name_classes, std::set<uint32_t>* wait_names,
                DetailPlan* plan)
      : process_(process),
        report_(report),
        to_run_ns_(to_run_ns),
        grid_(grid),
        coarser_(coarser),
        limits_(limits),
        names_(names),
        name_classes_(name_classes),
        wait_names_(wait_names),
        plan_(plan),
        source_(SourceOf(process)) {}

  void Follow() {
    label_names_ = NumbersOf(process_.labels, names_, ScopeName);
    FollowThreads();
    FollowCalls();
    FollowWork();
  }

  // Devices first, then their streams, then threads with their calls; empty ones are left out.
  std::vector<TimelineTrack> TakeTracks(uint32_t process) {
    std::vector<TimelineTrack> tracks;
    const auto take = [&](std::unique_ptr<OpenTrack>* open) {
      if (*open == nullptr) return;
      if ((*open)->band.empty() && (*open)->keeper.seen() == 0) return;
      TimelineTrack track = std::move((*open)->track);
      track.process = process;
      track.band = (*open)->band.Finish();
      track.seen = (*open)->keeper.seen();
      track.events = (*open)->keeper.Take();
      tracks.push_back(std::move(track));
    };
    for (auto& device : devices_) take(&device);
    for (auto& stream : streams_) take(&stream);
    for (size_t thread = 0; thread < process_.threads.size(); ++thread) {
      take(&threads_[thread]);
      take(&calls_[thread]);
    }
    return tracks;
  }

 private:
  std::unique_ptr<OpenTrack> Open(TrackKind kind, const std::string& title) {
    // A device's only stream is what the device is.
    const bool is_fine =
        kind == TrackKind::kDevice ||
        (kind == TrackKind::kStream && process_.streams.size() <= process_.devices.size());
    return std::make_unique<OpenTrack>(kind, title, grid_, is_fine ? 1 : coarser_, plan_);
  }

  // Other tools name threads after their ids, and have threads without one.
  static std::string ThreadTitle(const ThreadTrace& thread) {
    const std::string name = thread.name.empty() ? "thread" : thread.name;
    const std::string tid = std::to_string(thread.tid);
    if (thread.tid == UINT32_MAX || HasNumber(name, tid)) return name;
    return name + " " + tid;
  }

  void FollowThreads() {
    ScopeTrack::Names scope_names;
    scope_names.of_label = &label_names_;
    scope_names.waits = wait_names_;
    for (const ReportOperation& row : report_.operations)
      scope_names.operations.insert(row.operation);
    for (const ReportLane& lane : report_.lanes) {
      for (const ReportOperation& row : lane.operations)
        scope_names.operations.insert(row.operation);
    }
    std::vector<std::vector<ForeignEnd>> foreign_ends = FindForeignEnds(process_, *source_);
    for (uint32_t thread = 0; thread < process_.threads.size(); ++thread) {
      const ThreadTrace& trace = process_.threads[thread];
      auto track = Open(TrackKind::kThread, ThreadTitle(trace));
      track->track.tid = trace.tid;
      track->track.reporting = trace.tid == process_.main_tid;
      ScopeTrack scopes(process_, trace, scope_names, to_run_ns_, &track->band, &track->keeper);
      scopes.ExpectEnds(std::move(foreign_ends[thread]));
      const std::unique_ptr<ThreadCursor> cursor = source_->ThreadEvents(thread);
      for (ThreadBatch batch; cursor->Next(&batch);) scopes.Take(batch);
      scopes.Finish(process_.span_end_ns, trace.tail_thinned);
      track->track.thinned =
          JoinedTo(limits_.thinned_intervals / process_.threads.size(), scopes.thinned());
      threads_.push_back(std::move(track));
    }
  }

  void FollowCalls() {
    calls_.resize(process_.threads.size());
    RecordStream<ThreadCall> stream(source_->Calls());
    for (; stream.Peek() != nullptr; stream.Pop()) {
      const auto& [call, thread] = *stream.Peek();
      if (thread >= calls_.size()) continue;
      std::unique_ptr<OpenTrack>& track = calls_[thread];
      if (track == nullptr) {
        track = Open(TrackKind::kCalls, "CUDA calls of " + ThreadTitle(process_.threads[thread]));
        track->track.tid = process_.threads[thread].tid;
      }
      const uint32_t name = At(label_names_, Raw(call.label));
      track->band.Add(call.start_ns + to_run_ns_, call.end_ns + to_run_ns_, name);
      track->keeper.Add({call.start_ns + to_run_ns_, call.end_ns + to_run_ns_, name, 0, false,
                         false, call.correlation});
    }
  }

  OpenTrack& StreamTrack(StreamId id) {
    if (Raw(id) >= streams_.size()) streams_.resize(Raw(id) + size_t{1});
    std::unique_ptr<OpenTrack>& track = streams_[Raw(id)];
    if (track == nullptr) {
      const Stream& stream = process_.StreamOf(id);
      const uint32_t ordinal = process_.DeviceOf(stream.device).info.index;
      track = Open(TrackKind::kStream,
                   "GPU " + std::to_string(ordinal) + " stream " + std::to_string(stream.stream));
      track->track.ordinal = ordinal;
    }
    return *track;
  }

  OpenTrack& DeviceOf(StreamId id) {
    const DeviceId device = process_.StreamOf(id).device;
    if (Raw(device) >= devices_.size()) devices_.resize(Raw(device) + size_t{1});
    std::unique_ptr<OpenTrack>& track = devices_[Raw(device)];
    if (track == nullptr) {
      const uint32_t ordinal = process_.DeviceOf(device).info.index;
      track = Open(TrackKind::kDevice, "GPU " + std::to_string(ordinal) + " busy");
      track->track.ordinal = ordinal;
    }
    return *track;
  }

  void FollowWork() {
    const std::vector<uint32_t> work_names =
        NumbersOf(process_.works, names_, [](const Work& work) { return Demangled(work.name); });
    const WorkClasses classes(process_);
    uint32_t class_names[kWorkClasses];
    for (const WorkClass c : {kComm, kCompute, kCopy}) {
      class_names[c] = names_->IndexOf(WorkClassName(c));
    }
    RecordStream<DeviceWork> stream(source_->Work());
    for (; stream.Peek() != nullptr; stream.Pop()) {
      const DeviceWork& work = *stream.Peek();
      const uint32_t name = At(work_names, Raw(work.work));
      const WorkClass work_class = classes.Of(work);
      const uint32_t class_name = class_names[work_class];
      if (name >= name_classes_->size()) name_classes_->resize(name + size_t{1});
      if (name != 0) (*name_classes_)[name] |= static_cast<uint8_t>(1u << work_class);
      const Interval time{std::max(work.start_ns, process_.span_begin_ns),
                          std::min(work.end_ns, process_.span_end_ns)};
      OpenTrack& track = StreamTrack(work.stream);
      track.band.Add(time.begin_ns + to_run_ns_, time.end_ns + to_run_ns_, class_name);
      track.keeper.Add({work.start_ns + to_run_ns_, work.end_ns + to_run_ns_, name, 0, false, false,
                        work.correlation});
      DeviceOf(work.stream)
          .band.Add(time.begin_ns + to_run_ns_, time.end_ns + to_run_ns_, class_name);
    }
  }

  const ProcessTrace& process_;
  const ReportProcess& report_;
  const int64_t to_run_ns_;  // what to add to a time of the process
  const BucketGrid grid_;
  const uint32_t coarser_;  // than |grid_|: the bands of all tracks but devices
  const PageLimits& limits_;
  NameTable* names_;
  ClassBits* name_classes_;
  std::set<uint32_t>* wait_names_;
  DetailPlan* plan_;
  std::shared_ptr<const EventSource> source_;
  std::vector<uint32_t> label_names_;
  std::vector<std::unique_ptr<OpenTrack>> devices_;  // by DeviceId
  std::vector<std::unique_ptr<OpenTrack>> streams_;  // by StreamId
  std::vector<std::unique_ptr<OpenTrack>> threads_;
  std::vector<std::unique_ptr<OpenTrack>> calls_;  // by thread
};

std::vector<Interval> UnknownOf(const ProcessTrace& process, int64_t to_run_ns, size_t most) {
  std::vector<Interval> unknown;
  for (const UnknownInterval& interval : process.unknown) {
    unknown.push_back({std::max(interval.start_ns, process.span_begin_ns) + to_run_ns,
                       std::min(interval.end_ns, process.span_end_ns) + to_run_ns});
  }
  return JoinedTo(most, Union(std::move(unknown)));
}

std::vector<IterationPoint> PointsOf(const ReportProcess& process, int64_t offset_ns, size_t most) {
  if (!process.iterations) return {};
  return IterationSeries(*process.iterations, offset_ns, most);
}

// The |most| longest marks of each device.
std::vector<IdleTrack> IdleOf(const ReportProcess& process, uint32_t index, int64_t offset_ns,
                              size_t most) {
  std::vector<IdleTrack> tracks;
  for (const ReportIdleMark& mark : process.idle_marks) {
    if (tracks.empty() || tracks.back().ordinal != mark.ordinal) {
      tracks.push_back({index, mark.ordinal, {}});
    }
    const int64_t begin_ns = mark.begin_ns + offset_ns;
    tracks.back().gaps.push_back({{begin_ns, begin_ns + mark.ns}, mark.cause});
  }
  for (IdleTrack& track : tracks) {
    if (track.gaps.size() <= most) continue;
    const auto end = track.gaps.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(track.gaps.begin(), end, track.gaps.end(), [](const auto& a, const auto& b) {
      return a.time.length() > b.time.length();
    });
    track.gaps.erase(end, track.gaps.end());
    std::sort(track.gaps.begin(), track.gaps.end(),
              [](const auto& a, const auto& b) { return a.time.begin_ns < b.time.begin_ns; });
  }
  return tracks;
}

uint64_t TracksOf(const Run& run) {
  uint64_t tracks = 1;
  for (const ProcessTrace& process : run.processes) {
    tracks += 2 * process.threads.size() + process.streams.size() + process.devices.size();
  }
  return tracks;
}

}  // namespace

const char* TrackKindName(TrackKind kind) {
  switch (kind) {
    case TrackKind::kDevice:
      return "device";
    case TrackKind::kStream:
      return "stream";
    case TrackKind::kThread:
      return "thread";
    case TrackKind::kCalls:
      return "calls";
  }
  return "thread";
}

PageTimeline BuildTimeline(const Run& run, const Report& report, const PageLimits& limits) {
  PageTimeline timeline;
  const std::vector<int64_t> aligned_ns = AlignClocks(run, FrameOf(run).host).offset_ns;
  int64_t begin_ns = kOpenEnded;
  int64_t end_ns = 0;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    begin_ns = std::min(begin_ns, run.processes[p].span_begin_ns + aligned_ns[p]);
    end_ns = std::max(end_ns, run.processes[p].span_end_ns + aligned_ns[p]);
  }
  if (run.processes.empty()) begin_ns = end_ns = 0;
  timeline.span_ns = std::max<int64_t>(end_ns - begin_ns, 0);
  for (size_t p = 0; p < run.processes.size(); ++p) {
    timeline.offset_ns.push_back(run.processes[p].span_begin_ns + aligned_ns[p] - begin_ns);
  }

  const uint64_t tracks = TracksOf(run);
  const auto buckets = static_cast<uint64_t>(static_cast<double>(limits.band_bytes) /
                                             kBytesPerBucket / static_cast<double>(tracks));
  timeline.grid =
      GridOver(timeline.span_ns, static_cast<uint32_t>(std::clamp<uint64_t>(
                                     buckets, limits.fewest_buckets, limits.most_buckets)));
  // Of very many tracks devices alone, which are what is seen at first, get the fewest buckets.
  const auto coarser = static_cast<uint32_t>(std::clamp<uint64_t>(
      limits.fewest_buckets / std::max<uint64_t>(buckets, 1), 1, limits.coarsest));
  const auto track_most =
      static_cast<uint32_t>(std::max<uint64_t>(2 * limits.window_events / tracks, 50));
  // Runs of several hosts are not compacted, so all clocks are the first one's.
  const int64_t moved_ns = run.processes.empty() ? 0 : aligned_ns.front();
  timeline.thinned = ThinnedTime(run.sums.get(), {begin_ns - moved_ns, end_ns - moved_ns});
  for (Interval& thinned : timeline.thinned) {
    thinned.begin_ns += moved_ns - begin_ns;
    thinned.end_ns += moved_ns - begin_ns;
  }
  DetailPlan plan(ChooseWindows(report, timeline.offset_ns, timeline.span_ns, timeline.thinned,
                                limits.window_events),
                  limits.events, track_most);
  timeline.thinned = JoinedTo(limits.thinned_intervals, timeline.thinned);

  NameTable names(limits.names);
  ClassBits name_classes;
  std::set<uint32_t> wait_names;
  std::vector<ProcessTracks> processes;
  processes.reserve(run.processes.size());
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const int64_t to_run_ns = aligned_ns[p] - begin_ns;
    processes.emplace_back(run.processes[p], report.processes[p], to_run_ns, timeline.grid, coarser,
                           limits, &names, &name_classes, &wait_names, &plan);
    processes.back().Follow();
    timeline.iterations.push_back(
        PointsOf(report.processes[p], timeline.offset_ns[p], limits.iteration_points));
    timeline.unknown.push_back(UnknownOf(run.processes[p], to_run_ns, limits.unknown_intervals));
    constexpr size_t kFewest = 8;  // points, and marks, of each
    for (CounterSeries& series :
         CountersOf(run.processes[p], *SourceOf(run.processes[p]), to_run_ns, limits.counters,
                    std::max(kFewest, limits.counter_points / run.processes.size() / 8))) {
      series.process = static_cast<uint32_t>(p);
      timeline.counters.push_back(std::move(series));
    }
    for (IdleTrack& track :
         IdleOf(report.processes[p], static_cast<uint32_t>(p), timeline.offset_ns[p],
                std::max(kFewest, limits.idle_marks / run.processes.size()))) {
      timeline.idle.push_back(std::move(track));
    }
  }
  for (uint32_t p = 0; p < processes.size(); ++p) {
    std::vector<TimelineTrack> of_process = processes[p].TakeTracks(p);
    std::move(of_process.begin(), of_process.end(), std::back_inserter(timeline.tracks));
  }
  timeline.whole = plan.whole();
  timeline.windows = plan.Kept();
  timeline.names = names.Take();
  timeline.comm_names = NamesOf(name_classes, kComm);
  timeline.copy_names = NamesOf(name_classes, kCopy);
  wait_names.erase(0);  // which stands for all names beyond the limit
  timeline.wait_names.assign(wait_names.begin(), wait_names.end());
  return timeline;
}

}  // namespace gpubound
