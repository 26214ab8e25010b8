// SPDX-License-Identifier: Apache-2.0
//
// Opens runs for queries. One object, one thread.
#include "analysis/output/tables/trace_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>

#include "analysis/base/folder_entries.h"
#include "analysis/correction/run_report.h"
#include "analysis/naming/name_operations.h"
#include "analysis/reader/process_files.h"
#include "analysis/reader/reader.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/event_source.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

// Every segment in |folder| that can be opened, by process. OpenRun has named those that cannot.
std::map<ProcessIdentity, ProcessFiles> SegmentsIn(const std::string& folder) {
  std::vector<Segment> segments;
  for (const fs::directory_entry& entry : EntriesOf(folder)) {
    const auto name = ParseTraceFileName(entry.path().filename().string());
    if (!name || name->live) continue;
    Result<Segment> segment = Segment::Open(entry.path().string(), *name);
    if (segment.ok()) segments.push_back(std::move(*segment));
  }
  return GroupByProcess(std::move(segments)).processes;
}

std::unique_ptr<EventPieces> PiecesOf(ProcessTrace* process,
                                      std::map<ProcessIdentity, ProcessFiles>* files) {
  if (process->source == nullptr) return PiecesInMemory(*process);
  std::unique_ptr<EventPieces> pieces =
      PiecesOfSegments(*process, std::move((*files)[process->identity].segments));
  if (!HoldNamedEvents(process)) return pieces;
  return PiecesJoined(PiecesInMemory(*process), std::move(pieces));
}

bool Failed(const ProcessTrace& process) {
  return process.source != nullptr && process.source->failed();
}

}  // namespace

Result<std::unique_ptr<TraceRun>> TraceRun::Open(const std::string& path) {
  Result<Run> run = OpenRun(path);
  if (run.ok() && std::any_of(run->processes.begin(), run->processes.end(), Failed)) {
    run = LoadRun(path);
  }
  if (!run.ok()) return run.error();
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error);
  std::unique_ptr<TraceRun> opened(  // NOLINT: private constructor
      new TraceRun(std::move(*run), error ? path : absolute.string()));
  auto segments = SegmentsIn(path);
  for (ProcessTrace& process : opened->run_.processes) {
    opened->pieces_.push_back(PiecesOf(&process, &segments));
    EventPieces* const pieces = opened->pieces_.back().get();
    opened->correlated_.emplace_back(pieces, pieces, pieces, pieces);
    process.source.reset();  // its files are open a second time by now
  }
  return opened;
}

const Report* TraceRun::report() {
  if (!report_) {
    report_ = ReportAsSummed(path_);
    if (report_->ok()) FindProcesses(**report_);
  }
  return report_->ok() ? &**report_ : nullptr;
}

const Error* TraceRun::report_error() const {
  return report_ && !report_->ok() ? &report_->error() : nullptr;
}

// Both have processes in the order of their identities, but not the same ones.
void TraceRun::FindProcesses(const Report& report) {
  const std::vector<ProcessTrace>& here = run_.processes;
  size_t next = 0;
  for (const ReportProcess& there : report.processes) {
    const ProcessIdentity identity{there.host, there.pid, there.start_ns};
    while (next < here.size() && here[next].identity < identity) ++next;
    const bool found = next < here.size() && here[next].identity == identity;
    by_report_.push_back(found ? std::optional(next) : std::nullopt);
  }
}

std::vector<std::string> TraceRun::problems() const {
  std::vector<std::string> problems = run_.problems;
  if (run_.sums != nullptr) problems.emplace_back(kDetailIsLess);
  for (const auto& pieces : pieces_) {
    problems.insert(problems.end(), pieces->problems().begin(), pieces->problems().end());
  }
  const auto unknown = std::count(by_report_.begin(), by_report_.end(), std::nullopt);
  if (unknown > 0) {
    problems.push_back(std::to_string(unknown) +
                       " of the processes began when the run had been opened already: no table has "
                       "them. Open the run again.");
  }
  return problems;
}

uint64_t TraceRun::pieces_read() const {
  uint64_t read = 0;
  for (const auto& pieces : pieces_) read += pieces->pieces_read();
  return read;
}

}  // namespace gpubound
