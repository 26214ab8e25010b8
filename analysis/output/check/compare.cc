// SPDX-License-Identifier: Apache-2.0
//
// Lines up the figures of runs. No state.
#include "analysis/output/check/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/output/text/headline.h"
#include "analysis/output/text/training_text.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report_training.h"
#include "analysis/report/simulated_mark.h"

namespace gpubound {
namespace {

using Key = std::pair<ComparedFigure, std::string>;

constexpr double kAnyAmount = std::numeric_limits<double>::infinity();

// By how much the truth may be less or more than a figure.
struct Margin {
  double less = 0;
  double more = 0;
  // Of a sum, or of any of several.
  void Add(const Margin& other) { *this = {less + other.less, more + other.more}; }
  void Join(const Margin& other) {
    *this = {std::max(less, other.less), std::max(more, other.more)};
  }
};

// Graphs recorded as a whole count as busy throughout; in |unknown| time, and beside processes that
// are not part of the run, a device could have been busy.
Margin BusyOfRun(const Report& report, bool is_upper_bound, double unknown) {
  return {is_upper_bound ? kAnyAmount : 0,
          report.run.gpu_busy_is_lower_bound ? kAnyAmount : unknown};
}

Margin BusyOf(bool is_upper_bound, double unknown) {
  return {is_upper_bound ? kAnyAmount : 0, unknown};
}

constexpr char kIterations[] = "iterations";

const ReportThroughput* FindThroughput(const ReportProcess& process, const std::string& counter) {
  const auto found =
      std::find_if(process.throughput.begin(), process.throughput.end(),
                   [&counter](const ReportThroughput& row) { return row.counter == counter; });
  return found == process.throughput.end() || found->per_second <= 0 ? nullptr : &*found;
}

// The first counter of work that the iterations of every run have; empty: none.
std::string CommonCounter(const std::vector<RunGroup>& groups) {
  for (const ReportThroughput& row : SteppingProcess(groups[0].reports[0])->throughput) {
    const bool common = std::all_of(groups.begin(), groups.end(), [&row](const RunGroup& group) {
      return std::all_of(group.reports.begin(), group.reports.end(), [&row](const Report& report) {
        return FindThroughput(*SteppingProcess(report), row.counter) != nullptr;
      });
    });
    if (common) return row.counter;
  }
  return {};
}

// The figures of one run.
class RunFigureSet {
 public:
  // |counter|: of the work that the run counts; empty: iterations stand for themselves.
  RunFigureSet(const Report& report, bool per_iteration, const std::string& counter)
      : uses_device_(report.run.devices_used > 0) {
    AddTargets(report.run);
    Add(ComparedFigure::kRunWall, "", {{static_cast<double>(report.run.wall_ns)}, {}});
    const ReportRun& run = report.run;
    if (per_iteration) {
      AddIterations(*SteppingProcess(report), counter);
      Add(ComparedFigure::kGpuBusyShare, "", {{run.gpu_busy_share}, {}},
          BusyOfRun(report, run.gpu_busy_is_upper_bound, run.unknown.share));
    } else {
      Add(ComparedFigure::kGpuBusyShare, "", {{run.whole_gpu_busy_share}, {}},
          BusyOfRun(report, run.whole_gpu_busy_is_upper_bound, run.whole_unknown.share));
      if (const ReportProcess* process = ToldProcess(report)) AddWhole(*process);
    }
  }

  // Keys in order of first appearance.
  const std::vector<Key>& keys() const { return keys_; }

  // Zeros for an operation or cause that this run does not have; nothing for a cause where there is
  // no device that could be idle.
  std::optional<RunSeries> SeriesOf(const Key& key) const {
    if (key.first == ComparedFigure::kIdleCause && !uses_device_) return std::nullopt;
    const auto found = series_.find(key);
    if (key.first == ComparedFigure::kTimeToTarget && found == series_.end()) return std::nullopt;
    return found == series_.end() ? RunSeries{std::vector<double>(length_), {}} : found->second;
  }
  Margin BoundOf(const Key& key) const {
    if (key.first == ComparedFigure::kIdleCause) return idle_;  // also of causes that it lacks
    const auto found = bounds_.find(key);
    return found == bounds_.end() ? Margin{} : found->second;
  }

 private:
  void Add(ComparedFigure figure, const std::string& name, RunSeries series, Margin bound = {}) {
    keys_.emplace_back(figure, name);
    series_.emplace(keys_.back(), std::move(series));
    bounds_.emplace(keys_.back(), bound);
  }

  void AddTargets(const ReportRun& run) {
    if (run.training == nullptr) return;
    for (const ReportTarget& target : run.training->targets) {
      const Key key{ComparedFigure::kTimeToTarget, target.target};
      keys_.push_back(key);  // whether it was reached or not
      if (!target.reached_ns) continue;
      series_.emplace(key, RunSeries{{static_cast<double>(*target.reached_ns)}, {}});
    }
  }

  // Unknown time could have been idle too; what was busy only as part of a whole graph, too.
  static Margin IdleBeside(const Margin& busy) { return {0, busy.less + busy.more}; }

  RunSeries Column(const std::vector<int64_t>& values) const {
    RunSeries series;
    for (const int64_t value : values) {
      series.values.push_back(static_cast<double>(value) * scale_);
    }
    return series;
  }

  // What iterations do is taken to be the same in each: what the run does a second, in the mean
  // iteration.
  void AddThroughput(const ReportProcess& process, const std::string& counter,
                     const std::vector<double>& lengths_ns) {
    constexpr double kNsPerSecond = 1e9;
    std::vector<double> seconds;
    for (const double ns : lengths_ns) seconds.push_back(ns / kNsPerSecond);
    double work = 1;
    if (!counter.empty()) {
      const double mean_ns = StatisticOf(RunSeries{lengths_ns, {}}, Statistic::kMean);
      work = FindThroughput(process, counter)->per_second * mean_ns / kNsPerSecond;
      scale_ = kWorkUnit / work;
    }
    Add(ComparedFigure::kThroughput, counter.empty() ? kIterations : counter,
        {std::vector<double>(lengths_ns.size(), work), seconds});
  }

  void AddIterations(const ReportProcess& process, const std::string& counter) {
    const ReportIterations& iterations = *process.iterations;
    const ReportIterationSeries& series = iterations.series;
    length_ = series.iterations.size();
    RunSeries lengths;
    std::vector<double> busy;
    for (const size_t place : series.iterations) {
      lengths.values.push_back(static_cast<double>(iterations.every[place].ns));
      busy.push_back(static_cast<double>(iterations.every[place].gpu_busy_ns));
    }
    AddThroughput(process, counter, lengths.values);
    Add(ComparedFigure::kIterationMedian, "", lengths);
    Add(ComparedFigure::kIterationMean, "", lengths);
    const double count = std::max(1.0, static_cast<double>(iterations.count));
    std::set<std::string_view> bounded;
    for (const ReportOperation& row : process.operations) {
      if (row.gpu_busy_is_upper_bound) bounded.insert(row.operation);
    }
    Margin all;
    for (size_t row = 0; row < iterations.operations.size(); ++row) {
      const ReportIterationOperation& operation = iterations.operations[row];
      const std::string& name = operation.operation;
      const Margin bound = BusyOf(bounded.contains(name),
                                  static_cast<double>(operation.unknown_ns) / count * scale_);
      all.Add(bound);
      Add(ComparedFigure::kOperationWall, name, Column(series.operation_wall_ns[row]));
      Add(ComparedFigure::kOperationBusy, name, Column(series.operation_busy_ns[row]), bound);
    }
    const double length = std::max(1.0, static_cast<double>(iterations.total_ns) / count);
    Add(ComparedFigure::kProcessBusyShare, "", {std::move(busy), lengths.values},
        {all.less, all.more / scale_ / length});
    if (!uses_device_) return;
    idle_ = IdleBeside(all);
    for (const auto& [cause, idle_ns] : series.idle_ns) {
      Add(ComparedFigure::kIdleCause, cause, Column(idle_ns));
    }
  }

  void AddWhole(const ReportProcess& process) {
    std::map<std::string, int64_t> idle_ns;
    Margin all;
    for (const ReportOperation& row : process.operations) {
      if (row.other_threads_only) continue;  // zeros that nobody measured
      const Margin bound = BusyOf(row.gpu_busy_is_upper_bound, static_cast<double>(row.unknown_ns));
      all.Add(bound);
      Add(ComparedFigure::kOperationWall, row.operation, Column({row.wall_ns}));
      Add(ComparedFigure::kOperationBusy, row.operation, Column({row.gpu_busy_ns}), bound);
      for (const CauseTime& cause : row.device_idle) idle_ns[cause.cause] += cause.ns;
    }
    if (!uses_device_) return;
    idle_ = IdleBeside(all);
    for (const auto& [cause, ns] : idle_ns) Add(ComparedFigure::kIdleCause, cause, Column({ns}));
  }

  const bool uses_device_;
  double scale_ = 1;  // from times of an iteration to those of kWorkUnit
  size_t length_ = 1;
  std::vector<Key> keys_;
  std::map<Key, RunSeries> series_;
  std::map<Key, Margin> bounds_;
  Margin idle_;
};

bool HasIterations(const Report& report) {
  const ReportProcess* process = SteppingProcess(report);
  return process != nullptr && !process->iterations->series.iterations.empty();
}

// Once where it is so of every run, else with the runs of which it is.
void NoteSimulated(const std::vector<RunGroup>& groups, std::vector<std::string>* notes) {
  size_t runs = 0;
  std::string mark;
  std::string simulated;
  size_t simulated_runs = 0;
  for (const RunGroup& group : groups) {
    for (size_t run = 0; run < group.runs.size(); ++run, ++runs) {
      const std::string of_run = SimulatedMark(group.reports[run]);
      if (of_run.empty()) continue;
      mark = of_run;
      simulated += (simulated.empty() ? "" : ", ") + group.runs[run];
      ++simulated_runs;
    }
  }
  if (simulated_runs == 0) return;
  notes->push_back(simulated_runs == runs ? mark : simulated + ": " + mark);
}

// A program that changes as it trains differs from itself where it runs for longer.
void NoteLengths(const std::vector<RunGroup>& groups, std::vector<std::string>* notes) {
  constexpr double kMuchLonger = 1.1;
  const auto count_of = [](const Report& report) {
    return static_cast<double>(SteppingProcess(report)->iterations->count);
  };
  double fewest = HUGE_VAL;
  double most = 0;
  for (const RunGroup& group : groups) {
    for (const Report& report : group.reports) {
      fewest = std::min(fewest, count_of(report));
      most = std::max(most, count_of(report));
    }
  }
  if (most <= kMuchLonger * fewest) return;
  notes->push_back("Runs have from " + FormatCount(static_cast<uint64_t>(fewest)) + " to " +
                   FormatCount(static_cast<uint64_t>(most)) +
                   " iterations: what changes in the course of training counts as a difference.");
}

void NoteSamples(const std::vector<RunGroup>& groups, std::vector<std::string>* notes) {
  for (const RunGroup& group : groups) {
    for (size_t run = 0; run < group.runs.size(); ++run) {
      const ReportIterations& iterations = *SteppingProcess(group.reports[run])->iterations;
      const size_t compared = iterations.series.iterations.size();
      if (iterations.count <= compared) continue;
      notes->push_back(group.runs[run] + ": a random " + std::to_string(compared) + " of its " +
                       FormatCount(iterations.count) + " iterations are compared.");
    }
  }
}

void NoteChance(const GroupComparison& comparison, std::vector<std::string>* notes) {
  constexpr size_t kOneIn = 20;
  size_t intervals = 0;
  bool is_marked = false;
  for (const ComparedRow& row : comparison.rows) {
    for (const ComparedValue& value : row.groups) {
      intervals += value.interval ? 1 : 0;
      is_marked |= value.significant;
    }
  }
  if (!is_marked || intervals < kOneIn / 2) return;
  notes->push_back("Of " + std::to_string(intervals) + " differences some " +
                   std::to_string((intervals + kOneIn / 2) / kOneIn) +
                   " would be marked by chance, were there none.");
}

// Where one group does more in an iteration than another, that it takes longer says nothing.
void NoteWork(const GroupComparison& comparison, std::vector<std::string>* notes) {
  if (!comparison.per_iteration || !comparison.counter.empty()) return;
  notes->emplace_back(
      "Not every run tells how much work an iteration does: times are for an iteration, whatever "
      "it "
      "does. gpubound.step(env_steps=N) tells it.");
}

// A group of which some runs never reach a target has no mean time, and a mean of the others would
// flatter it.
void NoteTargets(const std::vector<RunGroup>& groups, std::vector<std::string>* notes) {
  for (const RunGroup& group : groups) {
    std::map<std::string, std::string> missed;  // by target
    std::map<std::string, size_t> runs;
    for (size_t run = 0; run < group.runs.size(); ++run) {
      const auto& training = group.reports[run].run.training;
      if (training == nullptr) continue;
      for (const ReportTarget& target : training->targets) {
        if (target.reached_ns) continue;
        std::string& text = missed[target.target];
        text += (text.empty() ? "" : "; ") + group.runs[run] + ": " + TargetText(target, {});
        ++runs[target.target];
      }
    }
    for (const auto& [target, text] : missed) {
      notes->push_back(group.name + " has no mean time to " + target + ": " +
                       std::to_string(runs[target]) + " of " + Counted(group.runs.size(), "run") +
                       (runs[target] == 1 ? " has none (" : " have none (") + text + ").");
    }
  }
}

// Of the time in which threads of operations could run, the share without a core; 0 where that is no
// finding of its own.
double ShareWithoutCore(const Report& report) {
  ReportCpu all;
  for (const ReportProcess& process : report.processes) {
    if (!process.cpu) continue;
    all.on_cpu_ns += process.cpu->on_cpu_ns;
    all.ready_ns += process.cpu->ready_ns;
    all.blocked_ns += process.cpu->blocked_ns;
    all.unknown_ns += process.cpu->unknown_ns;
  }
  return all.NoCoreForLong() ? all.ReadyShare() : 0;
}

// Times of a run that had to wait for a core tell as much of the machine as of the program.
void NoteCores(const std::vector<RunGroup>& groups, std::vector<std::string>* notes) {
  size_t runs = 0;
  std::vector<double> shares;
  for (const RunGroup& group : groups) {
    for (const Report& report : group.reports) {
      ++runs;
      if (const double share = ShareWithoutCore(report); share > 0) shares.push_back(share);
    }
  }
  if (shares.empty()) return;
  const auto [least, most] = std::minmax_element(shares.begin(), shares.end());
  const std::string from = shares.size() == 1 ? "" : FormatShare(*least) + " to ";
  notes->push_back(std::to_string(shares.size()) + " of " + Counted(runs, "run") +
                   " had no core for " + from + FormatShare(*most) +
                   " of the time in which threads could run: what else the machine did counts as a "
                   "difference.");
}

void AddNotes(const std::vector<RunGroup>& groups, GroupComparison* made) {
  const GroupComparison& comparison = *made;
  std::vector<std::string> notes;
  NoteSimulated(groups, &notes);
  NoteTargets(groups, &notes);
  for (const RunGroup& group : groups) {
    for (size_t run = 0; run < group.runs.size(); ++run) {
      const Report& report = group.reports[run];
      if (report.processes.empty()) {
        notes.push_back(group.runs[run] + ": nothing was recorded, so its figures say nothing.");
      }
      int64_t unknown_ns = 0;
      for (const ReportProcess& process : report.processes) unknown_ns += process.unknown_ns;
      if (unknown_ns > 0) {
        notes.push_back(group.runs[run] + ": GPU time is unknown for " + FormatTime(unknown_ns) +
                        ", so its GPU times are lower bounds.");
      }
      if (report.run.whole_gpu_busy_is_upper_bound) {
        notes.push_back(group.runs[run] +
                        ": graphs were recorded as a whole, so its GPU times are upper bounds.");
      }
      if (report.run.gpu_busy_is_lower_bound) {
        const bool outside =
            std::any_of(report.devices.begin(), report.devices.end(),
                        [](const ReportDevice& device) { return device.host_outside_run; });
        notes.push_back(group.runs[run] +
                        (outside ? ": processes of another host lie outside of its span"
                                 : ": processes that are not part of it used its devices, or lost "
                                   "ones may have") +
                        ", so its GPU busy is a lower bound.");
      }
    }
  }
  NoteWork(comparison, &notes);
  NoteCores(groups, &notes);
  const bool mixed = std::any_of(groups.begin(), groups.end(),
                                 [](const RunGroup& group) { return group.runs.size() == 1; });
  if (mixed) {
    notes.emplace_back(
        "How much one run differs from the next is not known from a single run: give several of "
        "each (A1 A2 -- B1 B2) to know.");
  }
  made->caveats = notes.size();
  if (comparison.per_iteration) {
    NoteSamples(groups, &notes);
    NoteLengths(groups, &notes);
  }
  NoteChance(comparison, &notes);
  made->notes = std::move(notes);
}

const ComparedRow* FindRow(const GroupComparison& comparison, ComparedFigure figure,
                           const std::string& name) {
  const auto found = std::find_if(
      comparison.rows.begin(), comparison.rows.end(),
      [&](const ComparedRow& row) { return row.figure == figure && row.name == name; });
  return found == comparison.rows.end() ? nullptr : &*found;
}

// The row of |figure| in which the group differs most in the direction of |sign|; null: in none.
const ComparedRow* MostDiffering(const GroupComparison& comparison, ComparedFigure figure,
                                 size_t group, double sign) {
  const ComparedRow* most = nullptr;
  for (const ComparedRow& row : comparison.rows) {
    if (row.figure != figure || row.groups[group].difference * sign <= 0) continue;
    if (most == nullptr ||
        row.groups[group].difference * sign > most->groups[group].difference * sign) {
      most = &row;
    }
  }
  return most;
}

// Which operation made the difference, and what of it: at least half of it is.
void AddReason(const GroupComparison& comparison, size_t group, ComparedSpeed* speed) {
  const double sign = speed->difference_ns < 0 ? -1 : 1;
  const ComparedRow* operation =
      MostDiffering(comparison, ComparedFigure::kOperationWall, group, sign);
  if (operation == nullptr) return;
  speed->operation = operation->name;
  speed->operation_ns = operation->groups[group].difference;
  const auto is_most_of_it = [&](const ComparedRow* row) {
    return row != nullptr && 2 * row->groups[group].difference * sign >= speed->operation_ns * sign;
  };
  const ComparedRow* busy = FindRow(comparison, ComparedFigure::kOperationBusy, speed->operation);
  const ComparedRow* idle = MostDiffering(comparison, ComparedFigure::kIdleCause, group, sign);
  if (is_most_of_it(busy)) {
    speed->reason = kGpuWork;
    speed->reason_ns = busy->groups[group].difference;
  } else if (is_most_of_it(idle)) {
    speed->reason = idle->name;
    speed->reason_ns = idle->groups[group].difference;
  }
}

ComparedSpeed SpeedOf(const GroupComparison& comparison, size_t group) {
  ComparedSpeed speed;
  const auto figure =
      comparison.per_iteration ? ComparedFigure::kThroughput : ComparedFigure::kRunWall;
  const auto found =
      std::find_if(comparison.rows.begin(), comparison.rows.end(),
                   [figure](const ComparedRow& row) { return row.figure == figure; });
  const ComparedValue& before = found->groups.front();
  const ComparedValue& after = found->groups[group];
  if (before.value <= 0 || after.value <= 0) return speed;
  const auto& interval = after.interval;
  if (comparison.per_iteration) {
    speed.ratio = after.value / before.value;
    if (interval) {
      speed.interval = {1 + interval->low / before.value, 1 + interval->high / before.value};
    }
    const double unit_ns = 1e9 * (comparison.counter.empty() ? 1 : kWorkUnit);
    speed.difference_ns = unit_ns / after.value - unit_ns / before.value;
  } else {
    speed.ratio = before.value / after.value;
    if (interval && before.value + interval->low > 0) {
      speed.interval = {before.value / (before.value + interval->high),
                        before.value / (before.value + interval->low)};
    }
    speed.difference_ns = after.difference;
  }
  speed.significant = after.significant;
  if (speed.significant) AddReason(comparison, group, &speed);
  return speed;
}

// Of the difference |after| - |before|, which is no less than -|value|, that of |before|: a time is
// compared by its ratio.
std::optional<Confidence> IntervalOf(ComparedFigure figure, double value,
                                     const std::vector<RunSeries>& before,
                                     const std::vector<RunSeries>& after, Statistic statistic,
                                     uint64_t seed) {
  const bool is_share = IsShare(figure);
  const auto ratio = is_share ? std::nullopt : RatioInterval(before, after, statistic, seed);
  if (ratio) return Confidence{value * (ratio->low - 1), value * (ratio->high - 1)};
  auto difference = DifferenceInterval(before, after, statistic, seed);
  if (!difference) return std::nullopt;
  difference->low = std::max(difference->low, -value);
  if (is_share) difference->high = std::min(difference->high, 1 - value);
  return difference;
}

// Whether the group differs from the first whatever the truth is that they bound.
bool IsSignificant(const std::optional<Confidence>& interval, const Margin& before,
                   const Margin& after) {
  if (!interval) return false;
  return interval->low - before.more - after.less > 0 ||
         interval->high + before.less + after.more < 0;
}

}  // namespace

GroupComparison CompareGroups(const std::vector<RunGroup>& groups, uint64_t seed) {
  GroupComparison comparison;
  comparison.seed = seed;
  comparison.per_iteration = true;
  for (const RunGroup& group : groups) {
    comparison.per_iteration &=
        std::all_of(group.reports.begin(), group.reports.end(), HasIterations);
  }

  if (comparison.per_iteration) comparison.counter = CommonCounter(groups);

  std::vector<std::vector<RunFigureSet>> figures;
  std::vector<Key> keys;
  std::set<Key> known;
  for (const RunGroup& group : groups) {
    std::vector<RunFigureSet>& of_group = figures.emplace_back();
    for (const Report& report : group.reports) {
      of_group.emplace_back(report, comparison.per_iteration, comparison.counter);
      for (const Key& key : of_group.back().keys()) {
        if (known.insert(key).second) keys.push_back(key);
      }
    }
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const Key& a, const Key& b) { return a.first < b.first; });

  for (const Key& key : keys) {
    ComparedRow& row = comparison.rows.emplace_back();
    row.figure = key.first;
    row.name = key.second;
    const Statistic statistic =
        key.first == ComparedFigure::kIterationMedian ? Statistic::kMedian : Statistic::kMean;
    std::vector<RunSeries> first;
    Margin first_bound;
    for (const std::vector<RunFigureSet>& of_group : figures) {
      std::vector<RunSeries> series;
      Margin bound;
      ComparedValue& value = row.groups.emplace_back();
      for (const RunFigureSet& set : of_group) {
        std::optional<RunSeries> of_run = set.SeriesOf(key);
        value.absent |= !of_run;
        if (of_run) series.push_back(*std::move(of_run));
        bound.Join(set.BoundOf(key));
      }
      if (value.absent) continue;
      value.is_upper_bound = bound.less > 0;
      value.is_lower_bound = bound.more > 0;
      value.value = StatisticOf(series, statistic);
      if (row.groups.size() == 1) {
        first = std::move(series);
        first_bound = bound;
        continue;
      }
      if (row.groups.front().absent) continue;
      value.difference = value.value - row.groups.front().value;
      value.interval =
          IntervalOf(key.first, row.groups.front().value, first, series, statistic, seed);
      value.significant = IsSignificant(value.interval, first_bound, bound);
      const auto telling =
          comparison.per_iteration ? ComparedFigure::kIterationMean : ComparedFigure::kGpuBusyShare;
      if (key.first == telling) comparison.resampling.push_back(ResamplingOf(first, series));
    }
  }
  comparison.resampling.insert(comparison.resampling.begin(), Resampling::kNothing);
  for (size_t group = 0; group < groups.size(); ++group) {
    comparison.speeds.push_back(group == 0 ? ComparedSpeed{} : SpeedOf(comparison, group));
  }
  AddNotes(groups, &comparison);
  return comparison;
}

}  // namespace gpubound
