// SPDX-License-Identifier: Apache-2.0
//
// Rules from numbers to sentences, the most telling first. No state.
#include "analysis/output/text/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/headline.h"
#include "analysis/output/text/report_sections.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

// Thresholds are judgement: what a user would act on.
constexpr double kMuch = 0.25;       // of the headline's time
constexpr double kMostlyBusy = 0.9;  // a GPU at its limit
constexpr double kFewFilled = 0.25;  // of the busy GPU's room for blocks
constexpr double kMostlyFilled = 0.5;
constexpr double kMostlyLimited = 0.5;  // of the busy time, what an infinitely fast GPU would save
constexpr double kInflated = 1.5;       // nvidia-smi over the truth
constexpr double kMuchUnknown = 0.05;
constexpr double kMostOfAGap = 0.5;  // one call, where it is what the gap is
constexpr double kMostOfIdle = 0.5;  // a few calls, or the ten longest gaps
constexpr size_t kNamedCalls = 2;
constexpr uint64_t kManyLaunches = 1000;
constexpr double kLongLaunchNs = 1e6;       // a launch takes microseconds: the rest is other work
constexpr uint64_t kEnoughIterations = 20;  // for a 95th percentile to mean anything

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string Times(double factor) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), factor < 9.95 ? "%.2g x" : "%.0f x", factor);
  return text.data();
}

bool IsDoubtful(const Report& report) {
  return report.run.unknown.share > kMuchUnknown ||
         std::any_of(
             report.ledger.begin(), report.ledger.end(),
             [](const ReportLedgerEntry& entry) { return entry.severity >= Severity::kDataLoss; });
}

// What could be done about an idle GPU, by cause.
const char* RemedyOf(const std::string& cause) {
  if (cause == "simulation") {
    return "step more environments in parallel, or while the GPU works on the last batch";
  }
  if (cause == "sync") return "ask the GPU for results less often, or for several at once";
  if (cause == "copy") return "copy from pinned memory without waiting, or keep data on the GPU";
  if (cause == "waiting") return "make who is waited for faster, or work on something meanwhile";
  if (cause == "queued") {
    return "run fewer or fused kernels, or capture them as CUDA graphs; the CPU had launched this "
           "work already";
  }
  if (cause == "event-wait") return "let streams wait for each other less often";
  if (cause == "compile") return "compile and capture once, before the loop, or cache it";
  if (cause == "checkpoint") return "write checkpoints in the background, or less often";
  return nullptr;
}

const char* SubjectOf(const std::string& cause) {
  if (cause == "simulation") return "Simulation holds";
  if (cause == "sync") return "Waiting for results holds";
  if (cause == "copy") return "Copying data holds";
  if (cause == "waiting") return "Waiting for others holds";
  if (cause == "queued") return "The time between queued kernels holds";
  if (cause == "event-wait") return "Waiting for events of other streams holds";
  if (cause == "compile") return "Compilation and capture hold";
  return "Writing checkpoints holds";
}

// Shares are about what the headline is about, replays about the whole run.
const char* OfTheTime(const Report& report) {
  return HeadlineIsPart(report) ? "of the iterations' time" : "of the time";
}
const char* InIterations(const Report& report) {
  return HeadlineIsPart(report) ? " in the iterations" : "";
}

// Gaps of cause "launch" within the time that the headline is about: those among the longest ten.
std::vector<const ReportGap*> LaunchGaps(const Report& report, const ReportProcess& process) {
  int64_t begin_ns = 0;
  int64_t end_ns = process.span_ns;
  if (report.run.headline == "iterations" && process.iterations) {
    begin_ns = process.iterations->start_up_ns + process.iterations->warm_up_ns;
    end_ns -= process.iterations->shutdown_ns;
  }
  std::vector<const ReportGap*> gaps;
  for (const ReportGap& gap : process.gaps) {
    if (gap.cause == "launch" && gap.begin_ns >= begin_ns && gap.begin_ns < end_ns) {
      gaps.push_back(&gap);
    }
  }
  return gaps;
}

// Of idle time of cause "launch", |idle_ns| long and |share| of the time: it may be one call that
// takes long, or work of the CPU, of which fewer launches would not be less.
std::string OnLaunches(const Report& report, int64_t idle_ns, double share, bool unicode) {
  const ReportProcess& process = *HeadlineProcess(report);
  double long_ns = 0;
  double calls_ns = 0;
  std::vector<std::string> calls;
  for (const ReportGap* gap : LaunchGaps(report, process)) {
    const auto gap_ns = static_cast<double>(gap->ns);
    const auto call_ns = static_cast<double>(gap->call_ns);
    long_ns += gap_ns;
    if (gap->call.empty() || call_ns < kMostOfAGap * gap_ns) continue;
    calls_ns += std::min(call_ns, gap_ns);
    const std::string name = ShortName(EscapeName(gap->call), kNameInSentence, unicode);
    if (calls.size() < kNamedCalls) calls.push_back(name + " took " + FormatTime(gap->call_ns));
  }
  const auto all_ns = static_cast<double>(idle_ns);
  if (calls_ns >= kMostOfIdle * all_ns) {
    std::string text = "Start-up inside CUDA holds the GPU idle " +
                       FormatShare(share * Ratio(calls_ns, all_ns)) + " " + OfTheTime(report) +
                       ": ";
    for (size_t i = 0; i < calls.size(); ++i) text += (i == 0 ? "" : ", ") + calls[i] + " once";
    return text + ".";
  }
  uint64_t launches = 0;
  for (const ReportOperationKernel& row : process.operation_kernels) launches += row.kernel.count;
  const double typical_ns = Ratio(all_ns - long_ns, static_cast<double>(launches));
  if (long_ns >= kMostOfIdle * all_ns || launches < kManyLaunches || typical_ns > kLongLaunchNs) {
    return {};
  }
  return std::string(BlamesPython(report, process) ? "Python and the launch path hold"
                                                   : "The launch path holds") +
         " the GPU idle " + FormatShare(share) + " " + OfTheTime(report) +
         ": launch less often: larger batches, fused kernels, CUDA graphs or compilation.";
}

std::string OnIdleTime(const Report& report, bool unicode) {
  const IdleExplained explained = HeadlineIdle(report);
  if (explained.causes.empty()) return {};
  const CauseTime& first = explained.causes.front();
  const double idle = std::max(0.0, 1 - report.run.gpu_busy_share - report.run.unknown.share);
  const double share =
      idle * Ratio(static_cast<double>(first.ns), static_cast<double>(explained.idle_ns));
  if (share < kMuch) return {};
  if (first.cause == "launch") return OnLaunches(report, first.ns, share, unicode);
  if (RemedyOf(first.cause) == nullptr) return {};
  return std::string(SubjectOf(first.cause)) + " the GPU idle " + FormatShare(share) + " " +
         OfTheTime(report) + ": " + RemedyOf(first.cause) + ".";
}

std::string OnWhatIf(const Report& report, bool unicode) {
  if (!report.run.what_if_free) return {};
  const ReportWhatIf& what_if = *report.run.what_if_free;
  if (what_if.part_high >= 0.95) return {};
  std::array<char, 32> part;
  std::snprintf(part.data(), part.size(), "%.2f x", what_if.part);
  return "With infinitely fast " +
         ShortName(ShownName(what_if.operation), kNameInSentence, unicode) + " the " +
         (HeadlineIsPart(report) ? "whole " : "") + "run would take " + part.data() + " as long.";
}

// A GPU may be busy all the time and nobody wait for it. Both shares are of the whole run.
bool IsTheLimit(const Report& report) {
  const std::optional<double>& saved = report.run.gpu_limited_share;
  return !saved || *saved >= kMostlyLimited * report.run.whole_gpu_busy_share;
}

std::string OnFill(const Report& report, bool /*unicode*/) {
  int64_t filled_ns = 0;
  int64_t busy_ns = 0;
  for (const ReportProcess& process : report.processes) {
    if (process.sm_fill_is_upper_bound) return {};
    busy_ns += process.gpu_busy_ns;
    for (const ReportOperation& row : process.operations) filled_ns += row.sm_filled_ns;
  }
  const double fill = Ratio(static_cast<double>(filled_ns), static_cast<double>(busy_ns));
  const double busy = report.run.gpu_busy_share;
  if (filled_ns == 0) return {};  // nothing is known of the kernels' geometry
  if (busy >= kMuch && fill < kFewFilled) {
    return "Kernels fill about " + FormatShare(fill) +
           " of the busy GPU: larger batches cost little time.";
  }
  if (busy >= kMostlyBusy && fill >= kMostlyFilled && IsTheLimit(report)) {
    return "The GPU is the limit: only less or faster work on it makes the run faster.";
  }
  return {};
}

std::string OnCollectives(const Report& report, bool /*unicode*/) {
  if (report.run.comm_share < kMuch) return {};
  return "Collectives take " + FormatShare(report.run.comm_share) + " of the GPU's time" +
         InIterations(report) +
         ": overlap them with computation, or look for a rank that comes late.";
}

std::string OnSlowIterations(const Report& report, bool /*unicode*/) {
  const ReportProcess* process = SteppingProcess(report);
  if (process == nullptr || process->iterations->count < kEnoughIterations) return {};
  const ReportIterations& all = *process->iterations;
  if (all.p95_ns < 2 * all.median_ns) return {};
  return "One iteration in twenty takes " +
         Times(Ratio(static_cast<double>(all.p95_ns), static_cast<double>(all.median_ns))) +
         " the median or more: --by iteration names the slowest.";
}

// Only of what NVML said: the model is an upper bound, of which newer devices stay far below.
std::string OnInflation(const Report& report, bool /*unicode*/) {
  const double claimed = report.run.nvml_utilization.value_or(0);
  const double inflation = Ratio(claimed, report.run.gpu_busy_share);
  if (claimed < kMuch || inflation < kInflated) return {};
  return std::string("nvidia-smi overstates the GPU's work") + InIterations(report) + " by " +
         Times(inflation) + ": do not size the job by it.";
}

}  // namespace

std::vector<std::string> AdviceFor(const Report& report, bool unicode) {
  std::vector<std::string> advice;
  if (report.run.devices_used == 0 || IsDoubtful(report)) return advice;
  for (const auto rule :
       {OnIdleTime, OnWhatIf, OnFill, OnCollectives, OnSlowIterations, OnInflation}) {
    std::string sentence = rule(report, unicode);
    if (!sentence.empty()) advice.push_back(std::move(sentence));
    if (advice.size() == kMostAdvice) break;
  }
  return advice;
}

}  // namespace gpubound
