// SPDX-License-Identifier: Apache-2.0
//
// One row for each cause. No state.
#include "analysis/diagnosis/cause_rules.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/awaited.h"
#include "analysis/diagnosis/diagnosis_kinds.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/name_lists.h"
#include "analysis/trace/row_names.h"

namespace gpubound {
namespace {

constexpr double kMostOfIt = 0.5;

// What a cause means wherever it stands. "{in}": the operation where it has most time.
struct CauseRule {
  std::string_view cause;
  const char* kind;
  std::string_view noun;
  const char* title;
  std::string_view meanwhile;
  std::string_view action;
};

// The others, "launch", "simulation" and "waiting", depend on what else was recorded.
constexpr std::array<CauseRule, 7> kRules = {{
    {"sync", kSyncBound, "CPU notices late that the GPU is done", "Sync-bound",
     "since the CPU notices late that it is done",
     "Ask for results less often{in}: each .item(), .cpu() or synchronize lets the GPU run dry."},
    {"copy", kCopyBound, "copying data", "Copy-bound", "while data is copied{in}",
     "Keep data on the GPU, or copy from pinned memory without waiting (non_blocking=True){in}."},
    {"queued", kQueueGaps, "between queued work", "Gaps between kernels",
     "between work that was queued already",
     "Run fewer or fused kernels{in}, or capture them as CUDA graphs: the CPU is ahead already."},
    {"event-wait", kQueueGaps, "waiting for another stream", "Gaps between kernels",
     "before work that waits for another stream",
     "Let streams wait for each other less often{in}."},
    {"compile", kCompilation, "compiling or capturing", "Compilation",
     "while code is compiled or captured{in}",
     "Compile and capture once, before the loop, or cache it."},
    {"checkpoint", kCheckpoints, "writing checkpoints", "Checkpoints",
     "while checkpoints are written{in}", "Write them in the background, or less often."},
    {"start-up", kStartUp, "start-up", "Start-up-bound",
     "before the program begins its first operation",
     "Record a longer run, or mark iterations with gpubound.step()."},
}};

// "unknown", and whatever else a trace may name.
constexpr CauseRule kUnattributedRule = {
    "unknown",
    kUnattributed,
    "nothing recorded",
    "Unattributed",
    "while nothing was recorded",
    "Name what the program does then, with gpubound.operation(...) or GPUBOUND_OPERATION."};

const CauseRule& RuleOf(std::string_view cause) {
  const auto* const found = std::find_if(
      kRules.begin(), kRules.end(), [cause](const CauseRule& rule) { return rule.cause == cause; });
  return found == kRules.end() ? kUnattributedRule : *found;
}

// |text| with its "{in}", if any, replaced.
std::string WithPlace(std::string_view text, const std::string& in) {
  constexpr std::string_view kPlace = "{in}";
  std::string with(text);
  if (const size_t at = with.find(kPlace); at != std::string::npos) {
    with.replace(at, kPlace.size(), in);
  }
  return with;
}

// Of the cause, by the operation in which it has most time; empty where that is none.
std::string MainOperation(const ReportProcess& process, const std::string& cause) {
  std::string operation;
  int64_t most_ns = 0;
  for (const ReportOperation& row : process.operations) {
    const int64_t ns = TimeOfCause(row.device_idle, cause);
    if (ns <= most_ns) continue;
    most_ns = ns;
    operation = row.operation;
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
std::string LongCalls(const ReportProcess& process) {
  constexpr size_t kNamedCalls = 2;
  int64_t idle_ns = 0;
  for (const ReportOperation& row : process.operations) {
    idle_ns += TimeOfCause(row.device_idle, "launch");
  }
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

std::string Workers(size_t count) {
  return std::to_string(count) + (count == 1 ? " worker" : " workers");
}

}  // namespace

std::string InOperation(const std::string& operation) {
  return operation == kNoOperation
             ? "outside named operations"
             : "in " + ShortName(ShownName(operation), kNameInSentence, /*unicode=*/false);
}

bool RunsPython(const ReportProcess& process) {
  return std::any_of(process.cells.begin(), process.cells.end(),
                     [](const ReportCell& cell) { return cell.layer == "python"; });
}

bool BlamesPython(const Report& report, const ReportProcess& process) {
  constexpr double kHardlyShorter = 0.05;  // of the critical path
  if (!RunsPython(process)) return false;
  if (!report.run.critical_path) return true;
  const HeadlinePath path = PathOfHeadline(report);
  int64_t python_ns = 0;
  for (const auto& [part, ns] : path.parts) python_ns += part->layer == "python" ? ns : 0;
  if (ShareOf(python_ns, path.length_ns) < kHardlyShorter) return false;
  return std::none_of(report.run.savings.begin(), report.run.savings.end(),
                      [](const ReportSaving& saving) {
                        return saving.part == "layer" && saving.name == "python" &&
                               saving.saves < kHardlyShorter * (1 - saving.factor);
                      });
}

std::string CauseText(const std::string& cause, bool python) {
  if (cause == "launch") return python ? "Python preparing launches" : "CPU preparing launches";
  if (cause == "waiting") return "waiting for others";
  const CauseRule& rule = RuleOf(cause);
  return rule.cause == cause ? std::string(rule.noun) : cause;
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
  if ((cause == "launch" || cause == "waiting") && WeightSyncNames().Matches(facts.operation)) {
    facts.kind = kWeightSync;
    facts.title = "Weight-sync-bound";
    facts.meanwhile = "while weights are synchronised" + in;
    facts.noun = "synchronising weights";
    facts.action =
        "Send weights less often, in larger pieces and from GPU to GPU (NCCL), or while rollouts "
        "go on.";
    return facts;
  }
  if (cause == "launch") {
    const std::string calls = LongCalls(process);
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
                             " faster, or do something else meanwhile; --full says who that is.";
    return facts;
  }
  const CauseRule& rule = RuleOf(cause);
  facts.kind = rule.kind;
  facts.title = rule.title;
  facts.meanwhile = WithPlace(rule.meanwhile, in);
  facts.action = WithPlace(rule.action, in);
  return facts;
}

}  // namespace gpubound
