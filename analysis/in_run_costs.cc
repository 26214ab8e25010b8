// SPDX-License-Identifier: Apache-2.0
//
// What recording scopes should have saved by the model, against what it did save. No state.
//
//   recorded run --replay without scope costs--> by how much shorter each iteration would be: S
//   recorded iteration - suspended one of its kind = D;  D = factor * S, a slope over all pairs
//
// Where waits absorb a cost, S is as small as D is, so they tell nothing instead of something
// wrong.
#include "analysis/in_run_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <utility>

#include "analysis/estimate.h"
#include "analysis/loop_iterations.h"
#include "analysis/memory_source.h"
#include "analysis/replay.h"
#include "analysis/robust_slope.h"

namespace gpubound {
namespace {

// Of a row that stands for names which had no room; libprofiler/interner.h has it too.
constexpr char kOtherNames[] = "(other names)";
constexpr int kMostReplays = 3;
constexpr double kSettled = 0.05;  // a factor that near to the last one's changes nothing
// A suspended iteration pays for the switch and for code that is cold, which no run can tell from
// what it saves: in loops that saved 1.7 us an iteration 1.5 us of it were missing.
constexpr double kSwitchNs = 2'000;

constexpr std::array kScopeKinds = {CostKind::kNativeScope, CostKind::kPythonScope,
                                    CostKind::kInterceptedCall};

Cost Scaled(Cost cost, double factor) {
  cost.inside_ns *= factor;
  cost.outside_ns *= factor;
  cost.variance_ns2 *= factor * factor;
  cost.standard_error_ns *= factor;
  return cost;
}

// In a tight loop and behind other work.
std::array<Cost*, 2> CostsOf(CostKind kind, CostModel* costs) {
  return {&costs->Of(kind), &costs->AfterOtherWork(kind)};
}

// Without variance, so that the replay leaves lengths as they were recorded: that it takes usual
// ones for noisy ones would be a saving of iterations that were long for other reasons.
CostModel ScopesOnly(const CostModel& costs, double factor) {
  CostModel scopes;
  for (const CostKind kind : kScopeKinds) {
    scopes.Of(kind) = Scaled(costs.Of(kind), factor);
    scopes.AfterOtherWork(kind) = Scaled(costs.AfterOtherWork(kind), factor);
    for (Cost* const cost : CostsOf(kind, &scopes)) cost->variance_ns2 = 0;
  }
  return scopes;
}

// That of a cost which was measured in another program.
double Transferred(const Cost& cost) {
  return std::hypot(cost.standard_error_ns, kTransferError * cost.total_ns());
}

void Widen(Cost* cost) { cost->standard_error_ns = Transferred(*cost); }

// Every trace has a row for functions beyond the table's capacity, whether it has calls or none.
bool MakesCalls(const ProcessTrace& process) {
  return std::any_of(process.labels.begin(), process.labels.end(), [](const Label& label) {
    return label.kind == LabelKind::kApi && label.text != kOtherNames;
  });
}

// The loop of one process, and what is known of its factor so far.
struct Loop {
  size_t process = 0;
  std::vector<LoopIteration> iterations;
  std::vector<LikeIterations> pairs;
  double factor = 1;            // that the costs of the next replay are taken times
  Slope slope;                  // of the last one
  double calibrated_error = 0;  // of the scopes that were removed, as a share of them
  bool settled = false;
};

std::vector<SlopeGroup> GroupsOf(const Loop& loop, const std::vector<LoopIteration>& replayed) {
  std::vector<SlopeGroup> groups;
  for (const LikeIterations& like : loop.pairs) {
    const auto suspended_ns = static_cast<double>(loop.iterations[like.suspended].length_ns());
    SlopeGroup& group = groups.emplace_back();
    for (const size_t i : like.recorded) {
      const auto recorded_ns = static_cast<double>(loop.iterations[i].length_ns());
      const double saved_ns = recorded_ns - static_cast<double>(replayed[i].length_ns());
      group.push_back({saved_ns, recorded_ns - suspended_ns});
    }
  }
  return groups;
}

double UsualSaving(const std::vector<SlopeGroup>& groups) {
  std::vector<double> savings;
  for (const SlopeGroup& group : groups) {
    for (const SlopePoint& point : group) savings.push_back(point.predictor);
  }
  return savings.empty() ? 0 : Median(std::move(savings));
}

// One replay of the whole run, for every loop that is not settled.
Status Refine(const Run& run, const CostModel& calibrated,
              const std::vector<std::string>& operations, std::vector<Loop>* loops) {
  ReplayOptions options;
  options.operations = operations;
  options.process_costs.resize(run.processes.size());
  for (const Loop& loop : *loops) {
    options.process_costs[loop.process] = ScopesOnly(calibrated, loop.factor);
  }
  const Result<ReplayedRun> replayed = ReplayRun(run, options);
  if (!replayed.ok()) return replayed.error();
  for (Loop& loop : *loops) {
    if (loop.settled) continue;
    const ProcessTrace& process = (*replayed).run.processes[loop.process];
    const ReplayFacts& facts = (*replayed).facts[loop.process];
    const std::vector<LoopIteration> after = LoopIterations(process, *SourceOf(process));
    loop.slope = {};
    loop.settled = true;
    if (after.size() != loop.iterations.size() || facts.removed_ns <= 0) continue;
    loop.calibrated_error = facts.removed.error / facts.removed_ns;
    const std::vector<SlopeGroup> groups = GroupsOf(loop, after);
    loop.slope = FitSlope(groups);
    const double saving_ns = UsualSaving(groups);
    if (saving_ns > 0) {
      const double unseen = kSwitchNs / saving_ns;
      loop.slope.standard_error = std::hypot(loop.slope.standard_error, unseen);
    }
    const double change = loop.slope.value;
    loop.slope.value *= loop.factor;
    loop.slope.standard_error *= loop.factor;
    // What a wait absorbs grows with the cost, so the factor is looked for where it is.
    loop.settled = change <= 0 || std::abs(change - 1) <= kSettled;
    if (!loop.settled) loop.factor = loop.slope.value;
  }
  return Ok{};
}

std::string Percent(double share) { return std::to_string(std::llround(100 * share)) + " %"; }

std::string WhyNoPairs(const ProcessTrace& process, size_t pairs) {
  const std::string& verdict = process.in_run_calibration;
  if (verdict == "off") return "GPUBOUND_IN_RUN_CALIBRATION is off";
  if (verdict == "waiting") return "step() ended fewer than 100 iterations";
  if (verdict == "too_short") return "iterations are shorter than 10 us";
  if (verdict == "too_long") return "iterations are longer than 1 s";
  return std::to_string(pairs) + " iterations without recording had their like beside them, and " +
         std::to_string(kFewestIterations) + " are needed";
}

void Decide(const Loop& loop, const ProcessTrace& process, InRunCheck* check) {
  check->iterations = loop.pairs.size();
  for (const LoopIteration& iteration : loop.iterations) {
    if (iteration.suspended) check->suspended_ns += iteration.length_ns();
  }
  std::string why;
  if (loop.pairs.size() < kFewestIterations) {
    why = WhyNoPairs(process, loop.pairs.size());
  } else if (loop.slope.groups == 0 || !std::isfinite(loop.slope.standard_error)) {
    why = "recording scopes lengthened no iteration";
  } else {
    check->factor = loop.slope.value;
    check->standard_error = loop.slope.standard_error;
    const double calibrated_error = std::hypot(loop.calibrated_error, kTransferError);
    check->used = loop.slope.standard_error < calibrated_error && loop.slope.value > 0;
    why = "this run tells their cost to within " + Percent(loop.slope.standard_error) +
          ", calibration to within " + Percent(calibrated_error);
    if (check->used && process.python && loop.slope.value < 1) {
      check->used = false;
      why =
          "calls from Python that are not recorded still go through their wrappers, so that they "
          "save less than calibration says does not tell that they cost less";
    }
  }
  if (!check->used) check->unchecked.push_back({"scopes", why});
}

void Apply(const Loop& loop, const InRunCheck& check, CostModel* costs) {
  for (const CostKind kind : kScopeKinds) {
    for (Cost* const cost : CostsOf(kind, costs)) {
      if (check.used) {
        const double error_ns = loop.slope.standard_error * cost->total_ns();
        *cost = Scaled(*cost, loop.slope.value);
        cost->standard_error_ns = error_ns;
      } else {
        Widen(cost);
      }
    }
  }
  // Instants are never suspended, but the code and the pages are those of scopes.
  for (Cost* const instant : {&costs->Of(CostKind::kInstant), &costs->python_instant}) {
    if (check.used) *instant = Scaled(*instant, loop.slope.value);
    Widen(instant);
  }
}

void WidenCalls(const ProcessTrace& process, CostModel* costs, InRunCheck* check) {
  if (!MakesCalls(process)) return;
  for (Cost* const cost : CostsOf(CostKind::kApiCall, costs)) Widen(cost);
  for (auto* const functions : {&costs->api, &costs->api_after_other_work}) {
    for (auto& [name, cost] : *functions) Widen(&cost);
  }
  check->unchecked.push_back({"CUDA calls", process.cupti_not_suspended.empty()
                                                ? "their records were never suspended"
                                                : process.cupti_not_suspended});
}

}  // namespace

Result<InRunCosts> CheckCosts(const Run& run, const CostModel& calibrated,
                              const std::vector<std::string>& operations) {
  InRunCosts checked;
  checked.costs.assign(run.processes.size(), calibrated);
  checked.checks.resize(run.processes.size());
  std::vector<Loop> loops;
  std::vector<Loop> unmatched;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    if (!calibrated.WhyNotOf(process).empty()) {
      checked.costs[p] = {};
      continue;
    }
    if (process.in_run_calibration.empty()) continue;
    Loop loop;
    loop.process = p;
    if (process.Counted(LedgerCounter::iterations_suspended) != 0) {
      loop.iterations = LoopIterations(process, *SourceOf(process));
      loop.pairs = MatchSuspended(loop.iterations);
    }
    const bool enough = loop.pairs.size() >= kFewestIterations;
    (enough ? loops : unmatched).push_back(std::move(loop));
  }
  const auto settled = [](const Loop& loop) { return loop.settled; };
  for (int replay = 0; replay < kMostReplays; ++replay) {
    if (std::all_of(loops.begin(), loops.end(), settled)) break;
    const Status refined = Refine(run, calibrated, operations, &loops);
    if (!refined.ok()) return refined.error();
  }
  for (const std::vector<Loop>* of : {&loops, &unmatched}) {
    for (const Loop& loop : *of) {
      const ProcessTrace& process = run.processes[loop.process];
      CostModel* const costs = &checked.costs[loop.process];
      InRunCheck* const check = &checked.checks[loop.process];
      Decide(loop, process, check);
      Apply(loop, *check, costs);
      WidenCalls(process, costs, check);
    }
  }
  return checked;
}

std::string CheckText(const InRunCheck& of) {
  std::string text;
  if (of.used) {
    text = "Scopes cost " + Percent(of.factor) + " (+/- " + Percent(1.96 * of.standard_error) +
           ") of their calibration in this run, by " + std::to_string(of.iterations) +
           " iterations without recording.";
  }
  std::string unchecked;
  for (const UncheckedCost& cost : of.unchecked) {
    unchecked += (unchecked.empty() ? "" : ", ") + cost.what;
  }
  if (unchecked.empty()) return text;
  return text + (text.empty() ? "" : " ") + "Not checked in this run: the cost of " + unchecked +
         ".";
}

}  // namespace gpubound
