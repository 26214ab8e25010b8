// SPDX-License-Identifier: Apache-2.0
//
// Rounds of two runs each. The profiled ones are kept until the end, since a calibration that is
// measured only then is needed to correct them.
#include "tools/verify/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <random>
#include <utility>

#include "analysis/base/estimate.h"
#include "analysis/base/text_table.h"
#include "tools/calibrate/run_calibration.h"
#include "tools/console/console.h"
#include "tools/launch/package_folder.h"
#include "tools/launch/reported_children.h"
#include "tools/launch/run_directory.h"
#include "tools/launch/run_environment.h"
#include "tools/launch/scratch_folder.h"
#include "tools/verify/corrected_wall.h"
#include "tools/verify/runs_in_turns.h"
#include "tools/verify/timed_run.h"

namespace gpubound {
namespace {

class Experiment {
 public:
  explicit Experiment(const VerifyOptions& options) : options_(options), random_(options.seed) {}

  Result<Verification> Run() {
    if (const Status made = scratch_.Made(); !made.ok()) return made.error();
    package_folder_ = MakePackageFolder(options_.libraries, scratch_);
    if (const Result<TimedRun> warm_up = RunOne(false, 0); !warm_up.ok()) return warm_up.error();
    for (int round = 0; round < options_.rounds; ++round) {
      if (options_.before_round) options_.before_round(round);
      if (const Status taken = TakeRound(round); !taken.ok()) return taken.error();
    }
    if (const Status corrected = CorrectAll(); !corrected.ok()) return corrected.error();
    result_.command = options_.command;
    result_.turn = options_.turn;
    Summarise(options_.seed, &result_);
    return std::move(result_);
  }

 private:
  std::string RunPath(int round) const { return scratch_.File(fmt::format("{}.gpubound", round)); }

  RunInput InputOf(bool profiled, int round) const {
    if (!profiled) {
      const auto assignments = PlainAssignments(package_folder_, EnvironmentVariable);
      return {WithAssignments(OwnEnvironment(), assignments), scratch_.File("plain.stderr")};
    }
    std::vector<Assignment> assignments =
        RunAssignments(options_.libraries, RunPath(round), PreloadOf(EnvironmentVariable));
    assignments.push_back({"GPUBOUND_DISABLE", "0"});
    return {WithAssignments(OwnEnvironment(), assignments), scratch_.File("profiled.stderr")};
  }

  // An error where |run| failed.
  Status Judge(const TimedRun& run, bool profiled, const std::string& stderr_path) const {
    constexpr size_t kLines = 10;
    if (run.exit_status == 0) return Ok{};
    const std::vector<std::string> lines = LastLines(stderr_path, kLines);
    if (options_.on_failure && !lines.empty()) options_.on_failure(lines);
    return Error{"verifying", options_.command.front(),
                 fmt::format("exit status {} {} the profiler", run.exit_status,
                             profiled ? "with" : "without"),
                 "0, in every run",
                 lines.empty() ? "It wrote nothing on stderr; run it by itself to see why."
                               : "Above is what it wrote last on stderr."};
  }

  Result<TimedRun> RunOne(bool profiled, int round) const {
    const RunInput input = InputOf(profiled, round);
    const Result<TimedRun> run = RunTimed(options_.command, input);
    if (!run.ok()) return run;
    const Status judged = Judge(*run, profiled, input.stderr_path);
    return judged.ok() ? run : judged.error();
  }

  Status TakeRound(int round) {
    if (options_.turn.count() != 0) return TakeRoundInTurns(round);
    std::array<TimedRun, 2> runs;  // without the profiler, and with it
    const bool first = random_() % 2 == 0;
    for (const bool profiled : {first, !first}) {
      const Result<TimedRun> run = RunOne(profiled, round);
      if (!run.ok()) return run.error();
      runs[profiled ? 1 : 0] = *run;
    }
    Add(runs);
    return Ok{};
  }

  Status TakeRoundInTurns(int round) {
    const std::array<RunInput, 2> inputs = {InputOf(false, round), InputOf(true, round)};
    const auto runs = RunInTurns(options_.command, inputs, options_.turn, &random_);
    if (!runs.ok()) return runs.error();
    for (const bool profiled : {false, true}) {
      const size_t i = profiled ? 1 : 0;
      if (const Status judged = Judge((*runs)[i], profiled, inputs[i].stderr_path); !judged.ok()) {
        return judged;
      }
    }
    Add(*runs);
    return Ok{};
  }

  void Add(const std::array<TimedRun, 2>& runs) {
    const auto& [plain, profiled] = runs;
    VerifiedRound times;
    times.plain_ns = static_cast<double>(plain.wall_ns);
    times.profiled_ns = static_cast<double>(profiled.wall_ns);
    times.plain_cpu_ns = static_cast<double>(plain.cpu_ns);
    times.profiled_cpu_ns = static_cast<double>(profiled.cpu_ns);
    result_.rounds.push_back(times);
    profiled_.push_back(profiled);
  }

  Status CorrectAll() {
    const Error nothing = {"verifying", options_.command.front(), "it recorded nothing",
                           "a program that uses CUDA, NVTX or gpubound annotations",
                           "See why: gpubound run -- CMD"};
    if (!HoldsTrace(RunPath(0))) return nothing;
    RunCalibrationOptions calibrating;
    calibrating.libraries = options_.libraries;
    calibrating.time_cap = std::chrono::seconds(45);
    Result<std::optional<Calibration>> calibration = CalibrateRun(RunPath(0), calibrating);
    if (!calibration.ok()) return calibration.error();
    if (!calibration->has_value()) return nothing;
    result_.calibration = std::move(**calibration);
    for (size_t round = 0; round < result_.rounds.size(); ++round) {
      const Result<CorrectedWall> corrected =
          CorrectedWallOf(profiled_[round], RunPath(static_cast<int>(round)), result_.calibration);
      if (!corrected.ok()) return corrected.error();
      result_.rounds[round].corrected_ns = corrected->ns;
      result_.rounds[round].start_and_end_error_ns = corrected->start_and_end_error_ns;
    }
    return Ok{};
  }

  const VerifyOptions& options_;
  std::mt19937_64 random_;
  const ScratchFolder scratch_;
  std::string package_folder_;
  std::vector<TimedRun> profiled_;
  Verification result_;
};

// As a change in percent: 1.0123 is "+1.23 %".
std::string Percent(double ratio) { return fmt::format("{:+.2f} %", 100 * (ratio - 1)); }

std::string RatioLine(const char* what, const MedianRatio& ratio) {
  const std::string interval = ratio.interval
                                   ? fmt::format("   95 %: {} to {}", Percent(ratio.interval->low),
                                                 Percent(ratio.interval->high))
                                   : "";
  return fmt::format("{:<10} {:>9}{}\n", what, Percent(ratio.ratio), interval);
}

// How much longer the longest run without the profiler took than the shortest, as a share.
double SpreadOfPlainRuns(const Verification& verification) {
  const auto [shortest, longest] = std::minmax_element(
      verification.rounds.begin(), verification.rounds.end(),
      [](const VerifiedRound& a, const VerifiedRound& b) { return a.plain_ns < b.plain_ns; });
  return longest->plain_ns / shortest->plain_ns - 1;
}

nlohmann::ordered_json RatioJson(const MedianRatio& ratio) {
  nlohmann::ordered_json json = {{"share", ratio.ratio - 1}, {"low", nullptr}, {"high", nullptr}};
  if (ratio.interval) {
    json["low"] = ratio.interval->low - 1;
    json["high"] = ratio.interval->high - 1;
  }
  return json;
}

std::string_view VerdictName(Verdict verdict) {
  static constexpr std::string_view kNames[] = {"passed", "failed", "not decided"};
  return kNames[static_cast<size_t>(verdict)];
}

// Empty where other things widen the interval more: the rounds, of which there can be more.
std::string StartAndEndText(const Verification& verification) {
  const std::optional<RatioRange>& interval = verification.corrected.interval;
  if (!interval || verification.start_and_end_half <= (interval->high - interval->low) / 4) {
    return "";
  }
  return fmt::format(
      "+/- {:.2f} % of it are what the start and the end of a process cost, which more rounds do "
      "not tell: measure it again while nothing else runs (gpubound calibrate), or verify a longer "
      "program.",
      100 * verification.start_and_end_half);
}

std::string VerdictText(const Verification& verification, double limit) {
  const std::string percent = fmt::format("{:.2f} %", 100 * limit);
  switch (JudgeResidual(verification, limit)) {
    case Verdict::kPassed:
      return "passed: the residual is within the limit of " + percent;
    case Verdict::kFailed:
      return "FAILED: the residual is beyond the limit of " + percent;
    case Verdict::kNotDecided:
      break;
  }
  if (!verification.corrected.interval) {
    return fmt::format(
        "NOT DECIDED: whether the residual is within the limit of {} takes {} rounds.", percent,
        kFewestPairs);
  }
  const std::string start_and_end = StartAndEndText(verification);
  return "NOT DECIDED: the interval of the residual reaches across the limit of " + percent + ". " +
         (start_and_end.empty() ? "More --rounds make it narrower." : start_and_end);
}

}  // namespace

Result<Verification> VerifyCommand(const VerifyOptions& options) {
  const ReportedChildren reported;
  return Experiment(options).Run();
}

void Summarise(uint64_t seed, Verification* verification) {
  std::vector<MeasuredPair> profiled;
  std::vector<MeasuredPair> corrected;
  std::vector<MeasuredPair> cpu;
  std::vector<double> errors;
  for (const VerifiedRound& round : verification->rounds) {
    profiled.push_back({round.profiled_ns, round.plain_ns});
    corrected.push_back({round.corrected_ns, round.plain_ns});
    cpu.push_back({round.profiled_cpu_ns, round.plain_cpu_ns});
    errors.push_back(round.start_and_end_error_ns / round.plain_ns);
  }
  verification->seed = seed;
  verification->slowdown = MedianRatioOf(profiled);
  verification->corrected = MedianRatioOf(corrected);
  verification->cpu = MedianRatioOf(cpu);
  // Rounds do not differ by what was taken out of each, however wrong that was.
  MedianRatio& ratio = verification->corrected;
  if (!ratio.interval) return;
  const double half = kNormal975 * Median(errors);
  verification->start_and_end_half = half;
  const double low = ratio.ratio - std::hypot(ratio.ratio - ratio.interval->low, half);
  const double high = ratio.ratio + std::hypot(ratio.interval->high - ratio.ratio, half);
  ratio.interval = {std::max(0.0, low), high};  // no program takes less than no time
}

Verdict JudgeResidual(const Verification& verification, double limit) {
  if (limit < 0) return Verdict::kPassed;
  const std::optional<RatioRange>& interval = verification.corrected.interval;
  if (!interval) return Verdict::kNotDecided;
  const double low = interval->low - 1;
  const double high = interval->high - 1;
  if (low >= -limit && high <= limit) return Verdict::kPassed;
  return low > limit || high < -limit ? Verdict::kFailed : Verdict::kNotDecided;
}

std::string RenderVerification(const Verification& verification, double limit) {
  TextTable table({"round", "plain", "profiled", "corrected", "slowdown", "residual"});
  for (size_t i = 0; i < verification.rounds.size(); ++i) {
    const VerifiedRound& round = verification.rounds[i];
    table.AddRow({std::to_string(i + 1), FormatTime(std::llround(round.plain_ns)),
                  FormatTime(std::llround(round.profiled_ns)),
                  FormatTime(std::llround(round.corrected_ns)),
                  Percent(round.profiled_ns / round.plain_ns),
                  Percent(round.corrected_ns / round.plain_ns)});
  }
  constexpr int kWidth = 80;
  std::string text = table.Render(kWidth, 0, /*unicode=*/false) + "\n";
  text += RatioLine("slowdown", verification.slowdown);
  text += RatioLine("residual", verification.corrected);
  text += RatioLine("CPU time", verification.cpu);
  if (!verification.corrected.interval) {
    text +=
        Wrap(fmt::format("No interval: below {} rounds nobody can say how certain the median is.",
                         kFewestPairs),
             kWidth, 2);
  }
  constexpr double kBusySpread = 0.05;
  if (const double spread = SpreadOfPlainRuns(verification); spread > kBusySpread) {
    text += Wrap(fmt::format("The runs without the profiler differ by {:.0f} % among themselves: "
                             "the machine does other things too. {}",
                             100 * spread,
                             verification.turn.count() == 0
                                 ? "With --turns 100 both runs of a round meet the same of it; or "
                                   "repeat it when the machine is idle, or with more --rounds."
                                 : "Both runs of a round met the same of it."),
                 kWidth, 2);
  }
  if (limit >= 0) return text + Wrap(VerdictText(verification, limit), kWidth, 2);
  if (const std::string widened = StartAndEndText(verification); !widened.empty()) {
    text += Wrap("The interval of the residual: " + widened, kWidth, 2);
  }
  return text;
}

std::string RenderVerificationJson(const Verification& verification, double limit) {
  nlohmann::ordered_json json = {{"format", "gpubound.verify.v1"},
                                 {"command", verification.command},
                                 {"seed", verification.seed},
                                 {"turn_ms", verification.turn.count()},
                                 {"rounds", nlohmann::ordered_json::array()}};
  for (const VerifiedRound& round : verification.rounds) {
    json["rounds"].push_back(
        {{"plain_ns", std::llround(round.plain_ns)},
         {"profiled_ns", std::llround(round.profiled_ns)},
         {"corrected_ns", std::llround(round.corrected_ns)},
         {"start_and_end_error_ns", std::llround(round.start_and_end_error_ns)},
         {"plain_cpu_ns", std::llround(round.plain_cpu_ns)},
         {"profiled_cpu_ns", std::llround(round.profiled_cpu_ns)}});
  }
  json["slowdown"] = RatioJson(verification.slowdown);
  json["residual"] = RatioJson(verification.corrected);
  json["cpu"] = RatioJson(verification.cpu);
  json["limit"] = limit < 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(limit);
  const Verdict verdict = JudgeResidual(verification, limit);
  json["passed"] = verdict == Verdict::kNotDecided
                       ? nlohmann::ordered_json(nullptr)
                       : nlohmann::ordered_json(verdict == Verdict::kPassed);
  json["verdict"] = VerdictName(verdict);
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
