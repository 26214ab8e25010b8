// SPDX-License-Identifier: Apache-2.0
//
// Two passes over the sorted events of threads: the first finds out who works for whom and what
// launched what, so that device work can be written, the second writes. One call, one thread.
#include "analysis/import/import_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/text_table.h"
#include "analysis/import/external_sorter.h"
#include "analysis/import/import_fill.h"
#include "analysis/import/import_join.h"
#include "analysis/import/import_nesting.h"
#include "analysis/import/import_ops.h"
#include "analysis/import/import_segment.h"
#include "analysis/import/import_threads.h"
#include "analysis/import/import_torch_names.h"
#include "analysis/import/import_unassigned.h"
#include "analysis/trace/call_causes.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/lost_launches.h"
#include "proto/given_names.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

class RunWriter {
 public:
  RunWriter(ForeignTrace* trace, std::string path, std::string folder)
      : trace_(*trace),
        path_(std::move(path)),
        folder_(std::move(folder)),
        join_(folder_),
        ops_(folder_),
        helpers_(folder_) {}

  Result<ImportSummary> Write() {
    // Work without any process around it is that of a process of which nothing else is known.
    if (trace_.names.processes().empty() && trace_.work.size() > 0) trace_.names.Process("0");
    AdoptUnnamedThreads();
    trace_.DecideOnTimes();
    if (processes_.empty()) return NothingThere();
    FoldNumberedNames();
    ChooseWaitingThreads();
    for (const auto& step :
         {&RunWriter::OpenSegments, &RunWriter::SortWork, &RunWriter::SurveyThreads,
          &RunWriter::WriteWork, &RunWriter::WriteThreads, &RunWriter::WriteSyncs,
          &RunWriter::CloseSegments}) {
      const Status done = (this->*step)();
      if (!done.ok()) return done.error();
    }
    return ImportSummary{processes_.size(),
                         trace_.cpu.size() - timeless_,
                         trace_.work.size() - trace_.other_ends - trace_.unended - untimed_,
                         trace_.malformed,
                         trace_.cut_short,
                         NotesOnGaps()};
  }

 private:
  struct Process {
    uint32_t index = kNoIndex;  // of the names
    std::unique_ptr<ImportSegment> segment;
    uint64_t next_range = 1;
    std::vector<ThreadTotals> threads;
    int64_t unended_ns = INT64_MAX;  // where work began, or may have, whose end is not known
    LostLaunches lost;
    LostLaunches::Thread lost_of_thread;
    // Those that may wait for threads without operations: that have some, else the one that
    // reports.
    std::vector<uint32_t> waiting;
    bool names_operations = false;  // after what PyTorch calls its events, on waiting.front()
    uint64_t operations_named = 0;
    uint64_t iterations = 0;  // that are told
  };

  // What the name of a label says.
  enum class Says : uint8_t { kNotAsked, kNothing, kBackward, kModule, kNative, kTorchRange };

  Error NothingThere() const {
    if (trace_.other_tool != nullptr) {
      return {"importing the trace", path_, trace_.other_tool->found,
              "a PyTorch profile (Chrome JSON), or an SQLite export of Nsight Systems",
              trace_.other_tool->remedy};
    }
    if (!trace_.gaps.empty()) {
      return {"importing the trace", path_, trace_.gaps.front().note, "tables that can be read",
              "Export the report again with a version of Nsight Systems that writes them."};
    }
    return {"importing the trace", path_,
            "no event of a kind that has a meaning here" +
                (trace_.ignored.empty() ? "" : ", and most of category " + trace_.ignored),
            "events of a PyTorch profile (cpu_op, cuda_runtime, kernel, ...)",
            "Profile with torch.profiler and activities=[CPU, CUDA], and export it again."};
  }

  // Kineto writes threads that it cannot name as pid 0: they belong to the only process.
  void AdoptUnnamedThreads() {
    std::vector<ForeignProcess>& all = trace_.names.processes();
    const auto unnamed = static_cast<uint32_t>(
        std::find_if(all.begin(), all.end(),
                     [](const ForeignProcess& p) { return p.pid == 0 && p.only_python; }) -
        all.begin());
    const bool adopted = unnamed < all.size() && all.size() == 2;
    place_.assign(all.size(), kNoIndex);
    for (uint32_t index = 0; index < all.size(); ++index) {
      if (adopted && index == unnamed) continue;
      place_[index] = static_cast<uint32_t>(processes_.size());
      processes_.emplace_back().index = index;
    }
    if (adopted) place_[unnamed] = 0;
  }

  Process& ProcessOfThread(uint32_t thread) {
    return processes_[place_[trace_.names.threads()[thread].process]];
  }

  int64_t TraceTime(int64_t foreign_ns) const { return foreign_ns - trace_.first_ns; }

  // Each says of some others that they were there: together they say it of all, and no list grows
  // with the number of processes.
  std::string PidsBeside(size_t place) const {
    constexpr size_t kMost = 64;
    std::string pids;
    for (size_t i = 0; i < std::min(processes_.size(), kMost); ++i) {
      const Process& process = processes_[(place + i) % processes_.size()];
      pids +=
          (pids.empty() ? "" : " ") + std::to_string(trace_.names.processes()[process.index].pid);
    }
    return pids;
  }

  static constexpr size_t kMostDeviceRows = size_t{1} << 16;

  Status OpenSegments() {
    int64_t begin_ns = 0;
    if (__builtin_add_overflow(trace_.realtime_ns, trace_.first_ns, &begin_ns)) begin_ns = 0;
    for (Process& process : processes_) {
      const ProcessIdentity identity{trace_.host, trace_.names.processes()[process.index].pid,
                                     begin_ns};
      process.segment = std::make_unique<ImportSegment>(folder_, identity, &trace_.names, &files_);
      process.segment->Meta("imported_pids", PidsBeside(PlaceOf(process)));
      // Of thousands of processes and devices not each has to say of each.
      const bool few = processes_.size() * trace_.names.devices().size() <= kMostDeviceRows;
      if (few || PlaceOf(process) == 0) process.segment->ListAllDevices();
    }
    return Ok{};
  }

  bool NamesOperation(const Label& label) const {
    return label.kind == LabelKind::kOperation ||
           (label.kind == LabelKind::kAnnotation && !IsLibraryAnnotation(label.domain, label.text));
  }

  // Programs number their ranges: "step 17 of 90000" is one operation with its like, of which
  // nobody could read, compare or change one row each.
  void FoldNumberedNames() {
    const size_t labels = trace_.names.labels().size();
    std::map<std::tuple<LabelKind, std::string, std::string>, std::vector<uint32_t>> alike;
    for (uint32_t id = 1; id < labels; ++id) {
      const Label& label = trace_.names.labels()[id];
      if (!NamesOperation(label)) continue;
      std::string name = WithoutNumbers(label.text);
      if (name != label.text) alike[{label.kind, label.domain, std::move(name)}].push_back(id);
    }
    for (const auto& [key, ids] : alike) {
      if (ids.size() < kManyNames) continue;
      const auto& [kind, domain, name] = key;
      Rename(ids, trace_.names.Label(kind, Layer::kUnset, domain, name));
      notes_.push_back(std::to_string(ids.size()) +
                       " operations whose names differ in numbers are one, \"" + name + "\".");
    }
  }

  void Rename(const std::vector<uint32_t>& ids, LabelId name) {
    renamed_.resize(trace_.names.labels().size());
    for (const uint32_t id : ids) renamed_[id] = name;
  }

  // What is left has names without a rule: those that take longest keep theirs.
  void FoldRareNames() {
    std::vector<uint32_t> named;
    for (uint32_t id = 1; id < label_times_ns_.size(); ++id) {
      if (label_times_ns_[id] >= 0) named.push_back(id);
    }
    if (named.size() <= kMostNames) return;
    std::sort(named.begin(), named.end(), [this](uint32_t a, uint32_t b) {
      return std::pair(-label_times_ns_[a], a) < std::pair(-label_times_ns_[b], b);
    });
    named.erase(named.begin(), named.begin() + kMostNames);
    for (const LabelKind kind : {LabelKind::kOperation, LabelKind::kAnnotation}) {
      std::vector<uint32_t> ids;
      for (const uint32_t id : named) {
        if (trace_.names.labels()[id].kind == kind) ids.push_back(id);
      }
      if (!ids.empty()) Rename(ids, trace_.names.Label(kind, Layer::kUnset, "", kOtherNames));
    }
    notes_.push_back(std::to_string(named.size()) + " operations beyond the " +
                     std::to_string(kMostNames) + " that take longest are one, \"" + kOtherNames +
                     "\".");
  }

  // Of many threads with operations some are enough: whatever waits for one of autograd's is few.
  static constexpr size_t kMostWaiting = 16;

  // So many names that differ in numbers are one; so many others have a row each.
  static constexpr size_t kManyNames = 64;
  static constexpr size_t kMostNames = 1000;

  // What autograd's threads open (hooks of wrappers do) is no operation where another thread that
  // runs none of its nodes has operations: that one waits, and its operation owns the work.
  void DemoteBackwardThreads() {
    std::vector<ForeignThread>& threads = trace_.names.threads();
    std::vector<bool> leads(processes_.size());
    for (uint32_t t = 0; t < threads.size(); ++t) {
      if (threads[t].has_operation && threads[t].backward_nodes == 0) {
        leads[PlaceOf(ProcessOfThread(t))] = true;
      }
    }
    demoted_.assign(threads.size(), false);
    for (uint32_t t = 0; t < threads.size(); ++t) {
      if (threads[t].backward_nodes == 0 || !leads[PlaceOf(ProcessOfThread(t))]) continue;
      demoted_[t] = threads[t].has_operation;
      threads[t].has_operation = false;
    }
  }

  LabelId Demoted(LabelId id) {
    const Label& label = trace_.names.labels()[Raw(id)];
    if (!NamesOperation(label)) return id;
    const std::string text = label.text;
    return trace_.names.Label(LabelKind::kAnnotation, Layer::kUnset, "torch", text);
  }

  void ChooseWaitingThreads() {
    DemoteBackwardThreads();
    const std::vector<ForeignThread>& threads = trace_.names.threads();
    for (Process& process : processes_) {
      process.names_operations =
          trace_.busiest_reports && !trace_.names.processes()[process.index].annotated;
    }
    for (uint32_t t = 0; t < threads.size(); ++t) {
      Process& process = ProcessOfThread(t);
      if (!threads[t].has_operation || !threads[t].has_operation_time) continue;
      if (process.waiting.size() < kMostWaiting) process.waiting.push_back(t);
    }
    // Autograd's own threads wait for nobody. Ties as in BusiestTid().
    const auto key = [this, &threads](uint32_t t) {
      const ForeignThread& thread = threads[t];
      const bool is_own = thread.process == ProcessOfThread(t).index;
      return std::tuple(thread.events - thread.backward_nodes > thread.events / 2, thread.events,
                        -thread.id, is_own);
    };
    std::vector<uint32_t> busiest(processes_.size(), kNoIndex);
    for (uint32_t t = 0; t < threads.size(); ++t) {
      uint32_t& most = busiest[PlaceOf(ProcessOfThread(t))];
      if (most == kNoIndex || key(most) < key(t)) most = t;
    }
    for (Process& process : processes_) {
      const uint32_t most = busiest[PlaceOf(process)];
      if (process.waiting.empty() && most != kNoIndex) process.waiting.push_back(most);
    }
  }

  Says SaysOf(LabelId id) {
    const size_t index = Raw(id);
    if (index >= says_.size()) says_.resize(trace_.names.labels().size(), Says::kNotAsked);
    Says& says = says_[index];
    if (says != Says::kNotAsked) return says;
    const Label& label = trace_.names.labels()[index];
    says = Says::kNothing;
    if (label.kind == LabelKind::kOperation && OperationOfTorchRange(label.text)) {
      says = Says::kTorchRange;
    } else if (label.kind == LabelKind::kLayer && label.layer == Layer::kBackend) {
      if (IsBackwardNode(label.text)) says = Says::kBackward;
    } else if (label.kind == LabelKind::kLayer && label.layer == Layer::kPython) {
      if (!ModuleOf(label.text).empty()) says = Says::kModule;
      if (IsNativeFunction(label.text)) says = Says::kNative;
    }
    return says;
  }

  // The next interval that has a time.
  Result<bool> NextInterval(CpuInterval* interval, uint64_t* timeless = nullptr) {
    while (true) {
      Result<bool> more = trace_.cpu.Next(interval);
      if (!more.ok() || !*more) return more;
      if (trace_.HasTime(*interval)) {
        const size_t id = Raw(interval->label);
        if (id < renamed_.size() && renamed_[id] != LabelId{}) interval->label = renamed_[id];
        if (demoted_[interval->thread]) interval->label = Demoted(interval->label);
        return more;
      }
      if (timeless != nullptr) ++*timeless;
    }
  }

  // Runs operators or calls for who waits, in a program of Python: others are in native code
  // anyway.
  static bool IsFrameworks(const CpuInterval& interval) {
    return interval.kind == CpuKind::kCall || interval.layer == Layer::kBackend;
  }

  Status SurveyThreads() {
    const Status sorted = trace_.cpu.Finish();
    if (!sorted.ok()) return sorted;
    CpuInterval interval;
    ThreadTotals totals;
    int64_t covered_until_ns = INT64_MIN;
    int64_t helped_until_ns = INT64_MIN;
    Result<bool> more = NextInterval(&interval, &timeless_);
    for (; more.ok() && *more; more = NextInterval(&interval, &timeless_)) {
      Process& process = ProcessOfThread(interval.thread);
      if (totals.thread != interval.thread) {
        EndSurvey(totals);
        totals = {interval.thread, 0, 0};
        covered_until_ns = helped_until_ns = INT64_MIN;
        open_ops_.Clear();
      }
      ++totals.events;
      if (IsOperation(interval)) {
        const int64_t from_ns = std::max(interval.start_ns, covered_until_ns);
        totals.operation_ns += std::max<int64_t>(interval.end_ns - from_ns, 0);
        covered_until_ns = std::max(covered_until_ns, interval.end_ns);
      }
      const bool is_range = interval.kind == CpuKind::kScope || interval.kind == CpuKind::kRange;
      if (is_range && NamesOperation(trace_.names.labels()[Raw(interval.label)])) {
        label_times_ns_.resize(trace_.names.labels().size(), -1);
        int64_t& ns = label_times_ns_[Raw(interval.label)];
        ns = std::max<int64_t>(ns, 0) + (interval.end_ns - interval.start_ns);
      }
      Status noted = Ok{};
      if (interval.op != 0) open_ops_.Open(interval.start_ns, interval.end_ns, interval.op);
      if (interval.kind == CpuKind::kCall) noted = NoteCall(interval, &process);
      if (noted.ok() && IsFrameworks(interval) && interval.end_ns > helped_until_ns) {
        helped_until_ns = interval.end_ns;
        noted = NoteHelp(interval, process);
      }
      if (!noted.ok()) return noted;
    }
    if (!more.ok()) return more.error();
    EndSurvey(totals);
    FoldRareNames();
    for (Process& process : processes_) process.segment->ExpectThreads(process.threads.size());
    for (const Status& done : {helpers_.Finish(), trace_.cpu.Rewind()}) {
      if (!done.ok()) return done;
    }
    return Ok{};
  }

  void EndSurvey(const ThreadTotals& totals) {
    if (totals.thread != kNoIndex) ProcessOfThread(totals.thread).threads.push_back(totals);
  }

  // An outermost operator or call of a thread.
  Status NoteHelp(const CpuInterval& interval, const Process& process) {
    if (trace_.names.threads()[interval.thread].has_operation || !RunsPython(process)) return Ok{};
    const bool is_backward = SaysOf(interval.label) == Says::kBackward;
    for (const uint32_t waiting : process.waiting) {
      if (waiting == interval.thread) continue;
      const Status added = helpers_.Add({interval.start_ns, interval.end_ns, waiting, is_backward});
      if (!added.ok()) return added;
    }
    return Ok{};
  }

  bool RunsPython(const Process& process) const {
    return trace_.python || trace_.names.NameOfProcess(process.index).starts_with("python");
  }

  Status NoteCall(const CpuInterval& call, Process* process) {
    const int64_t start_ns = TraceTime(call.start_ns);
    trace_.untimed.NoteCall(PlaceOf(*process), call.correlation, start_ns);
    const std::string& name = trace_.names.labels()[Raw(call.label)].text;
    const CaptureEdge edge = CaptureEdgeOf(name);
    if (edge != CaptureEdge::kNone) {
      process->lost.NoteCapture(call.start_ns, edge == CaptureEdge::kBegins);
    }
    if (LostLaunches::InstantiatesGraph(name)) process->lost.NoteInstantiation();
    OpLaunch launch;
    if (call.correlation != 0 && open_ops_.IsWithin(call.start_ns, &launch)) {
      launch.process = PlaceOf(*process);
      launch.correlation = call.correlation;
      launch.start_ns = start_ns;
      const Status added = ops_.AddLaunch(launch);
      if (!added.ok()) return added;
    }
    if (processes_.size() == 1 || call.correlation == 0) return Ok{};
    const bool one_kernel = call.result == 0 && LaunchesOneKernel(name);
    return join_.AddCall(
        {call.correlation, start_ns, TraceTime(call.end_ns), PlaceOf(*process), one_kernel});
  }

  Status WriteThreads() {
    for (Process& process : processes_) process.lost.NoteStreams(process.segment->streams());
    Result<bool> helper = helpers_.Next(&helper_);
    if (!helper.ok()) return helper.error();
    more_helpers_ = *helper;
    CpuInterval interval;
    Result<bool> more = NextInterval(&interval);
    while (more.ok() && *more) {
      const Status written = WriteThread(&interval, &more);
      if (!written.ok()) return written;
    }
    return more.ok() ? Status(Ok{}) : Status(more.error());
  }

  // Those of |thread|; the sorter has them by thread.
  Result<bool> NextHelper(uint32_t thread, HelperTime* helper) {
    while (more_helpers_ && helper_.for_thread < thread) {
      const Result<bool> more = helpers_.Next(&helper_);
      if (!more.ok()) return more.error();
      more_helpers_ = *more;
    }
    if (!more_helpers_ || helper_.for_thread != thread) return false;
    *helper = helper_;
    const Result<bool> more = helpers_.Next(&helper_);
    if (!more.ok()) return more.error();
    more_helpers_ = *more;
    return true;
  }

  ThreadFill::Labels LabelsOfFill(const Process& process) {
    ThreadFill::Labels labels;
    labels.backend =
        trace_.names.Label(LabelKind::kLayer, Layer::kBackend, kAssumedDomain, kWaitsForThread);
    if (process.names_operations) labels.backward = Operation(kBackwardOperation);
    return labels;
  }

  ThreadFill::Says LayerOf(const CpuInterval& interval) {
    if (interval.layer == Layer::kUnset && interval.kind != CpuKind::kCall) {
      return ThreadFill::Says::kNothing;
    }
    const bool is_native = SaysOf(interval.label) == Says::kNative;
    return is_native ? ThreadFill::Says::kNative : ThreadFill::Says::kLayer;
  }

  LabelId Operation(std::string_view name) {
    return trace_.names.Label(LabelKind::kOperation, Layer::kUnset, "", name);
  }

  // Writes the thread of |interval|, its first one, and leaves the next thread's first there.
  Status WriteThread(CpuInterval* interval, Result<bool>* more) {
    const uint32_t thread = interval->thread;
    Process& process = ProcessOfThread(thread);
    ImportSegment& segment = *process.segment;
    Status status = segment.BeginThread(thread);
    ThreadNesting nesting(
        [&](const NestedEvent& event) {
          if (status.ok()) status = segment.Add(event);
        },
        &process.next_range);
    const bool waits =
        std::find(process.waiting.begin(), process.waiting.end(), thread) != process.waiting.end();
    const bool names = process.names_operations && waits && process.waiting.front() == thread;
    const auto put = [&](CpuInterval item) {
      item.start_ns = std::max(TraceTime(item.start_ns), int64_t{0});
      item.end_ns = TraceTime(std::min(item.end_ns, trace_.last_ns));
      if (item.start_ns < item.end_ns) nesting.Add(item);
    };
    ThreadFill fill(
        thread, waits ? LabelsOfFill(process) : ThreadFill::Labels(),
        [this, thread](HelperTime* helper) { return NextHelper(thread, helper); },
        [&](const CpuInterval& item) {
          if (item.layer == Layer::kUnset) ++process.operations_named;
          put(item);
        });
    int64_t named_until_ns = INT64_MIN;
    while (more->ok() && **more && interval->thread == thread && status.ok()) {
      if (waits) {
        status = fill.Before(*interval, LayerOf(*interval));
        if (!status.ok()) return status;
      }
      if (names) NameOperation(interval, &process, &named_until_ns, put);
      if (interval->kind == CpuKind::kIteration) TellOnce(interval);
      if (interval->kind == CpuKind::kCall) {
        const std::string& name = trace_.names.labels()[Raw(interval->label)].text;
        process.lost.AddCall({{interval->start_ns, interval->end_ns},
                              interval->correlation,
                              interval->result,
                              LostLaunches::KindOf(name)},
                             &process.lost_of_thread);
      }
      interval->start_ns = TraceTime(interval->start_ns);
      interval->end_ns = TraceTime(interval->end_ns);
      // Calls whose label has a layer are scopes too; see LabelRole::call_is_scope.
      if (interval->kind != CpuKind::kCall || interval->layer != Layer::kUnset) {
        nesting.Add(*interval);
      }
      if (interval->kind == CpuKind::kCall && status.ok()) status = WriteCall(*interval, &process);
      *more = NextInterval(interval);
    }
    if (waits && status.ok()) status = fill.Finish();
    nesting.Finish();
    process.lost.EndThread(&process.lost_of_thread);
    return status;
  }

  // In a process without annotations, after what PyTorch calls its own: what its optimizers do, a
  // module that no other one calls, a node of autograd that the thread executes by itself.
  template <typename Put>
  void NameOperation(CpuInterval* interval, Process* process, int64_t* named_until_ns,
                     const Put& put) {
    const Says says = SaysOf(interval->label);
    if (says == Says::kTorchRange) {
      ++process->operations_named;
      const std::string name = trace_.names.labels()[Raw(interval->label)].text;
      interval->label = Operation(*OperationOfTorchRange(name));
      return;
    }
    if (says != Says::kModule && says != Says::kBackward) return;
    if (interval->end_ns <= *named_until_ns) return;
    *named_until_ns = interval->end_ns;
    ++process->operations_named;
    CpuInterval operation = *interval;
    operation.layer = Layer::kUnset;
    operation.kind = CpuKind::kScope;
    const std::string name = trace_.names.labels()[Raw(interval->label)].text;
    operation.label = Operation(says == Says::kModule ? ModuleOf(name) : kBackwardOperation);
    put(operation);
  }

  // Threads that work together tell the same iterations. One of them tells those of the process;
  // what the others tell is a range of the profiler's own, like those that are recorded in this
  // domain.
  void TellOnce(CpuInterval* interval) {
    const uint32_t process = trace_.names.threads()[interval->thread].process;
    if (trace_.names.processes()[process].stepping_thread == interval->thread) {
      ++ProcessOfThread(interval->thread).iterations;
      return;
    }
    const std::string name = std::string(kIterationPrefix) + std::to_string(interval->number);
    interval->kind = CpuKind::kScope;
    interval->label = trace_.names.Label(LabelKind::kAnnotation, Layer::kUnset, "torch", name);
  }

  bool IsOperation(const CpuInterval& interval) const {
    return interval.kind == CpuKind::kScope &&
           trace_.names.labels()[Raw(interval.label)].kind == LabelKind::kOperation;
  }

  Status WriteCall(const CpuInterval& call, Process* process) {
    ApiRecord record{};
    record.start_ns = static_cast<uint64_t>(call.start_ns);
    record.end_ns = static_cast<uint64_t>(call.end_ns);
    record.correlation = call.correlation;
    record.label = call.label;
    record.result = call.result;
    return process->segment->Add(record);
  }

  uint32_t PlaceOf(const Process& process) const {
    return static_cast<uint32_t>(&process - processes_.data());
  }

  // Whether nothing says when it ran.
  bool IsTimeless(const ForeignWork& work) const {
    if (!work.ended) return false;
    return (!work.timed && !trace_.zero_is_a_time) ||
           (trace_.outlier_distance_ns > 0 && work.timed &&
            !trace_.IsInside(work.start_ns, work.end_ns));
  }

  // Which work has no time is to be known before the calls that may have launched it.
  Status SortWork() {
    const Status sorted = trace_.work.Finish();
    if (!sorted.ok() || trace_.outlier_distance_ns == 0) return sorted;
    ForeignWork work;
    Result<bool> more = trace_.work.Next(&work);
    for (; more.ok() && *more; more = trace_.work.Next(&work)) {
      if (!IsTimeless(work) || !work.timed) continue;
      trace_.untimed.Expect(work.correlation);
      ++outlying_work_;
    }
    return more.ok() ? trace_.work.Rewind() : Status(more.error());
  }

  Status WriteWork() {
    ForeignWork work;
    Result<bool> more = trace_.work.Next(&work);
    for (; more.ok() && *more; more = trace_.work.Next(&work)) {
      if (IsTimeless(work)) {
        NoteUntimed(work);
        continue;
      }
      work.start_ns = TraceTime(work.start_ns);
      work.end_ns = TraceTime(work.ended ? work.end_ns : std::max(work.end_ns, trace_.last_ns));
      const bool known = work.process != kNoIndex;
      if (known) work.process = place_[work.process];
      if (!known && processes_.size() == 1) work.process = 0;
      const bool settled = work.process != kNoIndex;
      const Status added = settled ? PutWork(work) : join_.AddWork(work, IsCopyAgain(work));
      if (!added.ok()) return added;
    }
    if (!more.ok()) return more.error();
    const Status joined = JoinWork();
    if (!joined.ok() || !ops_.any()) return joined;
    return ops_.Resolve(&trace_.names,
                        [this](const ForeignWork& item) { return WriteWorkItem(item); });
  }

  // Work of a known process, which is written at once where nobody asks for operators.
  Status PutWork(const ForeignWork& work) {
    return ops_.any() ? ops_.AddWork(work) : WriteWorkItem(work);
  }

  Status JoinWork() {
    return join_.Resolve([this](const ForeignWork& item, const LaunchJoin::Candidates& candidates) {
      if (item.process != kNoIndex) return PutWork(item);
      for (const uint32_t place : candidates) processes_[place].lost.NoteWork(item.correlation);
      if (!IsCopyAgain(item)) {
        processes_.front().segment->Count(LedgerCounter::import_work_unassigned, 1);
      }
      const DeviceId device = trace_.names.streams()[item.stream].device;
      unassigned_.Add(device, {item.start_ns, item.end_ns}, candidates);
      return Status(Ok{});
    });
  }

  // It may have run at any time since its launch, in whichever process that is.
  void NoteUntimed(const ForeignWork& work) {
    const bool known = work.process != kNoIndex;
    Process& counting = processes_[known ? place_[work.process] : 0];
    if (!IsCopyAgain(work)) {
      ++untimed_;
      counting.segment->Count(
          work.timed ? LedgerCounter::import_times_outlying : LedgerCounter::cupti_zero_timestamps,
          1);
    }
    for (Process& process : processes_) {
      if (!known || &process == &counting) process.lost.NoteWork(work.correlation);
    }
    int64_t latest_ns = INT64_MIN;  // of the launches; none: no call launched it
    for (const Process& process : processes_) {
      if (!known || &process == &counting) {
        latest_ns = std::max(latest_ns, trace_.untimed.BeginOf(PlaceOf(process), work.correlation));
      }
    }
    for (Process& process : processes_) {
      if (known && &process != &counting) continue;
      const int64_t begin_ns = trace_.untimed.BeginOf(PlaceOf(process), work.correlation);
      if (begin_ns == INT64_MIN && latest_ns != INT64_MIN) continue;
      process.unended_ns = std::min(process.unended_ns, begin_ns);
    }
  }

  bool IsCopyAgain(const ForeignWork& work) const {
    return trace_.names.works()[work.work].info.is_other_end();
  }

  // While a device did work that may be anybody's, what it did for the processes that use it, or
  // may have launched the work, is not known. Where there are none such, it may be any.
  void MarkUnassigned(DeviceId device, const UnassignedWork::OnDevice& work) {
    const std::string name =
        "device " + std::to_string(trace_.names.devices()[Raw(device)].info.index);
    std::vector<Process*> concerned;
    for (Process& process : processes_) {
      const bool may_be_its = work.candidates.count(PlaceOf(process)) > 0;
      if (may_be_its || process.segment->UsesDevice(device)) concerned.push_back(&process);
    }
    const std::string note = NoteOn(name, work, /*of_some=*/!concerned.empty());
    processes_.front().segment->Note(note);
    if (concerned.empty()) {
      for (Process& process : processes_) concerned.push_back(&process);
    }
    for (const Process* process : concerned) {
      for (const Interval& busy : work.busy) {
        process->segment->AddUnknown(busy.begin_ns, busy.end_ns,
                                     "work of no known process ran on " + name);
      }
    }
  }

  Status WriteWorkItem(const ForeignWork& work) {
    processes_[work.process].lost.NoteWork(work.correlation);
    if (!work.ended) {
      int64_t& unended_ns = processes_[work.process].unended_ns;
      unended_ns = std::min(unended_ns, work.start_ns);
      return Ok{};
    }
    DeviceRecord record{};
    record.start_ns = static_cast<uint64_t>(work.start_ns);
    record.end_ns = static_cast<uint64_t>(work.end_ns);
    record.bytes = work.bytes;
    record.graph_node = work.graph_node;
    record.correlation = work.correlation;
    record.stream = static_cast<StreamId>(work.stream);
    record.work = static_cast<WorkId>(work.work);
    record.graph = work.graph;
    return processes_[work.process].segment->Add(record);
  }

  Status WriteSyncs() {
    const Status sorted = trace_.syncs.Finish();
    if (!sorted.ok()) return sorted;
    ForeignSync sync;
    Result<bool> more = trace_.syncs.Next(&sync);
    for (; more.ok() && *more; more = trace_.syncs.Next(&sync)) {
      SyncRecord record{};
      record.start_ns = static_cast<uint64_t>(TraceTime(sync.start_ns));
      record.end_ns = static_cast<uint64_t>(TraceTime(sync.end_ns));
      record.event = sync.event;
      record.correlation = sync.correlation;
      record.type = sync.type;
      record.context = sync.context;
      record.stream = sync.stream;
      // Without its process a wait says nothing about time; the call that waited does.
      if (sync.process == kNoIndex) continue;
      const Status added = processes_[place_[sync.process]].segment->Add(record);
      if (!added.ok()) return added;
    }
    return more.ok() ? Status(Ok{}) : Status(more.error());
  }

  Status CloseSegments() {
    ImportSegment& first = *processes_.front().segment;
    first.Count(LedgerCounter::import_events_malformed, trace_.malformed);
    first.Count(LedgerCounter::scopes_open_at_end, trace_.never_ended);
    first.Count(LedgerCounter::unbalanced_scopes, trace_.never_begun);
    first.Count(LedgerCounter::labels_overflowed, trace_.names.names_lost());
    if (!trace_.cut_short.empty()) NoteCutShort();
    for (const auto& [device, work] : unassigned_.devices()) MarkUnassigned(device, work);
    for (const std::string& note : notes_) first.Note(note);
    NoteTimeless();
    if (trace_.names.inputs_lost()) {
      notes_.push_back("Operators have more kinds of inputs than the " +
                       std::to_string(ForeignNames::kMostOps) +
                       " that are kept: of some the shape is missing.");
      first.Note(notes_.back());
    }
    for (const ForeignGap& gap : trace_.gaps) MarkGap(gap);
    for (Process& process : processes_) MarkLost(&process);
    for (const ForeignUnknown& time : trace_.unknown) {
      processes_[place_[time.process]].segment->AddUnknown(TraceTime(time.start_ns),
                                                           TraceTime(time.end_ns), time.reason);
    }
    if (!trace_.ignored.empty()) first.Note(NoteOnIgnored());
    for (Process& process : processes_) {
      ImportSegment& segment = *process.segment;
      segment.AddUnknown(process.unended_ns, segment.end_ns(),
                         "GPU work began of which no end is known");
      const uint32_t tid = process.operations_named > 0
                               ? trace_.names.threads()[process.waiting.front()].tid
                               : BusiestTid(process.threads, process.index, trace_.names);
      if (process.operations_named > 0) {
        segment.Note(
            "the profile has no annotations: operations are named after autograd's nodes, "
            "optimizers, data loaders and the outermost modules");
      }
      const std::string& name = trace_.names.NameOfProcess(process.index);
      segment.Meta("name", name.empty() ? std::filesystem::path(path_).filename().string() : name);
      segment.Meta("command", "");
      segment.Meta("imported_from", trace_.source);
      segment.Meta("python", RunsPython(process) ? 1 : 0);
      if (process.iterations == 1) segment.Meta("first_iteration_counts", 1);
      segment.Meta("main_tid", MainTid(process.threads, process.index, trace_.names, tid));
      if (trace_.busiest_reports) segment.Meta("reporting_tid", tid);
      const Status finished = segment.Finish();
      if (!finished.ok()) return finished;
    }
    return Ok{};
  }

  // What lies nowhere, or far from everything else.
  void NoteTimeless() {
    ImportSegment& first = *processes_.front().segment;
    if (timeless_ > 0) first.Count(LedgerCounter::import_times_outlying, timeless_);
    if (timeless_ + outlying_work_ == 0) return;
    const uint64_t count = timeless_ + outlying_work_;
    std::string note = std::to_string(count) +
                       (count == 1 ? " event has no time that can be right and counts"
                                   : " events have no time that can be right and count") +
                       " for nothing";
    if (trace_.outlier_distance_ns > 0) {
      note += ": the nearest of them lies " + FormatTime(trace_.outlier_distance_ns) +
              " from all others, which take " + FormatTime(trace_.last_ns - trace_.first_ns);
    }
    notes_.push_back(note);
    first.Note(note);
  }

  // Launches whose kernel is not there, though others of the process are.
  void MarkLost(Process* process) {
    const uint64_t count = process->lost.count();
    const bool is_gap =
        std::any_of(trace_.gaps.begin(), trace_.gaps.end(), [this, process](const ForeignGap& gap) {
          return !gap.why_hidden.empty() &&
                 (gap.processes.empty() ||
                  std::any_of(gap.processes.begin(), gap.processes.end(),
                              [&](uint32_t p) { return place_[p] == PlaceOf(*process); }));
        });
    if (count == 0 || is_gap) return;
    ImportSegment& segment = *process->segment;
    segment.Count(LedgerCounter::import_launches_without_work, count);
    const std::string note =
        std::to_string(count) + (count == 1 ? " launch" : " launches") + " of pid " +
        std::to_string(trace_.names.processes()[process->index].pid) +
        (count == 1 ? " has" : " have") +
        " no kernel in the trace, as the profiler lost what it had recorded. GPU time is unknown "
        "from each on, until the process has waited for its device";
    notes_.push_back(note + ".");
    segment.Note(note);
    for (const Interval& time : process->lost.when()) {
      segment.AddUnknown(TraceTime(time.begin_ns),
                         time.end_ns == INT64_MAX ? INT64_MAX : TraceTime(time.end_ns),
                         "kernels that it launched are not in the trace");
    }
  }

  // Work that followed may be missing, whosever it was, unless the list of events was whole.
  void NoteCutShort() {
    processes_.front().segment->Note(trace_.cut_short);
    if (trace_.cut_behind_events) return;
    processes_.front().segment->Count(LedgerCounter::import_cut_short, 1);
    for (Process& process : processes_) {
      ImportSegment& segment = *process.segment;
      segment.AddUnknown(segment.work_end_ns(), segment.end_ns(), "the imported file breaks off");
    }
  }

  std::string NoteOnIgnored() const {
    return "the file has no GPU work; of the events without a meaning here most are of category " +
           trace_.ignored + ", and GPU work is of kernel, gpu_memcpy or gpu_memset";
  }

  std::vector<std::string> NotesOnGaps() const {
    std::vector<std::string> notes;
    for (const ForeignGap& gap : trace_.gaps) notes.push_back(gap.note);
    notes.insert(notes.end(), notes_.begin(), notes_.end());
    if (!trace_.ignored.empty()) notes.push_back(NoteOnIgnored());
    return notes;
  }

  void MarkGap(const ForeignGap& gap) {
    processes_.front().segment->Count(gap.counter, gap.count);
    processes_.front().segment->Note(gap.note);
    if (gap.why_hidden.empty()) return;
    std::vector<bool> concerned(processes_.size(), gap.processes.empty());
    for (const uint32_t process : gap.processes) concerned[place_[process]] = true;
    for (size_t place = 0; place < processes_.size(); ++place) {
      if (!concerned[place]) continue;
      ImportSegment& segment = *processes_[place].segment;
      segment.AddUnknown(segment.begin_ns(), segment.end_ns(), gap.why_hidden);
    }
  }

  ForeignTrace& trace_;
  const std::string path_;
  const std::string folder_;
  ImportFiles files_;
  std::vector<Process> processes_;
  std::vector<uint32_t> place_;  // in processes_, by index of the names
  LaunchJoin join_;
  OpJoin ops_;
  OpenOps open_ops_;  // of the thread that is surveyed
  UnassignedWork unassigned_;
  uint64_t untimed_ = 0;
  uint64_t timeless_ = 0;       // events of threads
  uint64_t outlying_work_ = 0;  // of untimed_: what lies far from all else
  std::vector<std::string> notes_;
  ExternalSorter<HelperTime> helpers_;
  HelperTime helper_;  // the next one
  bool more_helpers_ = false;
  std::vector<Says> says_;               // by label
  std::vector<bool> demoted_;            // by thread: of autograd, whose ranges are no operations
  std::vector<LabelId> renamed_;         // likewise, to what; 0: as they are
  std::vector<int64_t> label_times_ns_;  // likewise, of operations; -1: of none
};

}  // namespace

Result<ImportSummary> WriteImportedRun(ForeignTrace* trace, const std::string& path,
                                       const std::string& folder) {
  return RunWriter(trace, path, folder).Write();
}

}  // namespace gpubound
