// SPDX-License-Identifier: Apache-2.0
//
// Rounds, until there are enough or the time is up, and what they say together.
#include "tools/calibrate/calibrate.h"

#include <fmt/format.h>
#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "analysis/base/estimate.h"
#include "analysis/base/text_table.h"
#include "analysis/calibration/paired_blocks.h"
#include "tools/calibrate/calibration_plan.h"
#include "tools/calibrate/calibration_round.h"
#include "tools/launch/reported_children.h"
#include "tools/launch/scratch_folder.h"

namespace gpubound {
namespace {

using Clock = std::chrono::steady_clock;

// What pairs of processes differ by is most of the error of a CUDA call, and falls with their
// number.
constexpr int kMostRounds = 30;
// Whole lives are costly to measure, and the shortest of more of them no better known.
constexpr int kRoundsWithLives = 10;
// However little time there is: what rounds differ by is the error, and of one or two of them that
// is not to be told.
constexpr int kFewestRounds = 3;

int64_t NsSince(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

int64_t RealtimeNs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

const char* ProgramName(const CalibrationWorkload& workload) {
  const bool is_call = workload.kind == CostKind::kApiCall;
  return workload.program == CalibrationProgram::kPython && !is_call ? "Python " : "";
}

// As a user would call it.
std::string NameOf(const CalibrationWorkload& workload) {
  if (workload.kind != CostKind::kApiCall || *workload.condition == 0) return workload.name;
  return std::string(workload.label) + " " + workload.condition;
}

// Conditions are those of the first round: all rounds have the same.
std::vector<ProcessCost> CostsOfProcesses(const std::vector<CalibrationRound>& rounds) {
  std::vector<ProcessCost> costs;
  for (const auto& [condition, first] : rounds.front().processes) {
    PairedBlocks all;
    for (const CalibrationRound& round : rounds) {
      const auto found = round.processes.find(condition);
      if (found == round.processes.end()) continue;
      const PairedBlocks& lives = found->second;
      all.on_ns.insert(all.on_ns.end(), lives.on_ns.begin(), lives.on_ns.end());
      all.off_ns.insert(all.off_ns.end(), lives.off_ns.begin(), lives.off_ns.end());
    }
    costs.push_back({condition, CostOfLives(all.on_ns, all.off_ns)});
  }
  return costs;
}

Calibration Summarise(const std::vector<CalibrationRound>& rounds) {
  Calibration calibration;
  calibration.machine = rounds.back().machine;
  calibration.processes = CostsOfProcesses(rounds);
  for (const CalibrationWorkload& workload : CalibrationPlan()) {
    std::vector<PairedBlocks> processes;
    for (const CalibrationRound& round : rounds) {
      const auto found = round.blocks.find(&workload);
      if (found != round.blocks.end()) processes.push_back(found->second);
    }
    const bool is_call = workload.kind == CostKind::kApiCall;
    if (!processes.empty()) {
      calibration.costs.push_back(
          {workload.kind, is_call ? workload.label : "", workload.condition, CostOf(processes)});
      continue;
    }
    const auto refused = rounds.back().refused.find(workload.name);
    if (refused == rounds.back().refused.end()) continue;  // not asked for
    calibration.missing.push_back(
        {std::string(ProgramName(workload)) + NameOf(workload), refused->second});
  }
  const bool all_ended = std::all_of(rounds.begin(), rounds.end(),
                                     [](const CalibrationRound& round) { return round.has_ended; });
  if (!all_ended) {
    calibration.missing.push_back({"CUDA calls after the end of a recording",
                                   "it had not ended after " +
                                       std::to_string(kEndPatience.count()) +
                                       " s; what two processes differ by is in the cost of calls"});
  }
  return calibration;
}

std::string WhatWasMeasured(const MeasuredCost& measured) {
  std::string what = measured.api;
  if (what.empty()) {
    what = CostKindName(measured.kind);
    std::replace(what.begin(), what.end(), '_', ' ');
  }
  return measured.condition.empty() ? what : what + ", " + measured.condition;
}

}  // namespace

Result<Calibration> MeasureCosts(const CalibrateOptions& options) {
  const ReportedChildren reported;
  const ScratchFolder scratch;
  if (const Status made = scratch.Made(); !made.ok()) return made.error();
  const Clock::time_point begin = Clock::now();
  std::mt19937_64 random(options.seed);
  std::vector<CalibrationRound> rounds;
  for (int i = 0; i < kMostRounds; ++i) {
    // As if the next one took as long as those before did.
    const int64_t expected_ns = NsSince(begin) * (i + 1) / std::max(i, 1);
    const bool too_late = std::chrono::nanoseconds(expected_ns) > options.time_cap;
    if (i >= kFewestRounds && too_late) break;
    Result<CalibrationRound> round = RunCalibrationRound(options, scratch.File(std::to_string(i)),
                                                         i < kRoundsWithLives, &random);
    if (!round.ok()) return round.error();
    rounds.push_back(std::move(round).value());
  }
  Calibration calibration = Summarise(rounds);
  calibration.seed = options.seed;
  calibration.measured_realtime_ns = RealtimeNs();
  calibration.duration_ns = NsSince(begin);
  return calibration;
}

std::string RenderCosts(const Calibration& calibration) {
  TextTable table({"ns per occurrence", "cost", "95 %", "inside", "outside", "entry", "blocks"});
  for (const MeasuredCost& measured : calibration.costs) {
    const Cost& cost = measured.cost;
    table.AddRow({WhatWasMeasured(measured), fmt::format("{:.1f}", cost.total_ns()),
                  fmt::format("+-{:.1f}", kNormal975 * cost.standard_error_ns),
                  fmt::format("{:.1f}", cost.inside_ns), fmt::format("{:.1f}", cost.outside_ns),
                  cost.entry_ns > 0 ? fmt::format("{:.1f}", cost.entry_ns) : "",
                  std::to_string(cost.samples)});
  }
  for (const ProcessCost& process : calibration.processes) {
    const Cost& cost = process.cost;
    table.AddRow({"process" + (process.condition.empty() ? "" : ", " + process.condition),
                  fmt::format("{:.2f} ms", cost.total_ns() / 1e6),
                  fmt::format("+-{:.2f} ms", kNormal975 * cost.standard_error_ns / 1e6), "", "", "",
                  std::to_string(cost.samples)});
  }
  constexpr int kWidth = 100;
  std::string text = table.Render(kWidth, 0, /*unicode=*/false);
  std::map<std::string, std::string> missing;  // by reason
  for (const NotMeasured& entry : calibration.missing) {
    std::string& what = missing[entry.why];
    what += (what.empty() ? "" : ", ") + entry.what;
  }
  for (const auto& [why, what] : missing) {
    text += Wrap("not measured: " + EscapeName(what) + ": " + EscapeName(why), kWidth, 2);
  }
  const MachineKey& machine = calibration.machine;
  const auto shown = [](const std::string& part) { return part.empty() ? "none" : part; };
  text += Wrap(fmt::format("CPU {}; device {}; driver {}; CUPTI {}; Python {}",
                           EscapeName(shown(machine.cpu_model)), machine.device_kind,
                           shown(machine.driver), shown(machine.cupti), shown(machine.python)),
               kWidth, 2);
  return text;
}

}  // namespace gpubound
