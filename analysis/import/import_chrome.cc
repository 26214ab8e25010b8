// SPDX-License-Identifier: Apache-2.0
//
// Maps the events of a Chrome trace, one at a time. One trace, one thread.
#include "analysis/import/import_chrome.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/whole_number.h"
#include "analysis/import/chrome_event.h"
#include "analysis/import/import_categories.h"
#include "analysis/import/import_decimal.h"
#include "analysis/import/import_hints.h"
#include "analysis/import/import_launches.h"
#include "analysis/import/import_splitter.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/plausible_time.h"
#include "proto/given_names.h"
#include "proto/sync_calls.h"

namespace gpubound {
namespace {

bool IsGpu(ChromeCategory category) {
  return category == ChromeCategory::kKernel || category == ChromeCategory::kMemcpy ||
         category == ChromeCategory::kMemset;
}

// Of a name that has "HtoD" or the like in it.
uint8_t CopyKindOf(std::string_view name) {
  for (size_t kind = 1; kind < std::size(kCopyNames); ++kind) {
    const std::string_view word = kCopyNames[kind].substr(kCopyNames[0].size() + 1);
    if (name.find(word) != std::string_view::npos) return static_cast<uint8_t>(kind);
  }
  return 0;
}

constexpr char kNoEnd[] = "of which no end is known";

constexpr ForeignLaunches::Words kChromeWords = {
    "the trace",
    {"", "an event of category kernel", "one of category gpu_memcpy", "one of category gpu_memset",
     "one of a graph or of its nodes"},
    "Profile with activities=[CPU, CUDA] and without another tool that holds the GPU's counters, "
    "and export it again.",
    /*sets_may_be_none=*/true};

class ChromeImport {
 public:
  ChromeImport(const std::string& path, ForeignTrace* trace) : path_(path), trace_(*trace) {}

  // What is damaged costs the events that it is in, as long as any is left.
  Status Read(ByteSource* source) {
    JsonSplitter splitter(source, path_);
    Result<JsonSplitter::Value> value = splitter.Next();
    for (; !value.ok() || value->kind != JsonSplitter::Kind::kEnd; value = splitter.Next()) {
      if (!value.ok()) {
        NoteWrong(value.error());
        const uint64_t taken = splitter.taken();
        if (!splitter.SkipToEvent()) {
          trace_.cut_short = "the imported file could be read up to byte " + std::to_string(taken) +
                             " only: " + value.error().found;
          trace_.cut_behind_events = splitter.EndsBehindEvents();
          if (trace_.cut_behind_events) trace_.cut_short += ", after all of its events";
          break;
        }
        ++trace_.malformed;
      } else if (value->kind == JsonSplitter::Kind::kMember) {
        ReadMember(value->key, value->text);
      } else {
        const Status added = ReadEvent(value->text, &splitter);
        if (!added.ok()) return added;
      }
    }
    for (const Device& device : devices_) trace_.names.DeviceAt(device.info.index) = device;
    const Status closed = CloseOpen();
    launches_.NoteMissing(&trace_);
    NoteNotUnderstood();
    trace_.other_tool = hints_.hint();
    if (trace_.work.size() == 0) trace_.ignored = ignored_.MostFrequent();
    const bool is_empty = trace_.first_ns > trace_.last_ns;
    return closed.ok() && is_empty && wrong_ ? Status(NothingReadable()) : closed;
  }

 private:
  // A duration written as two events, the first of which was seen. It is kept as it was written:
  // an event that never counts names no process and no thread.
  struct Begun {
    bool wanted = false;
    uint64_t offset = 0;
    int64_t start_ns = 0;
    ChromeEvent event;
    std::string name;
    std::string pid;
    std::string tid;

    // Valid as long as this object stays where it is.
    const ChromeEvent& Event() {
      event.name = name;
      event.pid = pid;
      event.tid = tid;
      event.inputs = {};
      return event;
    }
  };

  // The first thing that is wrong with the file is what is said where nothing of it is of use.
  void NoteWrong(const Error& error) {
    if (!wrong_) wrong_ = error;
  }

  [[gnu::cold, gnu::noinline]] void NoteWrongTime(const char* what) {
    if (wrong_) return;
    wrong_ = Error{"reading the trace to import", path_,
                   "an event " + std::string(what) + " at byte " + std::to_string(event_offset_),
                   "ts and dur as numbers of microseconds",
                   "Export the profile again, or write its times as JSON numbers."};
  }

  Error NothingReadable() const {
    Error error = *wrong_;
    if (trace_.malformed > 1) {
      error.found = std::to_string(trace_.malformed) +
                    " events that could not be read and none that could; first, " + error.found;
    }
    return error;
  }

  Status ReadEvent(std::string_view text, JsonSplitter* splitter) {
    ChromeEvent event;
    event_offset_ = splitter->offset();
    const auto wrong = parser_.Parse(text, &event);
    if (!wrong) return AddEvent(event);
    ++trace_.malformed;
    NoteWrong({"reading the trace to import", path_,
               "an event that is no JSON (" + *wrong + ") at byte " + std::to_string(event_offset_),
               "a JSON object", "Export the profile again; check the file with a JSON tool."});
    splitter->LookInside();
    return Ok{};
  }

  void ReadMember(std::string_view key, std::string_view text) {
    if (key == "deviceProperties") devices_ = parser_.ParseDevices(text);
    hints_.SeeMember(key);
    if (key == "baseTimeNanoseconds") trace_.realtime_ns = ParseInt(text).value_or(0);
  }

  Status AddEvent(const ChromeEvent& event) {
    switch (event.phase) {
      case 'X':
        return AddComplete(event);
      case 'B':
        return Begin(event);
      case 'E':
        return End(event);
      case 'M':
        if (event.name == "process_name") {
          trace_.names.NameProcess(event.pid, std::string(event.label));
          hints_.SeeProcess(event.label);
          if (IsDevicesName(event.label)) device_pids_.emplace(event.pid);
        } else if (event.name == "thread_name") {
          trace_.names.NameThread(event.pid, event.tid, std::string(event.label));
        }
        return Ok{};
      default:
        return Ok{};
    }
  }

  Status AddComplete(const ChromeEvent& event) {
    if (event.category == ChromeCategory::kOther) return Ignore(event);
    if (event.category == ChromeCategory::kCpuOp && IterationOf(event.name)) {
      // Until PyTorch 1.12 what record_function() opens was an operator.
      ChromeEvent annotation = event;
      annotation.category = ChromeCategory::kUserAnnotation;
      return AddComplete(annotation);
    }
    const std::optional<int64_t> start = NanosecondsOf(event.ts);
    const std::optional<int64_t> duration = NanosecondsOf(event.dur);
    int64_t end_ns = 0;
    if (!start) return SkipWithoutBegin();
    const bool ends = duration && !__builtin_add_overflow(*start, *duration, &end_ns);
    return AddTimed(event, *start, ends ? std::optional(end_ns) : std::nullopt);
  }

  Status Ignore(const ChromeEvent& event) {
    ignored_.Count(event.other_category);
    hints_.SeeCategory(event.other_category);
    if (event.other_category.empty()) {
      // Told by where it ran, which its pid may say when all names have come.
      if (event.on_stream || uncategorised_.size() < IgnoredCategories::kMost) {
        ++uncategorised_[event.on_stream ? std::string() : std::string(event.pid)];
      }
    } else if (!IgnoredCategories::IsUsual(event.other_category) &&
               (event.on_stream || IsDevicesCategory(event.other_category))) {
      ++not_understood_;
      not_understood_of_.Count(event.other_category);
    }
    return Ok{};
  }

  // "Ascend Hardware", "/device:GPU:0": what a process is called whose threads are streams.
  static bool IsDevicesName(std::string_view name) {
    return name.ends_with("Hardware") || name.starts_with("/device:");
  }

  // "mtia_ccp_events", "hpu_op": of an accelerator, by its name.
  static bool IsDevicesCategory(std::string_view category) {
    static constexpr std::string_view kDevices[] = {"kernel", "memcpy", "memset", "ccp",
                                                    "hpu",    "npu",    "xpu",    "device"};
    return std::any_of(std::begin(kDevices), std::end(kDevices), [category](std::string_view word) {
      return category.find(word) != std::string_view::npos;
    });
  }

  // What may be work of a device and means nothing here hides GPU time, and is no idle time.
  void NoteNotUnderstood() {
    uint64_t without = 0;
    for (const auto& [pid, count] : uncategorised_) {
      if (pid.empty() || device_pids_.contains(pid)) without += count;
    }
    if (not_understood_ + without == 0) return;
    ForeignGap gap;
    gap.counter = LedgerCounter::import_work_not_understood;
    gap.count = not_understood_ + without;
    std::string what = not_understood_of_.MostFrequent();
    if (without > 0) {
      what += (what.empty() ? "" : ", ") + std::string("without a category (") +
              std::to_string(without) + (without == 1 ? " event)" : " events)");
    }
    gap.note = "work of a device that is not understood: events " +
               std::string(not_understood_ > 0 ? "of category " : "") + what +
               ". GPU time is unknown where nothing else ran.";
    gap.why_hidden = "events of the file that look like work of a device are not understood";
    trace_.gaps.push_back(std::move(gap));
  }

  Status SkipWithoutBegin() {
    NoteWrongTime("whose ts is no time");
    ++trace_.malformed;
    return Ok{};
  }

  bool Takes(int64_t start_ns, int64_t end_ns) {
    if (trace_.Takes(start_ns, end_ns)) return true;
    NoteWrongTime(end_ns < start_ns ? "that ends before it begins"
                                    : "at a time that no clock reaches");
    return false;
  }

  // |end_ns| is nothing where it cannot be read.
  Status AddTimed(const ChromeEvent& event, int64_t start_ns, std::optional<int64_t> end_ns) {
    if (!end_ns || !IsPlausibleTime(*end_ns)) {
      return AddEndless(event, start_ns, kNoEnd);
    }
    if (*end_ns < start_ns) return AddEndless(event, start_ns, "that ends before it begins");
    if (!Takes(start_ns, *end_ns)) return Ok{};
    if (event.category == ChromeCategory::kUnknown) {
      AddUnknown(event, start_ns, *end_ns);
      return Ok{};
    }
    if (IsGpu(event.category)) return AddWork(event, WorkOf(event, start_ns, *end_ns));
    const CpuInterval interval = IntervalOf(event, start_ns, *end_ns);
    if (interval.kind == CpuKind::kCall) NoteLaunch(event.name, interval.thread);
    return trace_.Add(interval);
  }

  // Beyond so many, which we do not write, the last one holds all that follow.
  static constexpr size_t kMostUnknown = size_t{1} << 16;

  void AddUnknown(const ChromeEvent& event, int64_t start_ns, int64_t end_ns) {
    std::vector<ForeignUnknown>& all = trace_.unknown;
    const uint32_t process = OwnerOf(event.pid);
    if (all.size() < kMostUnknown) {
      all.push_back({process, start_ns, end_ns, std::string(event.name)});
      return;
    }
    all.back().start_ns = std::min(all.back().start_ns, start_ns);
    all.back().end_ns = std::max(all.back().end_ns, end_ns);
  }

  void NoteLaunch(std::string_view name, uint32_t thread) {
    // ROCm fills and copies by kernels.
    const bool by_kernel = name.starts_with("hipMem");
    if (!by_kernel) launches_.AddCall(trace_.names.threads()[thread].process, name, /*result=*/0);
  }

  // How long work ran of which no end is known, nobody knows: it is missing, but from its begin on
  // the GPU may have been busy. An operation was open from there on, likely to the last: profilers
  // write so what had not ended.
  Status AddEndless(const ChromeEvent& event, int64_t start_ns, const char* what) {
    NoteWrongTime(what);
    ++trace_.malformed;
    if (!IsPlausibleTime(start_ns)) return Ok{};
    if (event.category == ChromeCategory::kUserAnnotation && !IterationOf(event.name)) {
      trace_.SeeBegin(start_ns);
      open_.push_back({true, event_offset_, start_ns, event, std::string(event.name),
                       std::string(event.pid), std::string(event.tid)});
      return Ok{};
    }
    if (!IsGpu(event.category)) return Ok{};
    ForeignWork work = WorkOf(event, start_ns, start_ns);
    work.ended = false;
    return AddWork(event, work);
  }

  Status AddWork(const ChromeEvent& event, const ForeignWork& work) {
    launches_.AddWork(work.process, trace_.names.works()[work.work].info.kind,
                      /*in_graph=*/event.graph_node.value_or(1) != 0);
    if (work.ended && event.name.ends_with(kOtherEnd)) ++trace_.other_ends;
    const Status added = trace_.Add(work);
    if (!added.ok() || event.category != ChromeCategory::kMemcpy || !event.from_device ||
        !event.to_device || event.from_device == event.to_device) {
      return added;
    }
    const bool source_runs_it = DeviceOf(event) == event.from_device;
    const auto device = source_runs_it ? event.to_device : event.from_device;
    const auto context = source_runs_it ? event.to_context : event.from_context;
    return trace_.AddOtherEnd(work, InfoOf(event), event.name, U32OrZero(device),
                              U32OrZero(context));
  }

  static std::optional<int64_t> DeviceOf(const ChromeEvent& event) {
    if (event.device) return event.device;
    return event.in_device ? event.in_device : ParseInt(event.pid);
  }

  Status Begin(const ChromeEvent& event) {
    Begun& begun = begun_[StackKey(event)].emplace_back();
    if (event.category == ChromeCategory::kOther) return Ignore(event);
    const std::optional<int64_t> start = NanosecondsOf(event.ts);
    if (!start) return SkipWithoutBegin();
    begun = {true,
             event_offset_,
             *start,
             event,
             std::string(event.name),
             std::string(event.pid),
             std::string(event.tid)};
    if (!IsGpu(event.category)) trace_.SeeBegin(*start);
    return Ok{};
  }

  Status End(const ChromeEvent& event) {
    std::vector<Begun>& stack = begun_[StackKey(event)];
    if (stack.empty()) {
      ++trace_.never_begun;
      return Ok{};
    }
    Begun begun = std::move(stack.back());
    stack.pop_back();
    if (!begun.wanted) return Ok{};
    return AddTimed(begun.Event(), begun.start_ns, NanosecondsOf(event.ts));
  }

  // A scope that never ended was open to the last.
  Status CloseOpen() {
    trace_.DecideOnTimes();
    const int64_t last_ns = trace_.last_ns;
    for (Begun& begun : open_) {
      const Status added = AddOpen(begun.Event(), begun.start_ns, last_ns);
      if (!added.ok()) return added;
    }
    for (auto& [key, stack] : begun_) {
      for (Begun& begun : stack) {
        if (!begun.wanted) continue;
        event_offset_ = begun.offset;
        const Status added = IsGpu(begun.event.category)
                                 ? AddEndless(begun.Event(), begun.start_ns, kNoEnd)
                                 : AddOpen(begun.Event(), begun.start_ns, last_ns);
        if (!added.ok()) return added;
      }
    }
    return Ok{};
  }

  Status AddOpen(const ChromeEvent& event, int64_t start_ns, int64_t last_ns) {
    const int64_t end_ns = std::max(last_ns, start_ns);
    if (!Takes(start_ns, end_ns)) return Ok{};
    ++trace_.never_ended;
    return trace_.Add(IntervalOf(event, start_ns, end_ns));
  }

  static std::string StackKey(const ChromeEvent& event) {
    return std::string(event.pid) + '\0' + std::string(event.tid);
  }

  CpuInterval IntervalOf(const ChromeEvent& event, int64_t start_ns, int64_t end_ns) {
    CpuInterval interval;
    interval.start_ns = start_ns;
    interval.end_ns = end_ns;
    const uint32_t process = trace_.names.Process(event.pid);
    interval.thread = trace_.names.Thread(process, event.tid);
    if (event.category != ChromeCategory::kPythonFunction) {
      trace_.names.processes()[process].only_python = false;
    }
    LabelKind kind = LabelKind::kLayer;
    std::string_view name = event.name;
    switch (event.category) {
      case ChromeCategory::kUserAnnotation:
        if (const std::optional<int64_t> number = IterationOf(name)) {
          interval.kind = CpuKind::kIteration;
          interval.number = *number;
          return interval;
        }
        kind = LibraryRangeNames().Matches(name) ? LabelKind::kAnnotation : LabelKind::kOperation;
        break;
      case ChromeCategory::kPythonFunction:
        interval.layer = Layer::kPython;
        break;
      case ChromeCategory::kApi:
        interval.kind = CpuKind::kCall;
        interval.correlation = U32OrZero(event.correlation);
        name = StripApiVersion(name);
        kind = LabelKind::kApi;
        interval.layer = ClassifyApi(name) == ApiClass::kSync ? Layer::kCudaSync : Layer::kCudaApi;
        break;
      default:
        interval.layer = Layer::kBackend;
        interval.op = trace_.names.Op(name, event.inputs);
        break;
    }
    interval.label = trace_.names.Label(kind, interval.layer, "", name);
    return interval;
  }

  ForeignWork WorkOf(const ChromeEvent& event, int64_t start_ns, int64_t end_ns) {
    ForeignWork work;
    work.start_ns = start_ns;
    work.end_ns = end_ns;
    work.bytes = static_cast<uint64_t>(std::max<int64_t>(event.bytes.value_or(0), 0));
    work.correlation = U32OrZero(event.correlation);
    work.graph = U32OrZero(event.graph);
    work.graph_node = static_cast<uint64_t>(event.graph_node.value_or(0));
    if (!event.owner.empty()) work.process = OwnerOf(event.owner);
    const auto context = event.context ? event.context : event.in_context;
    const auto stream = event.stream ? event.stream : ParseInt(event.tid);
    work.stream =
        Raw(trace_.names.Stream(U32OrZero(DeviceOf(event)), U32OrZero(context), U32OrZero(stream)));
    work.work = Raw(trace_.names.Work(InfoOf(event), event.name));
    return work;
  }

  uint32_t OwnerOf(std::string_view pid) {
    const uint32_t process = trace_.names.Process(pid);
    trace_.names.processes()[process].only_python = false;
    return process;
  }

  static WorkInfo InfoOf(const ChromeEvent& event) {
    WorkInfo info;
    switch (event.category) {
      case ChromeCategory::kMemcpy:
        info.kind = WorkKind::kMemcpy;
        info.copy_kind = CopyKindOf(event.name);
        if (event.name.ends_with(kOtherEnd)) info.copy_kind |= kCopyOtherEnd;
        break;
      case ChromeCategory::kMemset:
        info.kind = WorkKind::kMemset;
        break;
      default:
        info.kind = event.whole_graph.value_or(0) != 0 ? WorkKind::kGraph : WorkKind::kKernel;
        std::copy(std::begin(event.grid), std::end(event.grid), std::begin(info.grid));
        std::copy(std::begin(event.block), std::end(event.block), std::begin(info.block));
        info.registers_per_thread = U32OrZero(event.registers);
        info.dynamic_shared_bytes = U32OrZero(event.shared_bytes);
        break;
    }
    return info;
  }

  // N of "ProfilerStep#N".
  static std::optional<int64_t> IterationOf(std::string_view name) {
    if (!name.starts_with(kIterationPrefix)) return std::nullopt;
    const std::optional<int64_t> number = ParseInt(name.substr(kIterationPrefix.size()));
    return number && *number >= 0 ? number : std::nullopt;
  }

  const std::string path_;
  ForeignTrace& trace_;
  ChromeParser parser_;
  IgnoredCategories ignored_;
  std::optional<Error> wrong_;
  uint64_t event_offset_ = 0;  // of the event that is looked at, in the text
  std::vector<Device> devices_;
  // By thread; in an order that is the same everywhere, since processes are numbered as they come.
  std::map<std::string, std::vector<Begun>> begun_;
  std::vector<Begun> open_;  // operations whose end is none, though they say that they have one
  ForeignLaunches launches_{kChromeWords};
  ToolHints hints_;
  std::set<std::string, std::less<>> device_pids_;  // of processes that are devices
  std::map<std::string, uint64_t> uncategorised_;   // events by pid; on a stream: by no pid
  uint64_t not_understood_ = 0;
  IgnoredCategories not_understood_of_;
};

}  // namespace

Status ReadChromeTrace(ByteSource* source, const std::string& path, ForeignTrace* trace) {
  trace->source = "Chrome JSON";
  return ChromeImport(path, trace).Read(source);
}

}  // namespace gpubound
