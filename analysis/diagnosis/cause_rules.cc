// SPDX-License-Identifier: Apache-2.0
//
// One row for each cause. No state.
#include "analysis/diagnosis/cause_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/awaited.h"
#include "analysis/diagnosis/diagnosis_kinds.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr double kMostOfIt = 0.5;

// Of the cause, by the operation in which it has most time; empty where that is none.
std::string MainOperation(const ReportProcess& process, const std::string& cause) {
  std::string operation;
  int64_t most_ns = 0;
  for (const ReportOperation& row : process.operations) {
    for (const CauseTime& time : row.device_idle) {
      if (time.cause != cause || time.ns <= most_ns) continue;
      most_ns = time.ns;
      operation = row.operation;
    }
  }
  return operation == kNoOperation ? "" : operation;
}

// Batches and samples that a learner waits for.
bool NamesInput(std::string_view operation) {
  constexpr std::array<std::string_view, 4> kNames = {"data", "sample", "replay", "batch"};
  return std::any_of(kNames.begin(), kNames.end(), [operation](std::string_view name) {
    return operation.find(name) != std::string_view::npos;
  });
}

// "1.2 s of cudaMalloc": CUDA calls that are most of the idle time of cause "launch". A launch takes
// microseconds: the rest is start-up inside CUDA, of which fewer launches would not be less.
std::string LongCalls(const ReportProcess& process, int64_t idle_ns) {
  constexpr size_t kNamedCalls = 2;
  int64_t calls_ns = 0;
  std::string text;
  size_t named = 0;
  for (const ReportGap& gap : process.gaps) {
    if (gap.cause != "launch" || gap.call.empty()) continue;
    if (ShareOf(gap.call_ns, gap.ns) < kMostOfIt) continue;
    calls_ns += std::min(gap.call_ns, gap.ns);
    if (named++ >= kNamedCalls) continue;
    text += (text.empty() ? "" : ", ") + FormatTime(gap.call_ns) + " of " +
            ShortName(EscapeName(gap.call), kNameInSentence, false);
  }
  return ShareOf(calls_ns, idle_ns) >= kMostOfIt ? text : "";
}

int64_t TimeOfCause(const ReportProcess& process, const std::string& cause) {
  int64_t ns = 0;
  for (const ReportOperation& row : process.operations) {
    for (const CauseTime& time : row.device_idle) ns += time.cause == cause ? time.ns : 0;
  }
  return ns;
}

std::string Workers(size_t count) {
  return std::to_string(count) + (count == 1 ? " worker" : " workers");
}

}  // namespace

bool RunsPython(const ReportProcess& process) {
  return std::any_of(process.cells.begin(), process.cells.end(),
                     [](const ReportCell& cell) { return cell.layer == "python"; });
}

bool BlamesPython(const Report& report, const ReportProcess& process) {
  constexpr double kHardlyShorter = 0.05;  // of the critical path
  if (!RunsPython(process)) return false;
  if (!report.run.critical_path) return true;
  const ReportCriticalPath& path = *report.run.critical_path;
  int64_t python_ns = 0;
  for (const ReportPathPart& part : path.parts) python_ns += part.layer == "python" ? part.ns : 0;
  if (ShareOf(python_ns, path.wall_ns) < kHardlyShorter) return false;
  return std::none_of(report.run.savings.begin(), report.run.savings.end(),
                      [](const ReportSaving& saving) {
                        return saving.part == "layer" && saving.name == "python" &&
                               saving.saves < kHardlyShorter * (1 - saving.factor);
                      });
}

std::string CauseText(const std::string& cause, bool python) {
  if (cause == "launch") return python ? "Python preparing launches" : "CPU preparing launches";
  if (cause == "copy") return "copying data";
  if (cause == "sync") return "CPU notices late that the GPU is done";
  if (cause == "waiting") return "waiting for others";
  if (cause == "queued") return "between queued work";
  if (cause == "event-wait") return "waiting for another stream";
  if (cause == "compile") return "compiling or capturing";
  if (cause == "checkpoint") return "writing checkpoints";
  if (cause == "unknown") return "nothing recorded";
  return cause;
}

CauseFacts FactsOfCause(const Report& report, const ReportProcess& process,
                        const std::string& cause) {
  CauseFacts facts;
  facts.operation = MainOperation(process, cause);
  const std::string in = facts.operation.empty() ? ""
                                                 : " in " + ShortName(ShownName(facts.operation),
                                                                      kNameInSentence, false);
  const bool python = BlamesPython(report, process);
  facts.noun = CauseText(cause, python);
  if (cause == "launch") {
    const std::string calls = LongCalls(process, TimeOfCause(process, cause));
    if (!calls.empty()) {
      facts.kind = kStartUp;
      facts.title = "Start-up-bound";
      facts.meanwhile = "while CUDA starts (" + calls + ")";
      facts.action = "Record a longer run, or leave start-up out with --steps A:B.";
      return facts;
    }
    facts.kind = kLaunchBound;
    facts.title = "Launch-bound";
    facts.meanwhile = python ? "while Python prepares launches" : "while the CPU prepares launches";
    facts.action =
        "Launch less often" + in + ": larger batches, fused kernels, torch.compile or CUDA graphs.";
    return facts;
  }
  if (cause == "simulation") {
    const AwaitedWhileIdle awaited = AwaitedFor(report, process, cause);
    const bool workers = awaited.share > kMostOfIt;
    facts.kind = workers ? kEnvironmentWorkers : kEnvironmentBound;
    facts.title = "Environment-bound";
    facts.meanwhile =
        workers ? "while it waits for " + Workers(awaited.pids.size()) + " to step environments"
                : "while environments step" + in;
    facts.noun = "stepping environments";
    facts.action = workers
                       ? "Use more environment workers, or make step() faster; sampling the next "
                         "batch while the GPU learns hides it."
                       : "Step more environments at once in worker processes (SubprocVecEnv, "
                         "AsyncVectorEnv), or step them while the GPU works.";
    return facts;
  }
  if (cause == "waiting") {
    const AwaitedWhileIdle awaited = AwaitedFor(report, process, cause);
    const bool input = NamesInput(facts.operation);
    const std::string whom =
        awaited.pids.empty()
            ? ""
            : " for " + std::to_string(awaited.pids.size()) +
                  (awaited.pids.size() == 1 ? " other process" : " other processes");
    facts.kind = input ? kInputBound : kWaiting;
    facts.title = input ? "Input-bound" : "Waiting";
    facts.meanwhile =
        (input ? "while the program waits for data" : "while the program waits" + whom) + in;
    facts.action = input
                       ? "Prepare batches in more worker processes (num_workers), or prefetch the "
                         "next one while the GPU works."
                       : "Make what is waited for" + in +
                             " faster, or do something else meanwhile; --full says for whom.";
    return facts;
  }
  if (cause == "sync") {
    facts.kind = kSyncBound;
    facts.title = "Sync-bound";
    facts.meanwhile = "since the CPU notices late that it is done";
    facts.action = "Ask for results less often" + in +
                   ": each .item(), .cpu() or synchronize lets the GPU run dry.";
    return facts;
  }
  if (cause == "copy") {
    facts.kind = kCopyBound;
    facts.title = "Copy-bound";
    facts.meanwhile = "while data is copied" + in;
    facts.action =
        "Keep data on the GPU, or copy from pinned memory without waiting "
        "(non_blocking=True)" +
        in + ".";
    return facts;
  }
  if (cause == "queued" || cause == "event-wait") {
    facts.kind = kQueueGaps;
    facts.title = "Gaps between kernels";
    facts.meanwhile = cause == "queued" ? "between work that was queued already"
                                        : "before work that waits for another stream";
    facts.action = cause == "queued"
                       ? "Run fewer or fused kernels" + in +
                             ", or capture them as CUDA graphs: the CPU is ahead already."
                       : "Let streams wait for each other less often" + in + ".";
    return facts;
  }
  if (cause == "compile") {
    facts.kind = kCompilation;
    facts.title = "Compilation";
    facts.meanwhile = "while code is compiled or captured" + in;
    facts.action = "Compile and capture once, before the loop, or cache it.";
    return facts;
  }
  if (cause == "checkpoint") {
    facts.kind = kCheckpoints;
    facts.title = "Checkpoints";
    facts.meanwhile = "while checkpoints are written" + in;
    facts.action = "Write them in the background, or less often.";
    return facts;
  }
  if (cause == "start-up") {
    facts.kind = kStartUp;
    facts.title = "Start-up-bound";
    facts.meanwhile = "before the program begins its first operation";
    facts.action = "Record a longer run, or mark iterations with gpubound.step().";
    return facts;
  }
  facts.kind = kUnattributed;
  facts.title = "Unattributed";
  facts.meanwhile = "while nothing was recorded";
  facts.action =
      "Name what the program does then, with gpubound.operation(...) or GPUBOUND_OPERATION.";
  return facts;
}

}  // namespace gpubound
