// SPDX-License-Identifier: Apache-2.0
//
// What recording scopes should have saved by the model, against what it did save. No state.
//
//   recorded run --replay without scope costs--> by how much shorter each iteration would be: S
//   recorded iteration - suspended one of its kind = D;  D = factor * S, a slope over all pairs
//
// Where waits absorb a cost, S is as small as D is, so they tell nothing instead of something
// wrong.
#include "analysis/correction/in_run_costs.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "analysis/base/estimate.h"
#include "analysis/base/text_table.h"
#include "analysis/correction/cost_factor.h"
#include "analysis/correction/entry_costs.h"
#include "analysis/correction/later_costs.h"
#include "analysis/correction/loop_iterations.h"
#include "analysis/correction/lost_costs.h"
#include "analysis/correction/robust_slope.h"
#include "analysis/replay/replay.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

constexpr char kSwitchedOff[] = "GPUBOUND_IN_RUN_CALIBRATION is off";
constexpr int kMostReplays = 3;
constexpr double kSettled = 0.05;  // a factor that near to the last one's changes nothing
// A suspended iteration pays for the switch and for code that is cold, which no run can tell from
// what it saves: in loops that saved 1.7 us an iteration 1.5 us of it were missing.
constexpr double kSwitchNs = 2'000;

// The factor of nothing but scopes is looked for, hence what records tell of CUPTI's own work stays
// where it was: it lies in the iterations of a pair by chance, and taken out of one of them it
// would be a saving with a factor of 1. Without variance, so that the replay leaves lengths as they
// were recorded: that it takes usual ones for noisy ones would be a saving of iterations that were
// long for other reasons.
CostModel ScopesOnly(const CostModel& costs, double factor) {
  CostModel scopes;
  scopes.kinds = costs.kinds;
  scopes.kinds_after_other_work = costs.kinds_after_other_work;
  scopes.ForInstants([](Cost* cost) { *cost = {}; });
  scopes.ForCalls([](Cost* cost) { *cost = {}; });
  scopes.ForScopes([factor](Cost* cost) {
    *cost = cost->Times(factor);
    cost->variance_ns2 = 0;
  });
  return scopes;
}

// That of a cost which was measured in another program.
double Transferred(const Cost& cost) {
  return std::hypot(cost.standard_error_ns, kTransferError * cost.total_ns());
}

void Widen(Cost* cost) { cost->standard_error_ns = Transferred(*cost); }

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

// Whether recording scopes, which by calibration takes |saved_ns| of the recorded iteration, can be
// what the two differ by. Iterations that open as many scopes still are of several kinds where one
// in twenty waits for a batch of data.
bool AreOfOneKind(double recorded_ns, double suspended_ns, double saved_ns) {
  const double most_ns = 2 * suspended_ns + kMostFactor * std::max(0.0, saved_ns);
  return recorded_ns <= most_ns && recorded_ns >= suspended_ns / 2;
}

std::vector<SlopeGroup> GroupsOf(const Loop& loop, const std::vector<LoopIteration>& replayed) {
  std::vector<SlopeGroup> groups;
  for (const LikeIterations& like : loop.pairs) {
    const auto suspended_ns = static_cast<double>(loop.iterations[like.suspended].length_ns());
    SlopeGroup group;
    for (const size_t i : like.recorded) {
      const auto recorded_ns = static_cast<double>(loop.iterations[i].length_ns());
      const double saved_ns = recorded_ns - static_cast<double>(replayed[i].length_ns());
      if (!AreOfOneKind(recorded_ns, suspended_ns, saved_ns / loop.factor)) continue;
      group.push_back({saved_ns, recorded_ns - suspended_ns});
    }
    if (!group.empty()) groups.push_back(std::move(group));
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
  options.removes_recorded = false;
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
    loop.settled |= loop.slope.value > kMostFactor;
    if (!loop.settled) loop.factor = loop.slope.value;
  }
  return Ok{};
}

std::string WhyNoPairs(const ProcessTrace& process, size_t pairs) {
  const std::string& verdict = process.in_run_calibration;
  if (verdict == "off") return kSwitchedOff;
  if (verdict == "waiting") return "step() ended fewer than 100 iterations";
  if (verdict == "too_short") return "iterations are shorter than 10 us";
  if (verdict == "too_long") return "iterations are longer than 1 s";
  const std::string had = pairs == 1
                              ? " iteration without recording had its like beside it, and "
                              : " iterations without recording had their like beside them, and ";
  return std::to_string(pairs) + had + std::to_string(kFewestSuspended) + " are needed";
}

void Decide(const Loop& loop, const ProcessTrace& process, InRunCheck* check) {
  check->iterations = loop.pairs.size();
  for (const LoopIteration& iteration : loop.iterations) {
    if (iteration.suspended) check->suspended_ns += iteration.length_ns();
  }
  std::string why;
  if (loop.pairs.size() < kFewestSuspended) {
    why = WhyNoPairs(process, loop.pairs.size());
  } else if (loop.slope.groups == 0 || !std::isfinite(loop.slope.standard_error)) {
    why = "recording scopes lengthened no iteration";
  } else {
    check->factor = loop.slope.value;
    check->standard_error = loop.slope.standard_error;
    const double calibrated_error = std::hypot(loop.calibrated_error, kTransferError);
    if (loop.slope.value <= 0) {
      why = "iterations without recording were no shorter than their like";
    } else if (loop.slope.value > kMostFactor) {
      why = "iterations without recording differ from their like by more than recording does";
    } else {
      const double error = ShareOfFactor(loop.slope.standard_error, loop.slope.value);
      check->used = error < calibrated_error;
      why = "this run tells their cost to within " + FormatShare(error) +
            ", calibration to within " + FormatShare(calibrated_error);
    }
    if (check->used && process.python && loop.slope.value < 1) {
      check->used = false;
      why =
          "calls from Python that are not recorded still go through their wrappers, so that they "
          "save less than calibration says does not tell that they cost less";
    }
  }
  if (!check->used) check->unchecked.push_back({kScopes, why});
}

// Whether a factor that is not taken tells that calibration is wrong. One below 1 of calls from
// Python does not.
bool MayBe(const Loop& loop, bool python) {
  const Slope& slope = loop.slope;
  return slope.groups != 0 && slope.value > (python ? 1 : 0) &&
         slope.value - kFarFactor * slope.standard_error <= kMostFactor &&
         std::abs(slope.value - 1) > kFarFactor * slope.standard_error;
}

void Apply(const Loop& loop, const InRunCheck& check, bool python, CostModel* costs) {
  costs->ForScopes([&](Cost* cost) {
    if (!check.used) {
      Widen(cost);
      if (MayBe(loop, python)) WidenTo(loop.slope.value, cost);
      return;
    }
    const double error_ns = loop.slope.standard_error * cost->total_ns();
    *cost = cost->Times(loop.slope.value);
    cost->standard_error_ns = error_ns;
  });
  // Instants are never suspended, but the code and the pages are those of scopes.
  costs->ForInstants([&](Cost* cost) {
    if (check.used) *cost = cost->Times(loop.slope.value);
    Widen(cost);
  });
}

void WidenCalls(const ProcessTrace& process, CostModel* costs, InRunCheck* check) {
  if (!process.MakesCalls()) return;
  costs->ForCalls(Widen);
  check->unchecked.push_back({kCudaCalls, process.cupti_not_suspended.empty()
                                              ? "their records were never suspended"
                                              : process.cupti_not_suspended});
}

// What of |process| could have been compared, and was not.
void NoteWhyNothingCameLater(const ProcessTrace& process, InRunCheck* check) {
  LaterCheck& later = check->later;
  if (later.iterations != 0) return;
  if (process.in_run_calibration == "off") {
    later.why_none = kSwitchedOff;
  } else if (later.why_none.empty() && process.span_end == SpanEnd::kAsked) {
    later.why_none = std::to_string(process.later_iterations.size()) +
                     " iterations are known behind the recording, and " +
                     std::to_string(kFewestLater) + " are needed, there and in it";
  }
  if (later.why_none.empty()) return;
  for (UncheckedCost& cost : check->unchecked) {
    if (cost.what == kCudaCalls) cost.why += "; " + later.why_none;
  }
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
    if (!WhyNoCostsOf(process, calibrated).empty()) {
      checked.costs[p] = {};
      continue;
    }
    checked.checks[p].entries = FitToEntries(process, &checked.costs[p]);
    if (process.in_run_calibration.empty()) continue;
    Loop loop;
    loop.process = p;
    if (process.Counted(LedgerCounter::iterations_suspended) != 0) {
      loop.iterations = LoopIterations(process, *SourceOf(process));
      loop.pairs = MatchSuspended(loop.iterations);
    }
    const bool enough = loop.pairs.size() >= kFewestSuspended;
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
      Apply(loop, *check, process.python, costs);
      WidenCalls(process, costs, check);
    }
  }
  const Status later = CheckLater(run, operations, &checked);
  if (!later.ok()) return later.error();
  for (size_t p = 0; p < run.processes.size(); ++p) {
    NoteWhyNothingCameLater(run.processes[p], &checked.checks[p]);
  }
  return checked;
}

}  // namespace gpubound
