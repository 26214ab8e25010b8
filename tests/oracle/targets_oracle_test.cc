// SPDX-License-Identifier: Apache-2.0
//
// When a target is reached, and where the time went until then, on random traces with random
// metrics: against means that are added up anew for every record, and a breakdown of the time until
// then that is worked out instant by instant.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/report/report_training.h"
#include "tests/oracle/naive_oracle.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kTraces = 600;
constexpr char kMetric[] = "return";

struct Metric {
  int64_t time_ns = 0;
  double value = 0;
};

// Records on the first thread, behind what else happens at their instants.
std::vector<Metric> AddMetrics(std::mt19937* random, ProcessTrace* process) {
  process->labels.push_back({LabelKind::kCounter, Layer::kUnset, "", kMetric});
  const auto label = static_cast<LabelId>(process->labels.size() - 1);
  std::vector<Metric> metrics(1 + (*random)() % 12);
  const auto span_ns = static_cast<uint64_t>(process->span_end_ns - process->span_begin_ns);
  for (Metric& metric : metrics) {
    metric.time_ns = process->span_begin_ns + static_cast<int64_t>((*random)() % (span_ns + 1));
    metric.value = static_cast<double>((*random)() % 10);
  }
  std::stable_sort(metrics.begin(), metrics.end(),
                   [](const Metric& a, const Metric& b) { return a.time_ns < b.time_ns; });
  ThreadTrace& thread = process->threads.front();
  for (const Metric& metric : metrics) {
    ThreadEvent event;
    event.time_ns = metric.time_ns;
    event.kind = SlotKind::kCounter;
    event.label = label;
    event.payload = std::bit_cast<uint64_t>(metric.value);
    const auto place = std::upper_bound(
        thread.events.begin(), thread.events.end(), metric.time_ns,
        [](int64_t time_ns, const ThreadEvent& other) { return time_ns < other.time_ns; });
    const auto index = static_cast<size_t>(place - thread.events.begin());
    for (StackReset& reset : thread.resets) reset.event_index += reset.event_index >= index ? 1 : 0;
    thread.events.insert(place, event);
  }
  return metrics;
}

std::optional<int64_t> FirstReached(const std::vector<Metric>& metrics, size_t length,
                                    double value) {
  for (size_t end = length; end <= metrics.size(); ++end) {
    double sum = 0;
    for (size_t i = end - length; i < end; ++i) sum += metrics[i].value;
    if (sum / static_cast<double>(length) >= value) return metrics[end - 1].time_ns;
  }
  return std::nullopt;
}

// Wall and busy time by operation, without zeros.
std::map<std::string, std::pair<int64_t, int64_t>> NaiveParts(ProcessTrace process,
                                                              int64_t until_ns) {
  process.span_end_ns = until_ns;
  std::map<std::string, std::pair<int64_t, int64_t>> parts;
  for (const auto& [cell, ns] : BreakDownNaively(process).cells) {
    const size_t operation = cell.find('|') + 1;
    const size_t layer = cell.find('|', operation);
    const std::string gpu = cell.substr(cell.rfind('|') + 1);
    auto& [wall_ns, busy_ns] = parts[cell.substr(operation, layer - operation)];
    wall_ns += ns;
    if (gpu != "idle" && gpu != "unknown") busy_ns += ns;
  }
  std::erase_if(parts, [](const auto& part) { return part.second.first == 0; });
  return parts;
}

void Check(uint64_t seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  Run run;
  ProcessTrace& process = run.processes.emplace_back(MakeRandomTrace(seed));
  if (process.threads.empty()) return;
  const std::vector<Metric> metrics = AddMetrics(&random, &process);
  BreakdownOptions options;
  Target& target = options.targets.emplace_back();
  target.metric = kMetric;
  target.value = static_cast<double>(random() % 10);
  target.records = 1 + random() % 4;
  const Result<Report> report = BuildReport(run, options);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  const ReportTarget& found = report->run.training->targets.front();
  EXPECT_EQ(found.records, metrics.size());
  const std::optional<int64_t> reached = FirstReached(metrics, target.records, target.value);
  ASSERT_EQ(found.reached_ns.has_value(), reached.has_value());
  if (!reached) return;
  EXPECT_EQ(*found.reached_ns, *reached - process.span_begin_ns);
  std::map<std::string, std::pair<int64_t, int64_t>> parts;
  for (const TargetPart& part : found.parts) {
    parts[part.operation] = {part.wall_ns, part.gpu_busy_ns};
  }
  EXPECT_EQ(parts, NaiveParts(process, *reached));
}

TEST(TargetsOracle, TargetsAreReachedWhenTheirMeanIsAndTimeUntilThenIsThatOfTheSpecification) {
  const Seeds seeds(kTraces);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(ToReproduce(seed));
    Check(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace gpubound::oracle
