// SPDX-License-Identifier: Apache-2.0
//
// Writes Chrome JSON. One object, one thread.
#include "analysis/output/export/export_chrome.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/utf8.h"
#include "analysis/output/export/cell_text.h"
#include "analysis/output/export/export_devices.h"
#include "analysis/output/export/iteration_marks.h"
#include "analysis/output/export/perfetto_lanes.h"
#include "analysis/output/export/thread_merge.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/run_frame.h"
#include "analysis/timeline/launch_match.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/scope_builder.h"
#include "analysis/trace/thread_scan.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

// Processes of a trace are told apart by number. Devices, and processes whose pid another one has,
// get numbers that no system gives away.
constexpr int64_t kFirstDevicePid = 2'000'000'000;
constexpr int64_t kFirstSparePid = 1'000'000'000;
constexpr int64_t kDevicesPerProcess = 1000;

constexpr char kUnknownCategory[] = "gpu_unknown";  // the import knows it

// Microseconds, exactly.
std::string Micros(int64_t ns) {
  const bool negative = ns < 0;
  const uint64_t size = negative ? 0 - static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
  std::string fraction = std::to_string(size % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return (negative ? "-" : "") + std::to_string(size / 1000) + "." + fraction;
}

std::string ExtentJson(const uint32_t (&axes)[3]) {
  return "[" + std::to_string(axes[0]) + "," + std::to_string(axes[1]) + "," +
         std::to_string(axes[2]) + "]";
}

// |annotations_serve|: as operations, since the process has none of its own.
const char* CategoryOf(const Label& label, bool annotations_serve) {
  switch (label.kind) {
    case LabelKind::kOperation:
      return "user_annotation";
    case LabelKind::kAnnotation:
      // The importer takes names of libraries' ranges for annotations, and any other for an
      // operation.
      if (IsLibraryAnnotation("", label.text)) {
        return label.domain.empty() ? "user_annotation" : "annotation";
      }
      return annotations_serve && !IsLibraryAnnotation(label.domain, "") ? "user_annotation"
                                                                         : "annotation";
    case LabelKind::kLayer:
      if (label.layer == Layer::kPython) return "python_function";
      return label.layer == Layer::kBackend ? "cpu_op" : "layer";
    default:
      return "other";
  }
}

const char* CategoryOfCall(const std::string& name) {
  if (name.starts_with("hip")) return "hip_runtime";
  const bool driver = name.starts_with("cu") && name.size() > 2 && name[2] >= 'A' && name[2] <= 'Z';
  return driver ? "cuda_driver" : "cuda_runtime";
}

const char* CategoryOfWork(WorkKind kind) {
  if (kind == WorkKind::kMemcpy) return "gpu_memcpy";
  return kind == WorkKind::kMemset ? "gpu_memset" : "kernel";
}

class ChromeWriter {
 public:
  ChromeWriter(const Run& run, OutputFile* file) : run_(run), file_(*file), devices_(run) {
    if (run.processes.empty()) return;
    offsets_ns_ = AlignClocks(run, FrameOf(run).host).offset_ns;
  }

  void Write() {
    file_.Write(
        "{\"displayTimeUnit\": \"ms\",\n\"baseTimeNanoseconds\": " + std::to_string(BaseTime()) +
        ",\n\"deviceProperties\": [" + DeviceProperties() + "],\n\"traceEvents\": [");
    std::set<int64_t> pids;
    for (process_ = 0; process_ < run_.processes.size(); ++process_) {
      trace_ = &run_.processes[process_];
      pid_ = trace_->identity.pid;
      if (!pids.insert(pid_).second) pid_ = kFirstSparePid + static_cast<int64_t>(process_);
      source_ = SourceOf(*trace_);
      further_tids_.clear();
      offset_ns_ = offsets_ns_[process_];
      annotations_serve_ = !OpensOperations(*trace_, *source_);
      WriteNames();
      WriteThreads();
      WriteCalls();
      WriteWork();
      WriteUnknown();
    }
    file_.Write("\n]}\n");
  }

 private:
  // CLOCK_REALTIME at trace time 0 of the first process's host, which all times are told in.
  int64_t BaseTime() const {
    if (run_.processes.empty()) return 0;
    const ProcessTrace& first = run_.processes.front();
    return first.identity.start_realtime_ns - first.span_begin_ns;
  }

  std::string DeviceProperties() const {
    std::string list;
    for (const auto& [number, device] : devices_.devices()) {
      const DeviceInfo& info = device->info;
      list +=
          std::string(list.empty() ? "\n" : ",\n") + "{\"id\": " + std::to_string(number) +
          ", \"name\": " + JsonString(device->name) +
          ", \"totalGlobalMem\": " + std::to_string(info.memory_bytes) +
          ", \"computeMajor\": " + std::to_string(info.compute_capability_major) +
          ", \"computeMinor\": " + std::to_string(info.compute_capability_minor) +
          ", \"maxThreadsPerMultiprocessor\": " +
          std::to_string(info.max_warps_per_multiprocessor * info.threads_per_warp) +
          ", \"regsPerMultiprocessor\": " + std::to_string(info.max_registers_per_multiprocessor) +
          ", \"warpSize\": " + std::to_string(info.threads_per_warp) +
          ", \"sharedMemPerMultiprocessor\": " +
          std::to_string(info.max_shared_bytes_per_multiprocessor) +
          ", \"numSms\": " + std::to_string(info.multiprocessors) + "}";
    }
    return list;
  }

  // An event: what all have, and |more|, which begins with a comma or is empty.
  void Put(const char* phase, const std::string& category, const std::string& name, int64_t pid,
           int64_t tid, int64_t time_ns, const std::string& more) {
    std::string text = first_ ? "\n" : ",\n";
    first_ = false;
    text += std::string("{\"ph\": \"") + phase + "\", \"cat\": \"" + category +
            "\", \"name\": " + JsonString(name) + ", \"pid\": " + std::to_string(pid) +
            ", \"tid\": " + std::to_string(tid) + ", \"ts\": " + Micros(time_ns + offset_ns_) +
            more + "}";
    file_.Write(text);
  }
  void PutComplete(const std::string& category, const std::string& name, int64_t pid, int64_t tid,
                   int64_t begin_ns, int64_t end_ns, const std::string& more = "") {
    Put("X", category, name, pid, tid, begin_ns, ", \"dur\": " + Micros(end_ns - begin_ns) + more);
  }
  void PutName(const char* what, int64_t pid, int64_t tid, const std::string& name) {
    if (name.empty()) return;
    Put("M", "__metadata", what, pid, tid, 0, ", \"args\": {\"name\": " + JsonString(name) + "}");
  }

  int64_t DevicePid(uint32_t ordinal) const {
    return kFirstDevicePid + static_cast<int64_t>(process_) * kDevicesPerProcess + ordinal;
  }

  void WriteNames() {
    PutName("process_name", pid_, 0, trace_->name);
    for (const ThreadTrace& thread : trace_->threads) {
      PutName("thread_name", pid_, thread.tid, thread.name);
    }
    for (size_t id = 1; id < trace_->devices.size(); ++id) {
      const Device& device = trace_->devices[id];
      const uint32_t number = devices_.NumberOf(process_, static_cast<DeviceId>(id));
      PutName("process_name", DevicePid(device.info.index), 0,
              "GPU " + std::to_string(number) + " " + device.name + ", process " +
                  std::to_string(trace_->identity.pid));
    }
  }

  // Correlation ids mean something within a process; each gets a part of their range.
  uint64_t Correlation(uint32_t id) const {
    const uint64_t window = (uint64_t{1} << 32) / run_.processes.size();
    return id == 0 || run_.processes.size() == 1 ? id : process_ * window + id % window;
  }

  void WriteThreads() {
    builders_.assign(trace_->threads.size(), ScopeBuilder());
    marks_.assign(trace_->threads.size(), IterationMarks());
    std::vector<int64_t> last_ns(trace_->threads.size(), trace_->span_begin_ns);
    ranges_.clear();
    ThreadMerge merge(*source_, static_cast<uint32_t>(trace_->threads.size()));
    ThreadMerge::Event next;
    while (merge.Next(&next)) {
      const ThreadEvent& event = next.event;
      uint32_t thread = next.thread;
      if (next.missing) {
        builders_[thread].Resync(next.known_until_ns, event.time_ns, next.open);
      }
      if (next.thinned) marks_[thread].Thin(thread);
      last_ns[thread] = event.time_ns;
      if (const auto iteration = marks_[thread].Take(*trace_, thread, event)) {
        PutComplete("user_annotation", "ProfilerStep#" + std::to_string(event.payload), pid_,
                    trace_->threads[thread].tid, iteration->begin_ns, iteration->end_ns);
      }
      if (event.kind == SlotKind::kRangeStart) ranges_[event.payload] = thread;
      if (event.kind == SlotKind::kRangeEnd) {
        // Any thread may end it; the scope is the one's that began it.
        const auto began = ranges_.find(event.payload);
        if (began == ranges_.end()) continue;
        thread = began->second;
        ranges_.erase(began);
      }
      builders_[thread].Add(event);
      WriteInstant(next.thread, event);
      WriteEnded(thread);
    }
    for (uint32_t t = 0; t < builders_.size(); ++t) {
      const bool tail_thinned = trace_->threads[t].tail_thinned;
      if (tail_thinned) builders_[t].CutRanges(last_ns[t]);
      for (OpenRange& range : builders_[t].TakeOpenRanges()) {
        const int64_t end_ns = range.scope.end_cut ? range.scope.end_ns : trace_->span_end_ns;
        range.scope.end_ns = std::max(range.scope.begin_ns, end_ns);
        range.scope.end_cut = true;
        WriteScope(t, range.scope);
      }
      builders_[t].Finish(tail_thinned ? last_ns[t] : trace_->span_end_ns);
      WriteEnded(t);
    }
  }

  void WriteEnded(uint32_t thread) {
    Scope scope;
    while (builders_[thread].Pop(&scope)) WriteScope(thread, scope);
  }

  void WriteScope(uint32_t thread, const Scope& scope) {
    const Label& label = trace_->LabelOf(scope.label);
    if (label.kind == LabelKind::kApi) return;  // of an importer; the call itself is written too
    if (label.kind == LabelKind::kLayer && label.domain == kAssumedDomain) return;  // found again
    const char* const cut = CutOf(scope);
    PutComplete(CategoryOf(label, annotations_serve_), label.text, pid_,
                trace_->threads[thread].tid, scope.begin_ns, scope.end_ns,
                cut == nullptr ? "" : ", \"args\": {\"cut\": \"" + std::string(cut) + "\"}");
  }

  void WriteInstant(uint32_t thread, const ThreadEvent& event) {
    const std::string& name = trace_->LabelOf(event.label).text;
    const int64_t tid = trace_->threads[thread].tid;
    switch (event.kind) {
      case SlotKind::kPhase:
        Put("i", "phase", name, pid_, tid, event.time_ns, ", \"s\": \"p\"");
        break;
      case SlotKind::kMark:
        Put("i", "mark", name, pid_, tid, event.time_ns, ", \"s\": \"t\"");
        break;
      case SlotKind::kCounter: {
        // JSON has no number for it, and readers take null for a broken event.
        const auto value = std::bit_cast<double>(event.payload);
        if (!std::isfinite(value)) break;
        Put("C", "counter", name, pid_, tid, event.time_ns,
            ", \"args\": {\"value\": " + JsonCell(value) + "}");
        break;
      }
      default:
        break;
    }
  }

  void WriteCalls() {
    for (RecordStream<ThreadCall> calls(source_->Calls()); calls.Peek() != nullptr; calls.Pop()) {
      const ThreadCall& next = *calls.Peek();
      const std::string& name = trace_->LabelOf(next.call.label).text;
      PutComplete(CategoryOfCall(name), name, pid_, TidOf(next.thread), next.call.start_ns,
                  next.call.end_ns,
                  ", \"args\": {\"correlation\": " +
                      std::to_string(Correlation(next.call.correlation)) + "}");
    }
  }

  // Threads that the trace has no row for come after the others.
  int64_t TidOf(uint32_t thread) {
    const size_t rows = trace_->threads.size();
    if (thread < rows) return trace_->threads[thread].tid;
    const size_t number = thread - rows;
    if (number >= further_tids_.size()) further_tids_ = source_->FurtherThreads();
    return further_tids_.at(number);
  }

  void WriteWork() {
    LaunchMatch match(*source_);
    LaunchMatch::Launched next;
    while (match.Next(&next)) {
      const DeviceWork& item = next.work;
      const Work& work = trace_->WorkOf(item.work);
      const Stream& stream = trace_->StreamOf(item.stream);
      const int64_t device_pid = DevicePid(trace_->DeviceOf(stream.device).info.index);
      const int64_t tid = LaneOf(device_pid, stream.stream, item);
      const uint32_t number = devices_.NumberOf(process_, stream.device);
      std::string arguments = ", \"args\": {\"device\": " + std::to_string(number) +
                              ", \"context\": " + std::to_string(stream.context) +
                              ", \"stream\": " + std::to_string(stream.stream) +
                              ", \"correlation\": " + std::to_string(Correlation(item.correlation));
      // What no call launched says nothing else of whose it is.
      if (run_.processes.size() > 1) arguments += ", \"owner pid\": " + std::to_string(pid_);
      if (item.bytes != 0) arguments += ", \"bytes\": " + std::to_string(item.bytes);
      if (item.graph != 0) arguments += ", \"graph id\": " + std::to_string(item.graph);
      if (item.graph_node != 0) {
        arguments += ", \"graph node id\": " + std::to_string(item.graph_node);
      }
      if (work.info.kind == WorkKind::kGraph) arguments += ", \"whole graph\": 1";
      if (work.info.kind == WorkKind::kKernel) {
        const WorkInfo& info = work.info;
        arguments += ", \"grid\": " + ExtentJson(info.grid) +
                     ", \"block\": " + ExtentJson(info.block) +
                     ", \"registers per thread\": " + std::to_string(info.registers_per_thread) +
                     ", \"shared memory\": " +
                     std::to_string(info.static_shared_bytes + info.dynamic_shared_bytes);
      }
      PutComplete(CategoryOfWork(work.info.kind), work.name, device_pid, tid, item.start_ns,
                  item.end_ns, arguments + "}");
      if (next.call != nullptr) WriteArrow(next, device_pid, tid);
    }
  }

  // Time in which work could have run unrecorded, which is no idle time.
  void WriteUnknown() {
    for (const UnknownInterval& time : trace_->unknown) {
      PutComplete(kUnknownCategory, time.reason, pid_, 0, time.start_ns, time.end_ns);
    }
  }

  // The tid of |item|: its stream, or another one where it would cross what is there. Viewers drop
  // what crosses; the importer goes by the stream among the arguments.
  int64_t LaneOf(int64_t pid, uint32_t stream, const DeviceWork& item) {
    auto lanes = lanes_.find({pid, stream});
    if (lanes == lanes_.end()) {
      const auto add = [this, pid, stream, first = true]() mutable {
        const int64_t tid = first ? stream : kFirstSparePid + spare_tids_++;
        if (!first) PutName("thread_name", pid, tid, "stream " + std::to_string(stream));
        first = false;
        return PerfettoTrack{static_cast<uint64_t>(tid)};
      };
      lanes = lanes_.emplace(std::pair(pid, stream), PerfettoLanes(add)).first;
    }
    return static_cast<int64_t>(lanes->second.Take(item.start_ns, item.end_ns));
  }

  void WriteArrow(const LaunchMatch::Launched& launched, int64_t pid, int64_t tid) {
    const std::string id = ", \"id\": " + std::to_string(++arrows_);
    Put("s", "ac2g", "ac2g", pid_, TidOf(launched.call->thread), launched.call->start_ns, id);
    Put("f", "ac2g", "ac2g", pid, tid, launched.work.start_ns, id + ", \"bp\": \"e\"");
  }

  const Run& run_;
  OutputFile& file_;
  const ExportDevices devices_;
  std::vector<int64_t> offsets_ns_;  // by process
  bool first_ = true;
  uint64_t arrows_ = 0;
  std::map<std::pair<int64_t, uint32_t>, PerfettoLanes> lanes_;  // by pid of a device, and stream
  int64_t spare_tids_ = 0;                                       // given to lanes so far

  // Of the process that is being written.
  size_t process_ = 0;
  int64_t pid_ = 0;
  int64_t offset_ns_ = 0;
  bool annotations_serve_ = false;
  const ProcessTrace* trace_ = nullptr;
  std::shared_ptr<const EventSource> source_;
  std::vector<uint32_t> further_tids_;             // of threads without a row
  std::vector<ScopeBuilder> builders_;             // by thread
  std::vector<IterationMarks> marks_;              // by thread: what nests there, a viewer shows
  std::unordered_map<uint64_t, uint32_t> ranges_;  // thread of an open range, by id
};

}  // namespace

void WriteChromeJson(const Run& run, OutputFile* file) { ChromeWriter(run, file).Write(); }

}  // namespace gpubound
