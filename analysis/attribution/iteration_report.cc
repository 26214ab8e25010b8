// SPDX-License-Identifier: Apache-2.0
//
// Sums up iterations. No state.
#include "analysis/attribution/iteration_report.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

namespace gpubound {
namespace {

constexpr size_t kSlowest = 10;

// The smallest length that |percent| % of the sorted |lengths| do not exceed.
int64_t Percentile(const std::vector<int64_t>& lengths, size_t percent) {
  const size_t rank = (lengths.size() * percent + 99) / 100;
  return lengths[std::max<size_t>(rank, 1) - 1];
}

void AddLengths(const std::vector<Iteration>& steady, ReportIterations* report) {
  std::vector<int64_t> lengths;
  lengths.reserve(steady.size());
  for (const Iteration& iteration : steady) {
    lengths.push_back(iteration.time.length());
    report->total_ns += iteration.time.length();
    report->gpu_busy_ns += iteration.busy_ns;
  }
  if (lengths.empty()) return;
  std::sort(lengths.begin(), lengths.end());
  report->mean_ns = report->total_ns / static_cast<int64_t>(lengths.size());
  const size_t middle = lengths.size() / 2;
  report->median_ns =
      lengths.size() % 2 != 0 ? lengths[middle] : (lengths[middle - 1] + lengths[middle]) / 2;
  report->p95_ns = Percentile(lengths, 95);
}

void AddSlowest(std::vector<Iteration> steady, int64_t span_begin_ns, ReportIterations* report) {
  const size_t kept = std::min(steady.size(), kSlowest);
  std::partial_sort(steady.begin(), steady.begin() + static_cast<std::ptrdiff_t>(kept),
                    steady.end(), [](const Iteration& a, const Iteration& b) {
                      if (a.time.length() != b.time.length()) {
                        return a.time.length() > b.time.length();
                      }
                      return a.time.begin_ns < b.time.begin_ns;
                    });
  for (size_t i = 0; i < kept; ++i) {
    report->slowest.push_back({static_cast<int64_t>(steady[i].number),
                               steady[i].time.begin_ns - span_begin_ns, steady[i].time.length(),
                               steady[i].busy_ns, false});
  }
}

void AddEvery(const std::vector<Iteration>& iterations, bool warm_up, int64_t span_begin_ns,
              ReportIterations* report) {
  for (const Iteration& iteration : iterations) {
    report->every.push_back({static_cast<int64_t>(iteration.number),
                             iteration.time.begin_ns - span_begin_ns, iteration.time.length(),
                             iteration.busy_ns, warm_up});
  }
}

void AddOperations(const PartTimes& times, const std::vector<std::string>& names,
                   ReportIterations* report) {
  for (size_t operation = 0; operation < times.size(); ++operation) {
    const PartTime& time = times[operation];
    if (time.wall_ns == 0) continue;
    report->operations.push_back({names[operation], time.wall_ns, time.busy_ns, time.unknown_ns});
  }
  std::sort(report->operations.begin(), report->operations.end(), [](const auto& a, const auto& b) {
    return std::tie(b.wall_ns, a.operation) < std::tie(a.wall_ns, b.operation);
  });
}

void AddSeries(const IterationTimes& times, const std::vector<std::string>& names,
               ReportIterations* report) {
  ReportIterationSeries& series = report->series;
  const size_t size = times.details.size();
  std::map<std::string, size_t> rows;
  for (const ReportIterationOperation& row : report->operations) {
    rows.emplace(row.operation, rows.size());
  }
  series.operation_wall_ns.assign(rows.size(), std::vector<int64_t>(size));
  series.operation_busy_ns = series.operation_wall_ns;
  std::vector<std::vector<int64_t>> idle_ns(kIdleCauses, std::vector<int64_t>(size));
  for (size_t i = 0; i < size; ++i) {
    const IterationDetail& detail = times.details[i];
    series.iterations.push_back(times.warm_up.size() + detail.index);
    for (const auto& [operation, time] : detail.operations) {
      const size_t row = rows.at(names[operation]);
      series.operation_wall_ns[row][i] = time.wall_ns;
      series.operation_busy_ns[row][i] = time.busy_ns;
    }
    for (size_t cause = 0; cause < kIdleCauses; ++cause) {
      idle_ns[cause][i] = detail.idle_ns[cause];
    }
  }
  for (size_t cause = 0; cause < kIdleCauses; ++cause) {
    const bool any = std::any_of(idle_ns[cause].begin(), idle_ns[cause].end(),
                                 [](int64_t ns) { return ns != 0; });
    if (!any) continue;
    series.idle_ns.emplace_back(IdleCauseName(static_cast<IdleCause>(cause)),
                                std::move(idle_ns[cause]));
  }
}

ReportNaming NamingOf(const PartTimes& times, const LabelRoles& roles) {
  ReportNaming naming;
  for (OperationIndex operation = 0; operation < times.size(); ++operation) {
    const PartTime& time = times[operation];
    const NamedBy named_by = roles.OperationNamedBy(operation);
    if (named_by == NamedBy::kProgram) {
      naming.program_ns += time.wall_ns;
    } else if (named_by == NamedBy::kRules) {
      naming.rules_ns += time.wall_ns;
    } else {
      naming.waiting_ns += time.blocked_ns;
      (named_by == NamedBy::kStage ? naming.stage_ns : naming.none_ns) +=
          time.wall_ns - time.blocked_ns;
    }
  }
  return naming;
}

}  // namespace

std::optional<ReportIterations> IterationStatistics(const IterationTimes& times,
                                                    const Interval& span, const LabelRoles& roles) {
  const std::optional<Interval> warm_up = WarmUpOf(times);
  if (!warm_up) return std::nullopt;
  ReportIterations report;
  report.warm_up = times.warm_up.size();
  report.count = times.steady.size();
  report.start_up_ns = warm_up->begin_ns - span.begin_ns;
  report.warm_up_ns = warm_up->length();
  AddLengths(times.steady, &report);
  const int64_t last_ns = times.steady.empty() ? warm_up->end_ns : times.steady.back().time.end_ns;
  report.shutdown_ns = span.end_ns - last_ns;
  AddOperations(times.in_steady, roles.operations(), &report);
  report.naming = NamingOf(times.in_steady, roles);
  AddSlowest(times.steady, span.begin_ns, &report);
  AddEvery(times.warm_up, true, span.begin_ns, &report);
  AddEvery(times.steady, false, span.begin_ns, &report);
  AddSeries(times, roles.operations(), &report);
  return report;
}

}  // namespace gpubound
