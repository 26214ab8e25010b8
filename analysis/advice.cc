// SPDX-License-Identifier: Apache-2.0
//
// Rules from numbers to sentences, the most telling first. No state.
#include "analysis/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/headline.h"
#include "analysis/main_process.h"
#include "analysis/short_name.h"
#include "analysis/text_table.h"

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
constexpr uint64_t kEnoughIterations = 20;  // for a 95th percentile to mean anything

double Ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::string Times(double factor) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), factor < 9.95 ? "%.2g x" : "%.0f x", factor);
  return text.data();
}

bool IsDoubtful(const Report& report) {
  return UnknownShare(report) > kMuchUnknown ||
         std::any_of(
             report.ledger.begin(), report.ledger.end(),
             [](const ReportLedgerEntry& entry) { return entry.severity >= Severity::kDataLoss; });
}

// What could be done about an idle GPU, by cause.
const char* RemedyOf(const std::string& cause) {
  if (cause == "simulation") {
    return "step more environments in parallel, or while the GPU works on the last batch";
  }
  if (cause == "launch") {
    return "launch less often: larger batches, fused kernels, CUDA graphs or compilation";
  }
  if (cause == "sync") return "ask the GPU for results less often, or for several at once";
  if (cause == "copy") return "copy from pinned memory without waiting, or keep data on the GPU";
  if (cause == "waiting") return "make who is waited for faster, or work on something meanwhile";
  if (cause == "compile") return "compile and capture once, before the loop, or cache it";
  if (cause == "checkpoint") return "write checkpoints in the background, or less often";
  return nullptr;
}

const char* SubjectOf(const std::string& cause) {
  if (cause == "simulation") return "Simulation holds";
  if (cause == "launch") return "Python and the launch path hold";
  if (cause == "sync") return "Waiting for results holds";
  if (cause == "copy") return "Copying data holds";
  if (cause == "waiting") return "Waiting for others holds";
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

std::string OnIdleTime(const Report& report, bool /*unicode*/) {
  const std::vector<CauseTime> causes = HeadlineIdleCauses(report);
  int64_t idle_ns = 0;
  for (const CauseTime& cause : causes) idle_ns += cause.ns;
  if (causes.empty() || RemedyOf(causes.front().cause) == nullptr) return {};
  const double idle = std::max(0.0, 1 - report.run.gpu_busy_share - UnknownShare(report));
  const double share =
      idle * Ratio(static_cast<double>(causes.front().ns), static_cast<double>(idle_ns));
  if (share < kMuch) return {};
  return std::string(SubjectOf(causes.front().cause)) + " the GPU idle " + FormatShare(share) +
         " " + OfTheTime(report) + ": " + RemedyOf(causes.front().cause) + ".";
}

std::string OnWhatIf(const Report& report, bool unicode) {
  if (!report.run.what_if_free) return {};
  const ReportWhatIf& what_if = *report.run.what_if_free;
  if (what_if.part_high >= 0.95) return {};
  std::array<char, 32> part;
  std::snprintf(part.data(), part.size(), "%.2f x", what_if.part);
  return "With infinitely fast " +
         ShortName(EscapeName(what_if.operation), kNameInSentence, unicode) + " the " +
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
