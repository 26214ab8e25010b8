// SPDX-License-Identifier: Apache-2.0
//
// Replays, reports, and bounds what it reports. No state.
#include "analysis/correction/corrected_report.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/base/estimate.h"
#include "analysis/base/in_parallel.h"
#include "analysis/correction/in_run_costs.h"
#include "analysis/correction/lost_costs.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/savings.h"
#include "analysis/correction/start_and_end.h"
#include "analysis/diagnosis/diagnose.h"
#include "analysis/replay/replay.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report_training.h"

namespace gpubound {
namespace {

// Where a length of the timeline lies with 95 % probability, as far as the costs that moved it and
// the replay are concerned; |unmoved_ns| more on both sides is possible.
Bounds BoundsOfLength(int64_t recorded, int64_t corrected, const CostNoise& noise,
                      double unmoved_ns, bool anything_removed) {
  const double of_moved = kReplayErrorOfMoved * static_cast<double>(recorded - corrected);
  const double of_length =
      anything_removed ? kReplayErrorOfLength * static_cast<double>(corrected) : 0;
  const double variance =
      noise.variance + noise.error * noise.error + of_moved * of_moved + of_length * of_length;
  const auto half = static_cast<int64_t>(std::ceil(kNormal975 * std::sqrt(variance) + unmoved_ns));
  return {std::max<int64_t>(0, corrected - half), corrected + half};
}

double HalfWidthOf(const CostNoise& noise) {
  return kNormal975 * std::sqrt(noise.variance + noise.error * noise.error);
}

// The share of what was removed that may be wrong. Costs that were measured as nothing, or as less,
// may be wrong altogether.
double UncertainShare(const ReplayFacts& facts) {
  const double half = HalfWidthOf(facts.removed);
  return half > 0 ? half / std::max(half, std::abs(facts.removed_ns)) : 0;
}

// A figure that is no length of the timeline itself moves from |recorded| to |corrected| as costs
// go from nothing to their mean; so much of that way is uncertain as of the costs. |moved_ns| is
// what was taken out where such a figure takes up what else gets shorter, as a wait does;
// |length_ns| that of the timeline that it is a part of.
Bounds BoundsBetween(int64_t recorded, int64_t corrected, double share, double moved_ns,
                     int64_t length_ns) {
  const double way = std::max(moved_ns, static_cast<double>(std::abs(corrected - recorded)));
  const double of_moved = kReplayErrorOfMoved * way;
  const double of_length = way > 0 ? kReplayErrorOfLength * static_cast<double>(length_ns) : 0;
  const double half = std::hypot(way * share, kNormal975 * std::hypot(of_moved, of_length));
  const int64_t half_ns = std::llround(half);
  return {std::max<int64_t>(0, corrected - half_ns), corrected + half_ns};
}

// Of GPU time in a row. Whatever becomes of the work itself, it falls into the row or beside it
// with the row's begin and end: those that lie beside work are as many of all as the row's share of
// GPU time, and of what is uncertain about each independently they share the variance.
Bounds BoundsOfBusy(const ReportOperation& recorded, const ReportOperation& corrected, double share,
                    const CostNoise& wall) {
  Bounds bounds =
      BoundsBetween(recorded.gpu_busy_ns, corrected.gpu_busy_ns, share, 0, corrected.wall_ns);
  const auto busy_ns = static_cast<double>(std::max(recorded.gpu_busy_ns, corrected.gpu_busy_ns));
  const auto wall_ns = static_cast<double>(std::max(recorded.wall_ns, corrected.wall_ns));
  if (busy_ns <= 0 || wall_ns <= 0) return bounds;
  const double busy = std::min(1.0, busy_ns / wall_ns);
  // What the replay itself is off by moves begin and end as well.
  const auto moved_ns = static_cast<double>(std::abs(recorded.wall_ns - corrected.wall_ns));
  const double error = std::hypot(busy * wall.error, kReplayErrorOfMoved * moved_ns);
  const auto half_ns = static_cast<int64_t>(std::ceil(HalfWidthOf({busy * wall.variance, error})));
  bounds.low = std::clamp<int64_t>(corrected.gpu_busy_ns - half_ns, 0, bounds.low);
  bounds.high = std::max(bounds.high, corrected.gpu_busy_ns + half_ns);
  return bounds;
}

// The first row of each operation; |rows| outlive it. Programs that number their operations have
// tens of thousands.
template <typename Row>
auto ByOperation(const std::vector<Row>& rows) {
  std::unordered_map<std::string_view, const Row*> of_operation;
  of_operation.reserve(rows.size());
  for (const Row& row : rows) of_operation.emplace(row.operation, &row);
  return of_operation;
}

// How often layers were entered is what was recorded. In the replayed timeline calls of which
// nothing is left begin and end at one instant, and there which of them was within which, and what
// another thread did meanwhile, cannot be told.
void TakeTransitions(const ReportProcess& recorded, ReportProcess* corrected) {
  const auto recorded_of = ByOperation(recorded.operations);
  for (ReportOperation& row : corrected->operations) {
    const auto was = recorded_of.find(row.operation);
    row.transitions.clear();
    if (was != recorded_of.end()) row.transitions = was->second->transitions;
  }
}

CorrectedProcess CorrectedOf(const ReportProcess& recorded, ReportProcess corrected,
                             const ReplayFacts& facts) {
  CorrectedProcess result;
  TakeTransitions(recorded, &corrected);
  const double share = UncertainShare(facts);
  const bool removed = facts.removed_ns != 0 || HalfWidthOf(facts.removed) > 0;
  result.span = BoundsOfLength(
      recorded.span_ns, corrected.span_ns, facts.span,
      facts.unmoved_waits_ns + std::max(facts.waits_sooner_ns, facts.waits_later_ns), removed);
  const auto bounds_of = [&](int64_t ReportProcess::*figure, double moved_ns) {
    return BoundsBetween(recorded.*figure, corrected.*figure, share, moved_ns, corrected.span_ns);
  };
  result.gpu_busy = bounds_of(&ReportProcess::gpu_busy_ns, 0);
  const double moved_ns = std::max(std::abs(facts.removed_ns), HalfWidthOf(facts.removed));
  result.gpu_wait = bounds_of(&ReportProcess::gpu_wait_ns, moved_ns);
  result.gpu_sum = bounds_of(&ReportProcess::gpu_sum_ns, 0);
  const auto noise_of = ByOperation(facts.operations);
  const auto recorded_of = ByOperation(recorded.operations);
  for (const ReportOperation& row : corrected.operations) {
    const auto noise = noise_of.find(row.operation);
    const auto before = recorded_of.find(row.operation);
    const ReportOperation none;
    const ReportOperation& was = before == recorded_of.end() ? none : *before->second;
    CorrectedRow& bounds = result.rows.emplace_back();
    const CostNoise no_noise;
    const CostNoise& row_noise = noise == noise_of.end() ? no_noise : noise->second->noise;
    bounds.wall = BoundsOfLength(was.wall_ns, row.wall_ns, row_noise, 0, removed);
    bounds.gpu_busy = BoundsOfBusy(was, row, share, row_noise);
  }
  result.removed_ns = std::llround(facts.removed_ns);
  result.process = std::move(corrected);
  return result;
}

// What the lost events of each process, and of those that it waited for, cost at most: by so much
// its corrected lengths may be off.
std::vector<double> LostCosts(const Run& run, const InRunCosts& checked,
                              const ReportOptions& options, const Report& report) {
  std::map<int64_t, double> by_pid;
  std::vector<double> lost_ns;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    // Of one that nothing was taken out of there are no checked costs.
    const bool known = WhyNoCostsOf(process, *options.costs).empty();
    lost_ns.push_back(MostCostOfLost(process, known ? checked.costs[p] : *options.costs));
    by_pid[process.identity.pid] += lost_ns.back();
  }
  for (size_t p = 0; p < run.processes.size(); ++p) {
    std::set<int64_t> awaited;
    for (const ReportWait& wait : report.processes[p].waits) {
      awaited.insert(wait.pids.begin(), wait.pids.end());
    }
    awaited.erase(run.processes[p].identity.pid);
    for (const int64_t pid : awaited) lost_ns[p] += by_pid.contains(pid) ? by_pid.at(pid) : 0;
  }
  return lost_ns;
}

void WidenBy(double lost_ns, CorrectedProcess* corrected) {
  const int64_t more_ns = std::llround(lost_ns);
  const auto widen = [more_ns](Bounds* bounds) {
    *bounds = {std::max<int64_t>(0, bounds->low - more_ns), bounds->high + more_ns};
  };
  for (Bounds* const of : {&corrected->span, &corrected->gpu_busy, &corrected->gpu_wait}) widen(of);
  for (CorrectedRow& row : corrected->rows) {
    widen(&row.wall);
    widen(&row.gpu_busy);
  }
}

// What starting and ending the profiler took is part of the span, but not by how much: of what was
// measured, some lies before the span begins and some after its end.
void WidenByStartAndEnd(const StartAndEndCost& once, Bounds* span) {
  const int64_t most_ns = std::llround(once.ns + kNormal975 * once.error_ns);
  span->low = std::max<int64_t>(0, span->low - most_ns);
}

// The times at which targets were reached, without what profiling cost until then: of what is
// uncertain about the span as much as the time is a part of it. A wait that could not be moved may
// lie before.
void TakeTargets(const Report& corrected, const ReplayedRun& replayed,
                 const std::vector<double>& lost_ns, const ReportOptions& options, Report* report) {
  if (report->run.training == nullptr || corrected.run.training == nullptr) return;
  RunTraining training = *report->run.training;
  for (size_t i = 0; i < training.targets.size(); ++i) {
    ReportTarget& target = training.targets[i];
    const std::optional<int64_t>& moved = corrected.run.training->targets[i].reached_ns;
    if (!target.reached_ns || !moved) continue;
    for (size_t p = 0; p < report->processes.size(); ++p) {
      const ReportProcess& process = report->processes[p];
      if (process.pid != target.pid || process.host != target.host) continue;
      const ReplayFacts& facts = replayed.facts[p];
      const auto span_ns = static_cast<double>(std::max<int64_t>(1, process.span_ns));
      const double part = std::min(1.0, static_cast<double>(*target.reached_ns) / span_ns);
      const CostNoise noise{facts.span.variance * part, facts.span.error * part};
      const bool removed = facts.removed_ns != 0 || HalfWidthOf(facts.removed) > 0;
      const double unmoved_ns = facts.unmoved_waits_ns +
                                std::max(facts.waits_sooner_ns, facts.waits_later_ns) + lost_ns[p];
      Bounds bounds = BoundsOfLength(*target.reached_ns, *moved, noise, unmoved_ns, removed);
      WidenByStartAndEnd(StartAndEndOf(replayed.run.processes[p], options.process_costs), &bounds);
      target.corrected = {*moved, bounds.low, bounds.high};
    }
  }
  report->run.training = std::make_shared<const RunTraining>(std::move(training));
}

// The report of |replayed| beside the recorded values of |report|, with what the run says of its
// costs.
Status PutBeside(const ReplayedRun& replayed, const InRunCosts& checked,
                 const std::vector<double>& lost_ns, const ReportOptions& options, Report* report) {
  Result<Report> corrected = BuildReport(replayed.run, options);
  if (!corrected.ok()) return corrected.error();
  for (size_t p = 0; p < report->processes.size(); ++p) {
    ReportProcess& process = report->processes[p];
    auto result = std::make_shared<CorrectedProcess>(
        CorrectedOf(process, std::move((*corrected).processes[p]), replayed.facts[p]));
    result->in_run = checked.checks[p];
    WidenBy(lost_ns[p], result.get());
    const ProcessTrace& of = replayed.run.processes[p];
    WidenByStartAndEnd(StartAndEndOf(of, options.process_costs), &result->span);
    process.corrected = std::move(result);
    process.corrected_why_not.clear();
  }
  TakeTargets(*corrected, replayed, lost_ns, options, report);
  return Ok{};
}

}  // namespace

Status AddReplays(const Run& run, const ReportOptions& options, Report* report) {
  for (ReportProcess& process : report->processes) {
    process.corrected_why_not = options.why_no_costs;
  }
  if (report->processes.empty()) return Ok{};
  // One pass serves the corrected values, the critical path and what parts are compared with.
  const LeadingProcess leading = LeadingOf(*report);
  ReplayOptions replay;
  replay.operations = options.operations;
  replay.critical_path_of = leading.index;
  replay.keep_events = options.costs.has_value();
  InRunCosts checked;
  if (options.costs) {
    Result<InRunCosts> costs = CheckCosts(run, *options.costs, options.operations);
    if (!costs.ok()) return costs.error();
    checked = std::move(*costs);
    replay.process_costs = checked.costs;
  }
  Savings savings(run, replay, leading, report->run.headline == "iterations");
  if (options.savings && report->run.devices_used != 0) savings.AskDevice();
  std::vector<std::function<Status()>> jobs;
  const auto answer_from = [&savings, &jobs](size_t first) {
    for (size_t i = first; i < savings.questions(); ++i) {
      jobs.emplace_back([&savings, i] { return savings.Answer(i); });
    }
  };
  ReplayedRun replayed;
  jobs.emplace_back([&]() -> Status {
    Result<ReplayedRun> base = ReplayRun(run, replay);
    if (!base.ok()) return base.error();
    replayed = std::move(*base);
    return Ok{};
  });
  answer_from(0);
  const Status known = InParallel(jobs);
  if (!known.ok()) return known;
  // What is worth asking beside that is told by the critical path.
  jobs.clear();
  if (options.costs) {
    jobs.emplace_back([&] {
      const std::vector<double> lost_ns = LostCosts(run, checked, options, *report);
      return PutBeside(replayed, checked, lost_ns, options, report);
    });
  }
  const size_t answered = savings.questions();
  if (options.savings) {
    savings.AskPath(replayed, *report);
    savings.AskRoles(*report);
  }
  answer_from(answered);
  const Status done = InParallel(jobs);
  if (!done.ok()) return done;
  if (options.savings && options.what_if) {
    jobs.clear();
    const size_t before = savings.questions();
    savings.AskFurther(replayed);
    answer_from(before);
    const Status further = InParallel(jobs);
    if (!further.ok()) return further;
  }
  savings.Put(replayed, report);
  report->diagnosis = Diagnose(*report);  // what a change would save is known now
  return done;
}

}  // namespace gpubound
