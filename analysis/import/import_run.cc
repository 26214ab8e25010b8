// SPDX-License-Identifier: Apache-2.0
//
// Two passes over sorted events: threads first, then device work. One call, one thread.
#include "analysis/import/import_run.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/import/import_join.h"
#include "analysis/import/import_nesting.h"
#include "analysis/import/import_segment.h"
#include "analysis/import/import_threads.h"
#include "analysis/import/import_unassigned.h"
#include "analysis/trace/call_causes.h"

namespace gpubound {
namespace {

class RunWriter {
 public:
  RunWriter(ForeignTrace* trace, std::string path, std::string folder)
      : trace_(*trace), path_(std::move(path)), folder_(std::move(folder)), join_(folder_) {}

  Result<ImportSummary> Write() {
    // Work without any process around it is that of a process of which nothing else is known.
    if (trace_.names.processes().empty() && trace_.work.size() > 0) trace_.names.Process("0");
    AdoptUnnamedThreads();
    trace_.DecideOnZeroTimes();
    if (processes_.empty()) return NothingThere();
    for (const auto& step :
         {&RunWriter::OpenSegments, &RunWriter::WriteThreads, &RunWriter::WriteWork,
          &RunWriter::WriteSyncs, &RunWriter::CloseSegments}) {
      const Status done = (this->*step)();
      if (!done.ok()) return done.error();
    }
    return ImportSummary{processes_.size(),
                         trace_.cpu.size(),
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
  };

  Error NothingThere() const {
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

  Status OpenSegments() {
    int64_t begin_ns = 0;
    if (__builtin_add_overflow(trace_.realtime_ns, trace_.first_ns, &begin_ns)) begin_ns = 0;
    std::string pids;
    for (const Process& process : processes_) {
      pids += pids.empty() ? "" : " ";
      pids += std::to_string(trace_.names.processes()[process.index].pid);
    }
    for (Process& process : processes_) {
      const ProcessIdentity identity{trace_.host, trace_.names.processes()[process.index].pid,
                                     begin_ns};
      auto segment = ImportSegment::Create(folder_, identity, &trace_.names);
      if (!segment.ok()) return segment.error();
      process.segment = std::move(*segment);
      process.segment->Meta("imported_pids", pids);
    }
    return Ok{};
  }

  Status WriteThreads() {
    const Status sorted = trace_.cpu.Finish();
    if (!sorted.ok()) return sorted;
    CpuInterval interval;
    Result<bool> more = trace_.cpu.Next(&interval);
    while (more.ok() && *more) {
      const Status written = WriteThread(&interval, &more);
      if (!written.ok()) return written;
    }
    return more.ok() ? Status(Ok{}) : Status(more.error());
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
    ThreadTotals totals;
    totals.thread = thread;
    int64_t covered_until_ns = INT64_MIN;
    while (more->ok() && **more && interval->thread == thread && status.ok()) {
      ++totals.events;
      if (IsOperation(*interval)) {
        const int64_t from_ns = std::max(interval->start_ns, covered_until_ns);
        totals.operation_ns += std::max<int64_t>(interval->end_ns - from_ns, 0);
        covered_until_ns = std::max(covered_until_ns, interval->end_ns);
      }
      if (interval->kind == CpuKind::kIteration) TellOnce(interval);
      interval->start_ns = TraceTime(interval->start_ns);
      interval->end_ns = TraceTime(interval->end_ns);
      // Calls whose label has a layer are scopes too; see LabelRole::call_is_scope.
      if (interval->kind != CpuKind::kCall || interval->layer != Layer::kUnset) {
        nesting.Add(*interval);
      }
      if (interval->kind == CpuKind::kCall && status.ok()) status = WriteCall(*interval, &process);
      *more = trace_.cpu.Next(interval);
    }
    nesting.Finish();
    process.threads.push_back(totals);
    return status;
  }

  // Threads that work together tell the same iterations. One of them tells those of the process;
  // what the others tell is a range of the profiler's own, like those that are recorded in this
  // domain.
  void TellOnce(CpuInterval* interval) {
    const uint32_t process = trace_.names.threads()[interval->thread].process;
    if (trace_.names.processes()[process].stepping_thread == interval->thread) return;
    const std::string name = std::string(kIterationPrefix) + std::to_string(interval->number);
    interval->kind = CpuKind::kScope;
    interval->label = trace_.names.Label(LabelKind::kAnnotation, Layer::kUnset, "torch", name);
  }

  bool IsOperation(const CpuInterval& interval) const {
    return interval.kind == CpuKind::kScope &&
           trace_.names.labels()[Raw(interval.label)].kind == LabelKind::kOperation;
  }

  Status WriteCall(const CpuInterval& call, Process* process) {
    trace_.untimed.NoteCall(PlaceOf(*process), call.correlation, call.start_ns);
    if (processes_.size() > 1 && call.correlation != 0) {
      const std::string& name = trace_.names.labels()[Raw(call.label)].text;
      const bool one_kernel = call.result == 0 && LaunchesOneKernel(name);
      const Status noted = join_.AddCall(
          {call.correlation, call.start_ns, call.end_ns, PlaceOf(*process), one_kernel});
      if (!noted.ok()) return noted;
    }
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

  Status WriteWork() {
    const Status sorted = trace_.work.Finish();
    if (!sorted.ok()) return sorted;
    ForeignWork work;
    Result<bool> more = trace_.work.Next(&work);
    for (; more.ok() && *more; more = trace_.work.Next(&work)) {
      if (!work.timed && !trace_.zero_is_a_time) {
        NoteUntimed(work);
        continue;
      }
      work.start_ns = TraceTime(work.start_ns);
      work.end_ns = TraceTime(work.ended ? work.end_ns : std::max(work.end_ns, trace_.last_ns));
      const bool known = work.process != kNoIndex;
      if (known) work.process = place_[work.process];
      if (!known && processes_.size() == 1) work.process = 0;
      const bool settled = work.process != kNoIndex;
      const Status added = settled ? WriteWorkItem(work) : join_.AddWork(work, IsCopyAgain(work));
      if (!added.ok()) return added;
    }
    if (!more.ok()) return more.error();
    return join_.Resolve([this](const ForeignWork& item, const LaunchJoin::Candidates& candidates) {
      if (item.process != kNoIndex) return WriteWorkItem(item);
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
      counting.segment->Count(LedgerCounter::cupti_zero_timestamps, 1);
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
    for (const ForeignGap& gap : trace_.gaps) MarkGap(gap);
    if (!trace_.ignored.empty()) first.Note(NoteOnIgnored());
    for (Process& process : processes_) {
      ImportSegment& segment = *process.segment;
      segment.AddUnknown(process.unended_ns, segment.end_ns(),
                         "GPU work began of which no end is known");
      const uint32_t tid = BusiestTid(process.threads, process.index, trace_.names);
      const std::string& name = trace_.names.NameOfProcess(process.index);
      segment.Meta("name", name.empty() ? std::filesystem::path(path_).filename().string() : name);
      segment.Meta("command", "");
      segment.Meta("imported_from", trace_.source);
      segment.Meta("python", trace_.python || name.starts_with("python") ? 1 : 0);
      segment.Meta("main_tid", MainTid(process.threads, process.index, trace_.names, tid));
      if (trace_.busiest_reports) segment.Meta("reporting_tid", tid);
      const Status finished = segment.Finish();
      if (!finished.ok()) return finished;
    }
    return Ok{};
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
  std::vector<Process> processes_;
  std::vector<uint32_t> place_;  // in processes_, by index of the names
  LaunchJoin join_;
  UnassignedWork unassigned_;
  uint64_t untimed_ = 0;
};

}  // namespace

Result<ImportSummary> WriteImportedRun(ForeignTrace* trace, const std::string& path,
                                       const std::string& folder) {
  return RunWriter(trace, path, folder).Write();
}

}  // namespace gpubound
