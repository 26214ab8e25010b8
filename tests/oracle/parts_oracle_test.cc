// SPDX-License-Identifier: Apache-2.0
//
// Iterations and idle gaps of random traces, found by looking at every nanosecond and every step,
// against those of the report.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "tests/oracle/naive_oracle.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/shrink_run.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kTraces = 10'000;
constexpr size_t kListed = 10;

bool Opens(const ThreadEvent& event) {
  return event.kind == SlotKind::kBegin || event.kind == SlotKind::kRangeStart;
}

// When the first operation was begun; where there is none, annotations of the program's serve.
std::optional<int64_t> FirstOperation(const ProcessTrace& process) {
  for (const LabelKind kind : {LabelKind::kOperation, LabelKind::kAnnotation}) {
    std::optional<int64_t> first_ns;
    for (const ThreadTrace& thread : process.threads) {
      for (const ThreadEvent& event : thread.events) {
        const Label& label = process.labels[Raw(event.label)];
        if (!Opens(event) || label.kind != kind || label.domain == "NCCL") continue;
        if (!first_ns || event.time_ns < *first_ns) first_ns = event.time_ns;
      }
    }
    if (first_ns) return first_ns;
  }
  return std::nullopt;
}

std::string PhaseAt(const ProcessTrace& process, int64_t t) {
  std::string phase;
  int64_t latest_ns = INT64_MIN;
  for (const ThreadTrace& thread : process.threads) {
    for (const ThreadEvent& event : thread.events) {
      if (event.kind != SlotKind::kPhase || event.time_ns > t || event.time_ns < latest_ns)
        continue;
      latest_ns = event.time_ns;
      phase = process.labels[Raw(event.label)].text;
    }
  }
  return phase;
}

bool Runs(const DeviceWork& work, int64_t t) { return work.start_ns <= t && t < work.end_ns; }

struct NaiveIteration {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  bool warm_up = false;
  int64_t length() const { return end_ns - begin_ns; }
};

// The first operation begins the first iteration, and so does a step before it; every later step
// ends one and begins the next. Until something has begun there is nothing to end.
std::vector<NaiveIteration> IterationsOf(const ProcessTrace& process) {
  std::map<int64_t, int> steps;  // how many, by time
  for (const ThreadTrace& thread : process.threads) {
    for (const ThreadEvent& event : thread.events) {
      if (event.kind != SlotKind::kStep || event.time_ns > process.span_end_ns) continue;
      ++steps[std::max(event.time_ns, process.span_begin_ns)];
    }
  }
  const std::optional<int64_t> operation_ns = FirstOperation(process);
  std::optional<int64_t> begun_ns;
  const auto begin_with_operation = [&](int64_t until_ns) {
    if (begun_ns || !operation_ns || *operation_ns > until_ns) return;
    begun_ns = std::clamp(*operation_ns, process.span_begin_ns, process.span_end_ns);
  };
  std::vector<NaiveIteration> iterations;
  for (const auto& [t, count] : steps) {
    begin_with_operation(t);
    // What comes with the span or with the first operation has nothing behind it to end.
    const bool only_begins = t == process.span_begin_ns || (iterations.empty() && begun_ns == t);
    for (int i = 0; i < count; ++i) {
      if (begun_ns && !only_begins) iterations.push_back({*begun_ns, t, false});
      begun_ns = t;
    }
  }
  bool warm_up = true;
  for (NaiveIteration& iteration : iterations) {
    const bool first = &iteration == &iterations.front();
    warm_up = warm_up && (first || PhaseAt(process, iteration.begin_ns) == "warm-up");
    iteration.warm_up = warm_up;
  }
  return iterations;
}

int64_t BusyIn(const ProcessTrace& process, const NaiveIteration& iteration) {
  int64_t busy_ns = 0;
  for (int64_t t = iteration.begin_ns; t < iteration.end_ns; ++t) {
    busy_ns += std::any_of(process.device_work.begin(), process.device_work.end(),
                           [t](const DeviceWork& work) { return Runs(work, t); });
  }
  return busy_ns;
}

class PartsOracleTest : public testing::Test {
 protected:
  static void OnRandomTraces(
      const std::function<void(const ProcessTrace&, const ReportProcess&)>& check) {
    for (const uint64_t seed : Seeds(kTraces)) {
      if (HasFailure()) return;
      SCOPED_TRACE(ToReproduce(seed));
      const ProcessTrace process = MakeRandomTrace(seed);
      const Result<ProcessAnalysis> analysis = AnalyzeProcess(process, {});
      ASSERT_TRUE(analysis.ok());
      check(process, analysis->report);
    }
  }
};

// The ten slowest that are no warm-up, slowest first; ties by begin.
void ExpectSlowest(const ReportIterations& found, const ProcessTrace& process,
                   std::vector<NaiveIteration> all) {
  std::erase_if(all, [](const NaiveIteration& iteration) { return iteration.warm_up; });
  std::sort(all.begin(), all.end(), [](const NaiveIteration& a, const NaiveIteration& b) {
    return a.length() != b.length() ? a.length() > b.length() : a.begin_ns < b.begin_ns;
  });
  all.resize(std::min(all.size(), kListed));
  ASSERT_EQ(found.slowest.size(), all.size());
  for (size_t i = 0; i < all.size(); ++i) {
    const ReportIteration& row = found.slowest[i];
    EXPECT_EQ(row.ns, all[i].length()) << "of the slowest number " << i;
    EXPECT_EQ(row.begin_ns, all[i].begin_ns - process.span_begin_ns);
    EXPECT_EQ(row.gpu_busy_ns, BusyIn(process, all[i]));
    const auto same = [&row](const ReportIteration& one) {
      return one.number == row.number && one.begin_ns == row.begin_ns && one.ns == row.ns;
    };
    EXPECT_TRUE(std::any_of(found.every.begin(), found.every.end(), same)) << row.number;
  }
}

TEST_F(PartsOracleTest, IterationsAreThoseCountedNaively) {
  uint64_t iterating = 0;
  uint64_t of_several = 0;
  uint64_t cut = 0;
  OnRandomTraces([&](const ProcessTrace& process, const ReportProcess& report) {
    const std::vector<NaiveIteration> all = IterationsOf(process);
    ASSERT_EQ(report.iterations.has_value(), !all.empty());
    if (all.empty()) return;
    const ReportIterations& found = *report.iterations;
    ASSERT_EQ(found.every.size(), all.size());
    std::vector<int64_t> lengths;
    int64_t warm_up_ns = 0;
    int64_t total_ns = 0;
    int64_t busy_ns = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(found.every[i].begin_ns, all[i].begin_ns - process.span_begin_ns);
      EXPECT_EQ(found.every[i].ns, all[i].length());
      EXPECT_EQ(found.every[i].gpu_busy_ns, BusyIn(process, all[i]));
      if (all[i].warm_up) {
        warm_up_ns += all[i].length();
        continue;
      }
      lengths.push_back(all[i].length());
      total_ns += all[i].length();
      busy_ns += BusyIn(process, all[i]);
    }
    EXPECT_EQ(found.count, lengths.size());
    EXPECT_EQ(found.warm_up, all.size() - lengths.size());
    EXPECT_EQ(found.start_up_ns, all.front().begin_ns - process.span_begin_ns);
    EXPECT_EQ(found.warm_up_ns, warm_up_ns);
    EXPECT_EQ(found.total_ns, total_ns);
    EXPECT_EQ(found.gpu_busy_ns, busy_ns);
    EXPECT_EQ(found.shutdown_ns, process.span_end_ns - all.back().end_ns);
    ++iterating;
    if (lengths.empty()) return;
    ++of_several;
    const auto count = static_cast<int64_t>(lengths.size());
    EXPECT_EQ(found.mean_ns, total_ns / count);
    // Of n lengths: so many are no longer than it, and so many no shorter.
    const auto no_longer = [&](int64_t ns) {
      return std::count_if(lengths.begin(), lengths.end(), [ns](int64_t l) { return l <= ns; });
    };
    EXPECT_GE(20 * no_longer(found.p95_ns), 19 * count);
    EXPECT_LT(20 * no_longer(found.p95_ns - 1), 19 * count);
    EXPECT_GE(2 * no_longer(found.median_ns), count);
    EXPECT_LE(2 * no_longer(found.median_ns - 1), count);
    cut += lengths.size() > kListed ? 1 : 0;
    ExpectSlowest(found, process, all);
  });
  const Seeds seeds(kTraces);
  if (seeds.is_one()) return;
  EXPECT_GT(iterating, seeds.size() / 4);
  EXPECT_GT(of_several, seeds.size() / 10);
  EXPECT_GT(cut, seeds.size() / kTracesPerManyParts / 2);
}

// By cause, the time of each iteration after warm-up in which no device worked.
std::map<std::string, std::vector<int64_t>> IdleTimesOf(const ProcessTrace& process) {
  const NaiveBreakdown naive = BreakDownNaively(process);
  std::vector<NaiveIteration> all = IterationsOf(process);
  std::erase_if(all, [](const NaiveIteration& iteration) { return iteration.warm_up; });
  std::map<std::string, std::vector<int64_t>> idle;
  for (size_t i = 0; i < all.size(); ++i) {
    for (int64_t t = all[i].begin_ns; t < all[i].end_ns; ++t) {
      const auto cause = naive.all_idle.find(t);
      if (cause == naive.all_idle.end()) continue;
      std::vector<int64_t>& times = idle[cause->second];
      times.resize(all.size());
      ++times[i];
    }
  }
  return idle;
}

TEST_F(PartsOracleTest, IdleTimesOfIterationsAreThoseCountedNaively) {
  uint64_t queued = 0;
  uint64_t waiting = 0;
  OnRandomTraces([&](const ProcessTrace& process, const ReportProcess& report) {
    if (!report.iterations) return;
    const auto& series = report.iterations->series.idle_ns;
    const std::map<std::string, std::vector<int64_t>> found(series.begin(), series.end());
    gpubound::Run run;
    run.processes.push_back(process);
    EXPECT_EQ(found, IdleTimesOf(process)) << InWords(run);
    queued += found.count("queued");
    waiting += found.count("event-wait");
  });
  const Seeds seeds(kTraces);
  if (seeds.size() < 1'000) return;  // the few of a sanitizer's build may have none
  EXPECT_GT(queued, seeds.size() / 20);
  EXPECT_GT(waiting, seeds.size() / 500);
}

// Where |device| neither works nor may have worked, as far as that goes in both directions.
std::vector<Interval> GapsOf(const ProcessTrace& process, uint32_t device) {
  std::vector<Interval> gaps;
  bool was_idle = false;
  for (int64_t t = process.span_begin_ns; t < process.span_end_ns; ++t) {
    bool idle = true;
    for (const DeviceWork& work : process.device_work) {
      if (Raw(process.streams[Raw(work.stream)].device) != device) continue;
      idle = idle && !Runs(work, t);
    }
    for (const UnknownInterval& unknown : process.unknown) {
      idle = idle && !(unknown.start_ns <= t && t < unknown.end_ns);
    }
    if (idle && !was_idle) gaps.push_back({t, t});
    if (idle) gaps.back().end_ns = t + 1;
    was_idle = idle;
  }
  return gaps;
}

// On a device: begin, length, what the CPU did most of the time, and at both ends.
struct NaiveGap {
  int64_t begin_ns = 0;
  int64_t ns = 0;
  uint32_t device = 0;
  std::string cause;
  std::pair<std::string, std::string> at_begin;  // operation, layer
  std::pair<std::string, std::string> at_end;
  bool operator==(const NaiveGap&) const = default;
};

void PrintTo(const NaiveGap& gap, std::ostream* out) {
  *out << gap.begin_ns << " + " << gap.ns << " on " << gap.device << ", " << gap.cause << ", from "
       << gap.at_begin.first << " " << gap.at_begin.second << " to " << gap.at_end.first << " "
       << gap.at_end.second;
}

// That of the whole gap, else the one with the most time; of several the first in the report's
// order (analysis/trace/idle_cause.h).
std::string CauseOf(const NaiveBreakdown& naive, uint32_t device, const Interval& time) {
  const auto queued = naive.queued.find({device, time.begin_ns});
  if (queued != naive.queued.end()) return queued->second;
  std::string cause;
  int64_t most_ns = 0;
  for (const char* candidate : {"unknown", "launch", "copy", "sync", "waiting", "simulation",
                                "start-up", "compile", "checkpoint"}) {
    int64_t ns = 0;
    for (int64_t t = time.begin_ns; t < time.end_ns; ++t) ns += naive.cause.at(t) == candidate;
    if (ns <= most_ns) continue;
    most_ns = ns;
    cause = candidate;
  }
  return cause;
}

// Of every device that was used, longest first; ties by begin, then by device.
std::vector<NaiveGap> GapsOf(const ProcessTrace& process) {
  const NaiveBreakdown naive = BreakDownNaively(process);
  std::vector<NaiveGap> gaps;
  for (uint32_t device = 1; device <= 2; ++device) {
    const bool used = std::any_of(process.device_work.begin(), process.device_work.end(),
                                  [&](const DeviceWork& work) {
                                    return Raw(process.streams[Raw(work.stream)].device) == device;
                                  });
    if (!used) continue;
    for (const Interval& gap : GapsOf(process, device)) {
      gaps.push_back({gap.begin_ns - process.span_begin_ns, gap.length(), device - 1,
                      CauseOf(naive, device, gap), naive.did.at(gap.begin_ns),
                      naive.did.at(gap.end_ns - 1)});
    }
  }
  std::sort(gaps.begin(), gaps.end(), [](const NaiveGap& a, const NaiveGap& b) {
    return std::tie(b.ns, a.begin_ns, a.device) < std::tie(a.ns, b.begin_ns, b.device);
  });
  return gaps;
}

TEST_F(PartsOracleTest, TheLongestGapsAreThoseCountedNaively) {
  uint64_t with_gaps = 0;
  uint64_t cut = 0;
  OnRandomTraces([&](const ProcessTrace& process, const ReportProcess& report) {
    std::vector<NaiveGap> longest = GapsOf(process);
    with_gaps += longest.empty() ? 0 : 1;
    cut += longest.size() > kListed ? 1 : 0;
    longest.resize(std::min(longest.size(), kListed));
    std::vector<NaiveGap> found;
    for (const ReportGap& gap : report.gaps) {
      found.push_back({gap.begin_ns,
                       gap.ns,
                       gap.ordinal,
                       gap.cause,
                       {gap.operation_at_begin, gap.layer_at_begin},
                       {gap.operation_at_end, gap.layer_at_end}});
    }
    gpubound::Run run;
    run.processes.push_back(process);
    EXPECT_EQ(found, longest) << InWords(run);
  });
  const Seeds seeds(kTraces);
  if (seeds.is_one()) return;
  EXPECT_GT(with_gaps, seeds.size() / 2);
  EXPECT_GT(cut, seeds.size() / kTracesPerManyParts / 2);
}

}  // namespace
}  // namespace gpubound::oracle
