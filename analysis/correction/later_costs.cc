// SPDX-License-Identifier: Apache-2.0
//
// Looks for the factor with which replayed iterations go on as those behind the recording do. No
// state.
//
//   recorded run --replay without costs, one kind of them times F--> lengths of iterations
//   their change at the end of the recording = 0  <=>  F is right
#include "analysis/correction/later_costs.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/correction/cost_factor.h"
#include "analysis/correction/in_run_costs.h"
#include "analysis/correction/level_change.h"
#include "analysis/reader/later_iterations.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/replay_costs.h"
#include "analysis/replay/step_times.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

constexpr int kMostReplays = 6;    // beside the one without the costs in question
constexpr double kSettled = 0.02;  // a factor that near to the last one's changes nothing
constexpr char kDiffersByMore[] =
    "iterations after the recording differ from recorded ones by more than recording does";

// The loop of one process, and what is known of its factor so far.
struct Loop {
  size_t process = 0;
  bool of_calls = false;               // else of scopes
  StepTimes recorded;                  // ends of iterations, and the begin of the first
  std::vector<TimedLength> later;      // iterations behind the recording
  std::vector<TimedLength> untouched;  // recorded ones, replayed without the other costs
  std::vector<TimedLength> replayed;   // ... and without those in question, as of the last replay
  double others_ns = 0;                // what the other costs removed
  double others_error_ns = 0;          // what that is uncertain by
  LevelChange as_calibrated;           // by the first one, which took the costs for right
  double factor = 1;
  bool settled = false;
  double fit_error = HUGE_VAL;       // of the factor, were the other costs right
  double standard_error = HUGE_VAL;  // of it
  double calibrated_error = 0;       // of the costs in question, as a share of them
};

// Of the steps of |process| in its span. Empty where several threads step.
StepTimes RecordedSteps(const ProcessTrace& process) {
  StepTimes steps;
  const std::shared_ptr<const EventSource> source = SourceOf(process);
  for (uint32_t t = 0; t < process.threads.size(); ++t) {
    const size_t others = steps.times().size();
    const std::unique_ptr<ThreadCursor> cursor = source->ThreadEvents(t);
    ThreadBatch batch;
    while (cursor->Next(&batch)) {
      for (const ThreadEvent& event : batch.events) {
        const bool is_in_span =
            event.time_ns >= process.span_begin_ns && event.time_ns <= process.span_end_ns;
        if (event.kind != SlotKind::kStep || !is_in_span) continue;
        steps.Add(static_cast<double>(event.time_ns), BeginsIterations(event.kind, event.payload));
      }
    }
    if (others != 0 && steps.times().size() != others) return {};
  }
  return steps;
}

// The first one is left out: what the program's hooks are taken out again for happens in it.
std::vector<TimedLength> LengthsOf(const std::vector<LaterIteration>& later) {
  std::vector<TimedLength> lengths;
  for (size_t i = 2; i < later.size(); ++i) {
    const auto length_ns = static_cast<double>(later[i].end_ns - later[i - 1].end_ns);
    lengths.push_back({static_cast<double>(later[i].end_ns), length_ns});
  }
  return lengths;
}

// The recorded iterations of |loop| as a replay has them, but for when: they end with the
// recording. Empty where it does not have all.
std::vector<TimedLength> ReplayedLengths(const StepTimes& steps, const Loop& loop) {
  const std::vector<double>& ends = steps.times();
  const size_t count = loop.recorded.times().size();
  if (!steps.has_all() || ends.size() < count) return {};
  const double later_ns = loop.recorded.times().back() - ends[count - 1];
  std::vector<TimedLength> lengths;
  for (size_t i = 1; i < count; ++i) lengths.push_back({ends[i] + later_ns, ends[i] - ends[i - 1]});
  return lengths;
}

// As they were recorded, at the times of the last replay, at which those behind go on.
std::vector<TimedLength> RecordedLengths(const Loop& loop) {
  std::vector<TimedLength> lengths = loop.replayed;
  for (size_t i = 0; i < lengths.size(); ++i) {
    lengths[i].length_ns = loop.recorded.times()[i + 1] - loop.recorded.times()[i];
  }
  return lengths;
}

template <typename Act>
void ForCostsOf(const Loop& loop, CostModel* costs, const Act& act) {
  if (loop.of_calls) return costs->ForCalls(act);
  costs->ForScopes(act);
  costs->ForInstants(act);
}

Result<ReplayedRun> ReplayWith(const Run& run, const std::vector<std::string>& operations,
                               const std::vector<CostModel>& costs, const std::vector<Loop>& loops,
                               bool without) {
  ReplayOptions options;
  options.operations = operations;
  options.keep_events = false;
  options.process_costs = costs;
  for (const Loop& loop : loops) {
    const double factor = without ? 0 : loop.factor;
    ForCostsOf(loop, &options.process_costs[loop.process],
               [factor](Cost* cost) { *cost = cost->Times(factor); });
  }
  return ReplayRun(run, options);
}

// By how much an iteration of those that are compared, the last ones, is shorter without the costs.
double SavedByCosts(const Loop& loop, size_t compared) {
  double saved_ns = 0;
  for (size_t i = loop.replayed.size() - compared; i < loop.replayed.size(); ++i) {
    saved_ns += loop.untouched[i].length_ns - loop.replayed[i].length_ns;
  }
  return saved_ns / static_cast<double>(compared);
}

// One step of Newton's.
void Refine(const ReplayFacts& facts, Loop* loop) {
  loop->settled = true;
  loop->fit_error = loop->standard_error = HUGE_VAL;
  loop->replayed = ReplayedLengths(facts.steps, *loop);
  const double removed_ns = facts.removed_ns - loop->others_ns;
  if (loop->replayed.size() != loop->untouched.size() || removed_ns <= 0) return;
  const LevelChange change = FitLevelChange(loop->replayed, loop->later);
  if (change.used == 0) return;
  if (loop->calibrated_error == 0) {  // the first replay: the costs are as calibrated
    loop->calibrated_error = (facts.removed.error - loop->others_error_ns) / removed_ns;
    loop->as_calibrated = change;
  }
  const double saved_ns = SavedByCosts(*loop, change.used) / loop->factor;
  if (saved_ns <= 0) return;
  loop->fit_error = change.standard_error_ns / saved_ns;
  // What the other costs are off by is taken for these.
  const double others_ns = loop->others_error_ns / static_cast<double>(loop->replayed.size());
  loop->standard_error = std::hypot(loop->fit_error, others_ns / saved_ns);
  const double missing = -change.change_ns() / saved_ns;
  loop->factor += missing;
  loop->settled = loop->factor <= 0 || std::abs(missing) <= kSettled;
}

bool IsSurer(const Loop& loop) {
  return loop.factor > 0 && ShareOfFactor(loop.fit_error, loop.factor) < loop.calibrated_error;
}

// Beyond what the factor and calibration say it is not recording that makes the difference. The
// logarithm of the factor is as uncertain as the factor is, as a share of it.
bool IsTooFar(const Loop& loop) {
  const double error = std::hypot(loop.standard_error / loop.factor, loop.calibrated_error);
  return std::abs(std::log(loop.factor)) > std::min(kFarFactor * error, std::log(kMostFactor));
}

// Likewise of one that may be below 0.
bool IsFarFromOne(const Loop& loop) {
  return std::abs(loop.factor - 1) >
         kFarFactor * std::hypot(loop.standard_error, loop.calibrated_error);
}

std::string WhyNotUsed(const Loop& loop) {
  if (!std::isfinite(loop.standard_error)) return "recording them lengthened no iteration";
  // The total is as sure as the fit is, whichever cost makes up for the others.
  if (!IsSurer(loop)) {
    if (IsFarFromOne(loop)) return kDiffersByMore;
    if (loop.factor <= 0) {
      return "other costs explain more than iterations after the recording differ by";
    }
    return "iterations after the recording tell their cost to within " +
           FormatShare(ShareOfFactor(loop.fit_error, loop.factor)) + ", calibration to within " +
           FormatShare(loop.calibrated_error);
  }
  if (IsTooFar(loop)) return kDiffersByMore;
  if (!loop.settled)
    return "no factor of them makes iterations as long as those after the recording";
  if (!loop.of_calls && loop.factor < 1) {
    return "opening a scope costs some of it after the recording too";
  }
  return {};
}

// |cost| times the factor, with the error of that and, of a function that calibration knows less
// of than of others, the rest of its own.
Cost Corrected(const Cost& cost, const Loop& loop) {
  const double common_ns = loop.calibrated_error * cost.total_ns();
  const double own_squared =
      cost.standard_error_ns * cost.standard_error_ns - common_ns * common_ns;
  const double own_ns = loop.factor * std::sqrt(std::max(0.0, own_squared));
  Cost corrected = cost.Times(loop.factor);
  corrected.standard_error_ns = std::hypot(loop.fit_error * cost.total_ns(), own_ns);
  // What the other costs are off by is in the factor.
  const double of_others =
      loop.standard_error * loop.standard_error - loop.fit_error * loop.fit_error;
  corrected.row_error_ns = std::sqrt(std::max(0.0, of_others)) * std::abs(cost.total_ns());
  return corrected;
}

void Apply(const Loop& loop, CostModel* costs, InRunCheck* check) {
  LaterCheck& later = check->later;
  later.of = loop.of_calls ? kCudaCalls : kScopes;
  const LevelChange recorded = FitLevelChange(RecordedLengths(loop), loop.later);
  if (recorded.used != 0 && std::min(recorded.before_ns, recorded.behind_ns) <= 0) {
    // A line through lengths that change so much says nothing of the instant.
    later.why_none = "the lengths of iterations drift too much there";
    return;
  }
  later.iterations = recorded.used;
  later.recorded_ns = std::llround(recorded.before_ns);
  later.later_ns = std::llround(recorded.behind_ns);
  later.calibrated_ns = later.later_ns;
  if (loop.as_calibrated.used != 0) {
    later.calibrated_ns -= std::llround(loop.as_calibrated.change_ns());
    later.residual_error_ns = std::llround(loop.as_calibrated.standard_error_ns);
  }
  if (std::isfinite(loop.standard_error)) {
    later.factor = loop.factor;
    later.standard_error = loop.standard_error;
  }
  const std::string why_not = WhyNotUsed(loop);
  later.used = why_not.empty();
  const auto unchecked =
      std::find_if(check->unchecked.begin(), check->unchecked.end(),
                   [&later](const UncheckedCost& cost) { return cost.what == later.of; });
  if (!later.used) {
    if (unchecked != check->unchecked.end()) unchecked->why += "; " + why_not;
    const bool may_be = IsSurer(loop) && loop.factor <= kMostFactor;
    if (may_be) ForCostsOf(loop, costs, [&loop](Cost* cost) { WidenTo(loop.factor, cost); });
    return;
  }
  if (unchecked != check->unchecked.end()) check->unchecked.erase(unchecked);
  ForCostsOf(loop, costs, [&loop](Cost* cost) { *cost = Corrected(*cost, loop); });
}

std::vector<Loop> LoopsOf(const Run& run, const InRunCosts& checked) {
  std::vector<Loop> loops;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    Loop loop;
    loop.process = p;
    loop.later = LengthsOf(process.later_iterations);
    if (loop.later.size() < kFewestOnASide) continue;
    if (!ReplayCosts(process, checked.costs[p]).removes()) continue;
    loop.of_calls = process.MakesCalls();
    loop.recorded = RecordedSteps(process);
    if (loop.recorded.times().size() > kFewestOnASide) loops.push_back(std::move(loop));
  }
  return loops;
}

}  // namespace

Status CheckLater(const Run& run, const std::vector<std::string>& operations, InRunCosts* checked) {
  std::vector<Loop> loops = LoopsOf(run, *checked);
  if (loops.empty()) return Ok{};
  const Result<ReplayedRun> without = ReplayWith(run, operations, checked->costs, loops, true);
  if (!without.ok()) return without.error();
  for (Loop& loop : loops) {
    const ReplayFacts& facts = (*without).facts[loop.process];
    loop.untouched = ReplayedLengths(facts.steps, loop);
    loop.others_ns = facts.removed_ns;
    loop.others_error_ns = facts.removed.error;
  }
  const auto settled = [](const Loop& loop) { return loop.settled; };
  for (int replay = 0; replay < kMostReplays; ++replay) {
    if (std::all_of(loops.begin(), loops.end(), settled)) break;
    const Result<ReplayedRun> with = ReplayWith(run, operations, checked->costs, loops, false);
    if (!with.ok()) return with.error();
    for (Loop& loop : loops) {
      if (!loop.settled) Refine((*with).facts[loop.process], &loop);
    }
  }
  for (const Loop& loop : loops) {
    Apply(loop, &checked->costs[loop.process], &checked->checks[loop.process]);
  }
  return Ok{};
}

}  // namespace gpubound
