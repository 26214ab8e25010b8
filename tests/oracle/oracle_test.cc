// SPDX-License-Identifier: Apache-2.0
//
// Every invariant of SPEC section 2 on random traces, against the naive oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/attribution/process_report.h"
#include "analysis/report/report_json.h"
#include "analysis/segments/event_store.h"
#include "analysis/trace/row_names.h"
#include "tests/oracle/columns.h"
#include "tests/oracle/naive_oracle.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/split_source.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kTraces = 10'000;
constexpr uint64_t kTracesPerCrowd = 50;  // a crowd takes the oracle as long as so many traces
constexpr uint64_t kFreshTraces = 2'000;

class OracleTest : public testing::Test {
 protected:
  // Runs |check| on many traces and stops at the first that fails, naming its seed.
  static void OnRandomTraces(const std::function<void(const ProcessTrace&, uint64_t)>& check) {
    OnTraces(Seeds(kTraces), check);
  }

  static void OnTraces(const Seeds& seeds,
                       const std::function<void(const ProcessTrace&, uint64_t)>& check) {
    for (const uint64_t seed : seeds) {
      SCOPED_TRACE(ToReproduce(seed));
      check(MakeRandomTrace(seed), seed);
      if (HasFailure()) return;
    }
  }

  static void OnRandomCrowds(const std::function<void(const ProcessTrace&, uint64_t)>& check) {
    OnRandomTraces([&check](const ProcessTrace&, uint64_t seed) {
      if (seed % kTracesPerCrowd == 0) check(MakeRandomCrowd(seed), seed);
    });
  }

  static ReportProcess Analyze(const ProcessTrace& process) {
    Result<ProcessAnalysis> analysis = AnalyzeProcess(process, {});
    EXPECT_TRUE(analysis.ok()) << (analysis.ok() ? "" : analysis.error().ToString());
    return analysis.ok() ? analysis->report : ReportProcess{};
  }

  static std::map<std::string, int64_t> CellsOf(const ReportProcess& report) {
    return CellsOf(report.cells);
  }
  static std::map<std::string, int64_t> CellsOf(const std::vector<ReportCell>& list) {
    std::map<std::string, int64_t> cells;
    for (const ReportCell& cell : list) {
      cells[cell.phase + "|" + cell.operation + "|" + cell.layer + "|" + cell.gpu] += cell.ns;
    }
    return cells;
  }

  // By tid.
  static std::map<std::string, std::map<std::string, int64_t>> LanesOf(
      const ReportProcess& report) {
    std::map<std::string, std::map<std::string, int64_t>> lanes;
    for (const ReportLane& lane : report.lanes) {
      const std::map<std::string, int64_t> cells = CellsOf(lane.cells);
      if (!cells.empty()) lanes[std::to_string(lane.tid)] = cells;
    }
    return lanes;
  }

  // Non-zero values of a column of all lanes, by tid and operation.
  template <typename Value>
  static std::map<std::string, int64_t> LaneColumnOf(const ReportProcess& report,
                                                     Value ReportOperation::*column) {
    std::map<std::string, int64_t> values;
    for (const ReportLane& lane : report.lanes) {
      for (const ReportOperation& row : lane.operations) {
        if (row.operation == kNoOperation || row.*column == 0) continue;
        values[std::to_string(lane.tid) + "|" + row.operation] = static_cast<int64_t>(row.*column);
      }
    }
    return values;
  }

  // Non-zero values of a column by operation.
  template <typename Value>
  static std::map<std::string, int64_t> ColumnOf(const ReportProcess& report,
                                                 Value ReportOperation::*column,
                                                 bool with_none = true) {
    std::map<std::string, int64_t> values;
    for (const ReportOperation& row : report.operations) {
      if (!with_none && row.operation == kNoOperation) continue;
      if (row.*column != 0) values[row.operation] = static_cast<int64_t>(row.*column);
    }
    return values;
  }

  static std::map<std::string, int64_t> IdleOf(const ReportProcess& report) {
    std::map<std::string, int64_t> idle;
    for (const ReportOperation& row : report.operations) {
      for (const CauseTime& cause : row.device_idle) {
        idle[row.operation + "|" + cause.cause] = cause.ns;
      }
    }
    return idle;
  }

  // The middle one, of two their mean; and the smallest that 95 % do not exceed.
  static std::pair<int64_t, int64_t> QuantilesOf(const std::multiset<int64_t>& values) {
    const std::vector<int64_t> sorted(values.begin(), values.end());
    const size_t n = sorted.size();
    const int64_t median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    return {median, sorted[(95 * n + 99) / 100 - 1]};
  }

  static void ExpectLaunches(const ReportLaunches& found, const NaiveLaunches& naive) {
    ASSERT_EQ(found.count, naive.leads.size());
    EXPECT_EQ(found.shorter_kernels_share.has_value(), naive.kernels > 0);
    EXPECT_EQ(found.lead_mean_ns.has_value(), !naive.leads.empty());
    if (naive.leads.empty()) return;
    const auto sum = [](const std::multiset<int64_t>& values) {
      return std::accumulate(values.begin(), values.end(), int64_t{0});
    };
    const auto count = static_cast<int64_t>(naive.leads.size());
    EXPECT_EQ(*found.lead_mean_ns, sum(naive.leads) / count);
    EXPECT_EQ(std::pair(*found.lead_median_ns, *found.lead_p95_ns), QuantilesOf(naive.leads));
    EXPECT_DOUBLE_EQ(*found.depth_mean,
                     static_cast<double>(sum(naive.depths)) / static_cast<double>(count));
    EXPECT_EQ(std::pair(*found.depth_median, *found.depth_p95), QuantilesOf(naive.depths));
    if (naive.kernels == 0) return;
    EXPECT_DOUBLE_EQ(*found.shorter_kernels_share, static_cast<double>(naive.shorter_kernels) /
                                                       static_cast<double>(naive.kernels));
  }

  static std::map<std::string, std::pair<uint64_t, int64_t>> KernelsOf(
      const ReportProcess& report) {
    std::map<std::string, std::pair<uint64_t, int64_t>> kernels;
    for (const ReportOperationKernel& row : report.operation_kernels) {
      auto& [count, sum_ns] =
          kernels[row.operation + "|" + row.kernel.name + "|" + row.kernel.work_class];
      count += row.kernel.count;
      sum_ns += row.kernel.sum_ns;
    }
    return kernels;
  }

  // By operation: on a CPU, ready, blocked, unknown. Empty where nothing is known.
  using CpuTable = std::map<std::string, std::vector<int64_t>>;
  static CpuTable CpuOf(const std::vector<ReportOperation>& rows) {
    CpuTable table;
    for (const ReportOperation& row : rows) {
      if (!row.cpu) continue;
      table[row.operation] = {row.cpu->on_cpu_ns, row.cpu->ready_ns, row.cpu->blocked_ns,
                              row.cpu->unknown_ns};
    }
    return table;
  }
  // What the report has of each of |rows|, of which none gets more than its time.
  static CpuTable CappedCpu(const std::map<std::string, NaiveCpu>& cpu,
                            const std::vector<ReportOperation>& rows) {
    CpuTable table;
    for (const ReportOperation& row : rows) {
      const auto found = cpu.find(row.operation);
      const NaiveCpu told = found == cpu.end() ? NaiveCpu{} : found->second;
      const int64_t known = std::min(told.told, row.wall_ns);
      const int64_t on_cpu = std::min(told.on_cpu, known);
      const int64_t ready = std::min(told.ready, known - on_cpu);
      table[row.operation] = {on_cpu, ready, known - on_cpu - ready, row.wall_ns - known};
    }
    return cpu.empty() ? CpuTable{} : table;
  }

  // Whether two streams of one device ever run at once, |other_work|: work of different names.
  static bool AnyStreamsOverlap(const ProcessTrace& trace, bool other_work) {
    for (const DeviceWork& a : trace.device_work) {
      for (const DeviceWork& b : trace.device_work) {
        if (a.stream == b.stream || (other_work && a.work == b.work)) continue;
        if (trace.streams[Raw(a.stream)].device != trace.streams[Raw(b.stream)].device) continue;
        if (std::max(a.start_ns, b.start_ns) < std::min(a.end_ns, b.end_ns)) return true;
      }
    }
    return false;
  }

  static void ExpectColumns(const ReportProcess& report, const NaiveBreakdown& naive) {
    EXPECT_EQ(ColumnsOf(report), ColumnsOf(naive));
    EXPECT_EQ(ColumnOf(report, &ReportOperation::gpu_caused_ns), naive.caused);
    EXPECT_EQ(ColumnOf(report, &ReportOperation::gpu_sum_ns), naive.sum);
    EXPECT_EQ(ColumnOf(report, &ReportOperation::inclusive_wall_ns, false), naive.inclusive);
    EXPECT_EQ(ColumnOf(report, &ReportOperation::count, false), naive.count);
    EXPECT_EQ(LaneColumnOf(report, &ReportOperation::inclusive_wall_ns), naive.lane_inclusive);
    EXPECT_EQ(LaneColumnOf(report, &ReportOperation::count), naive.lane_count);
    EXPECT_EQ(TransitionsOf(report), naive.transitions);
    EXPECT_EQ(report.gpu_wait_ns, naive.wait);
  }

  // |trace| as the reader makes it when its records arrive in an order that depends on |seed|.
  static gpubound::Run ArrivedInOrder(ProcessTrace trace, uint64_t seed) {
    std::vector<ApiRecord> calls;
    for (ThreadTrace& thread : trace.threads) {
      for (const ApiCall& call : thread.calls) {
        calls.push_back({static_cast<uint64_t>(call.start_ns), static_cast<uint64_t>(call.end_ns),
                         call.correlation, thread.tid, call.label, call.result});
      }
      thread.calls.clear();
    }
    std::mt19937_64 random(seed);
    std::shuffle(calls.begin(), calls.end(), random);
    std::shuffle(trace.device_work.begin(), trace.device_work.end(), random);
    EventStore store(&trace);
    for (const ApiRecord& call : calls) store.Add(call);
    store.Finish();
    gpubound::Run run;
    run.processes.push_back(std::move(trace));
    return run;
  }

  static std::map<std::string, int64_t> Sum(std::map<std::string, int64_t> a,
                                            const std::map<std::string, int64_t>& b) {
    for (const auto& [key, value] : b) a[key] += value;
    return a;
  }
};

TEST_F(OracleTest, CellsAreThoseOfTheNaiveOracle) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    EXPECT_EQ(CellsOf(Analyze(trace)), BreakDownNaively(trace).cells);
  });
}

TEST_F(OracleTest, ThreadsThatComeAndGoAreThoseOfTheNaiveOracle) {
  OnRandomCrowds([](const ProcessTrace& trace, uint64_t seed) {
    const SplitSource split(trace, 1 + seed / kTracesPerCrowd % 4);
    Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, split, {}, {});
    ASSERT_TRUE(analysis.ok()) << analysis.error().ToString();
    const NaiveBreakdown naive = BreakDownNaively(trace);
    EXPECT_EQ(CellsOf(analysis->report), naive.cells);
    EXPECT_EQ(ColumnOf(analysis->report, &ReportOperation::gpu_caused_ns), naive.caused);
    EXPECT_EQ(LanesOf(analysis->report), naive.lanes);
    EXPECT_EQ(LaneColumnOf(analysis->report, &ReportOperation::count), naive.lane_count);
    EXPECT_EQ(TransitionsOf(analysis->report), naive.transitions);
    EXPECT_EQ(analysis->found[static_cast<size_t>(LedgerCounter::adopted_scopes)], naive.adopted);
  });
}

TEST_F(OracleTest, ColumnsAreThoseOfTheNaiveOracle) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    ExpectColumns(Analyze(trace), BreakDownNaively(trace));
  });
}

TEST_F(OracleTest, IdleCausesAreThoseOfTheNaiveOracle) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    EXPECT_EQ(IdleOf(Analyze(trace)), BreakDownNaively(trace).idle);
  });
}

// Every run of the suite has the same traces but for these.
TEST_F(OracleTest, EveryFigureOfTracesThatNoRunHadIsThatOfTheNaiveOracle) {
  std::random_device source;
  const Seeds seeds(kFreshTraces, source());
  std::printf("fresh %s\n", seeds.InWords().c_str());
  OnTraces(seeds, [](const ProcessTrace& trace, uint64_t) {
    const ReportProcess report = Analyze(trace);
    const NaiveBreakdown naive = BreakDownNaively(trace);
    EXPECT_EQ(CellsOf(report), naive.cells);
    ExpectColumns(report, naive);
    EXPECT_EQ(IdleOf(report), naive.idle);
    EXPECT_EQ(KernelsOf(report), naive.kernels);
    EXPECT_EQ(LanesOf(report), naive.lanes);
    EXPECT_EQ(report.gpu_busy_ns, naive.busy);
  });
}

TEST_F(OracleTest, LanesAreThoseOfTheNaiveOracle) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    EXPECT_EQ(LanesOf(Analyze(trace)), BreakDownNaively(trace).lanes);
  });
}

// As the sweep has them; a row has no more of them than time.
TEST_F(OracleTest, CpuTimesOfRowsAreThoseOfTheNaiveOracle) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    const ReportProcess report = Analyze(trace);
    const NaiveBreakdown naive = BreakDownNaively(trace);
    EXPECT_EQ(CpuOf(report.operations), CappedCpu(naive.cpu, report.operations));
    for (const ReportLane& lane : report.lanes) {
      const auto cpu = naive.lane_cpu.find(std::to_string(lane.tid));
      EXPECT_EQ(CpuOf(lane.operations),
                cpu == naive.lane_cpu.end() ? CpuTable{} : CappedCpu(cpu->second, lane.operations));
    }
  });
}

// Start-up and the rest together.
TEST_F(OracleTest, LooksAtStacksCountInTheOperationAtTheirInstant) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    const ReportProcess report = Analyze(trace);
    const NaiveBreakdown naive = BreakDownNaively(trace);
    std::map<std::string, int64_t> stacks;
    std::map<std::string, int64_t> runnable;
    for (const ReportStacks& of : report.stacks) {
      runnable[of.operation] += std::llround(of.runnable_share * static_cast<double>(of.looks));
      std::vector<std::string> paths = {""};
      for (const ReportFrame& frame : of.frames) {
        paths.push_back(paths[frame.caller] + ">" + frame.function);
        if (frame.own_looks == 0) continue;
        stacks[of.operation + "|" + paths.back()] += static_cast<int64_t>(frame.own_looks);
      }
    }
    EXPECT_EQ(stacks, naive.stacks);
    EXPECT_EQ(runnable, naive.runnable);
  });
}

TEST_F(OracleTest, CpuTimesOfARowSumToItsTime) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    for (const ReportOperation& row : Analyze(trace).operations) {
      if (!row.cpu) continue;
      EXPECT_EQ(row.cpu->on_cpu_ns + row.cpu->ready_ns + row.cpu->blocked_ns + row.cpu->unknown_ns,
                row.wall_ns);
    }
  });
}

TEST_F(OracleTest, IdleCausesSumToTheIdleTimeOfEveryDevice) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    for (const ReportDeviceShare& share : Analyze(trace).device_shares) {
      int64_t causes_ns = 0;
      for (const CauseTime& cause : share.idle_causes) causes_ns += cause.ns;
      EXPECT_EQ(causes_ns, share.idle_ns);
      EXPECT_EQ(share.busy_ns + share.idle_ns + share.unknown_ns, share.wall_ns);
    }
  });
}

TEST_F(OracleTest, PartsOfAnIteratingProcessSumToTheSpan) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    const ReportProcess report = Analyze(trace);
    if (!report.iterations) return;
    const ReportIterations& parts = *report.iterations;
    EXPECT_EQ(parts.start_up_ns + parts.warm_up_ns + parts.total_ns + parts.shutdown_ns,
              report.span_ns);
    int64_t operations_ns = 0;
    for (const ReportIterationOperation& row : parts.operations) operations_ns += row.wall_ns;
    EXPECT_EQ(operations_ns, parts.total_ns);
  });
}

TEST_F(OracleTest, CellsSumToTheSpan) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    int64_t sum = 0;
    for (const auto& [name, ns] : CellsOf(Analyze(trace))) sum += ns;
    EXPECT_EQ(sum, trace.span_end_ns - trace.span_begin_ns);
  });
}

TEST_F(OracleTest, BusyIsAnIndependentUnion) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    EXPECT_EQ(Analyze(trace).gpu_busy_ns, BreakDownNaively(trace).busy);
  });
}

TEST_F(OracleTest, KernelsOfAllOperationsAreAllDeviceWork) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    const ReportProcess report = Analyze(trace);
    uint64_t count = 0;
    int64_t sum_ns = 0;
    for (const ReportOperationKernel& row : report.operation_kernels) {
      count += row.kernel.count;
      sum_ns += row.kernel.sum_ns;
      EXPECT_LE(row.kernel.sm_filled_ns, row.kernel.sum_ns);
    }
    EXPECT_EQ(count, trace.device_work.size());
    EXPECT_EQ(sum_ns, report.gpu_sum_ns);
  });
}

TEST_F(OracleTest, LaunchesAreThoseOfTheNaiveOracle) {
  uint64_t deep = 0;
  OnRandomTraces([&deep](const ProcessTrace& trace, uint64_t) {
    const NaiveBreakdown naive = BreakDownNaively(trace);
    NaiveLaunches all;
    for (const auto& [operation, launches] : naive.launches) {
      all.leads.insert(launches.leads.begin(), launches.leads.end());
      all.depths.insert(launches.depths.begin(), launches.depths.end());
      all.kernels += launches.kernels;
      all.shorter_kernels += launches.shorter_kernels;
      deep += !launches.depths.empty() && *launches.depths.rbegin() > 1;
    }
    const ReportProcess report = Analyze(trace);
    ExpectLaunches(report.launches, all);
    uint64_t rows = 0;
    for (const ReportOperation& row : report.operations) {
      SCOPED_TRACE(row.operation);
      const auto found = naive.launches.find(row.operation);
      ExpectLaunches(row.launches, found == naive.launches.end() ? NaiveLaunches() : found->second);
      rows += row.launches.count > 0;
    }
    EXPECT_EQ(rows, naive.launches.size());
  });
  if (Seeds(kTraces).is_one()) return;
  EXPECT_GT(deep, 0u) << "launches that wait behind others";
}

TEST_F(OracleTest, KernelsAreThoseOfTheNaiveOracle) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    EXPECT_EQ(KernelsOf(Analyze(trace)), BreakDownNaively(trace).kernels);
  });
}

// What the tests above are worth: about half of all traces have streams that run at once on one
// device.
TEST_F(OracleTest, StreamsOfADeviceRunAtOnce) {
  uint64_t traces = 0;
  uint64_t overlapping = 0;
  uint64_t of_several_classes = 0;
  OnRandomTraces([&](const ProcessTrace& trace, uint64_t) {
    ++traces;
    overlapping += AnyStreamsOverlap(trace, false) ? 1 : 0;
    of_several_classes += AnyStreamsOverlap(trace, true) ? 1 : 0;
  });
  if (traces < 100) return;  // chosen by somebody who looks at one
  EXPECT_GE(3 * overlapping, traces);
  EXPECT_GE(3 * of_several_classes, traces);
}

TEST_F(OracleTest, NoOperationCausesMoreThanItsKernelsTake) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    const ReportProcess report = Analyze(trace);
    std::map<std::string, int64_t> taken;
    for (const ReportOperationKernel& row : report.operation_kernels) {
      taken[row.operation] += row.kernel.sum_ns;
    }
    for (const auto& [operation, ns] : ColumnOf(report, &ReportOperation::gpu_caused_ns)) {
      EXPECT_LE(ns, taken[operation]) << operation;
    }
  });
}

TEST_F(OracleTest, CuttingAnywhereAndAddingChangesNothing) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t seed) {
    const int64_t length = trace.span_end_ns - trace.span_begin_ns;
    ProcessTrace left = trace;
    ProcessTrace right = trace;
    left.span_end_ns = right.span_begin_ns =
        trace.span_begin_ns + static_cast<int64_t>(seed) % (length + 1);
    const ReportProcess whole = Analyze(trace);
    const ReportProcess a = Analyze(left);
    const ReportProcess b = Analyze(right);
    EXPECT_EQ(Sum(CellsOf(a), CellsOf(b)), CellsOf(whole));
    EXPECT_EQ(a.gpu_busy_ns + b.gpu_busy_ns, whole.gpu_busy_ns);
    EXPECT_EQ(a.gpu_sum_ns + b.gpu_sum_ns, whole.gpu_sum_ns);
    for (const auto column : {&ReportOperation::gpu_caused_ns, &ReportOperation::gpu_sum_ns,
                              &ReportOperation::gpu_copy_ns}) {
      EXPECT_EQ(Sum(ColumnOf(a, column), ColumnOf(b, column)), ColumnOf(whole, column));
    }
  });
}

TEST_F(OracleTest, OrderOfArrivalChangesNothing) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t seed) {
    EXPECT_EQ(RenderJson(*BuildReport(ArrivedInOrder(trace, seed))),
              RenderJson(*BuildReport(ArrivedInOrder(trace, ~seed))));
  });
}

TEST_F(OracleTest, SizeOfBatchesChangesNothing) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t seed) {
    const SplitSource split(trace, 1 + seed % 4);
    Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, split, {}, {});
    ASSERT_TRUE(analysis.ok()) << analysis.error().ToString();
    Report whole;
    whole.processes.push_back(Analyze(trace));
    Report pieces;
    pieces.processes.push_back(std::move(analysis->report));
    EXPECT_EQ(RenderJson(pieces), RenderJson(whole));
  });
}

TEST_F(OracleTest, MergingATraceWithItselfChangesBusyByNothing) {
  OnRandomTraces([](const ProcessTrace& trace, uint64_t) {
    ProcessTrace twice = trace;
    for (ThreadTrace thread : trace.threads) {
      thread.tid += 1000;
      thread.ordinal = static_cast<ThreadId>(Raw(thread.ordinal) + 1000);
      twice.threads.push_back(std::move(thread));
    }
    twice.device_work.clear();
    for (const DeviceWork& work : trace.device_work) {
      twice.device_work.push_back(work);
      twice.device_work.push_back(work);
    }
    const ReportProcess once = Analyze(trace);
    const ReportProcess merged = Analyze(twice);
    EXPECT_EQ(merged.gpu_busy_ns, once.gpu_busy_ns);
    EXPECT_EQ(merged.gpu_sum_ns, 2 * once.gpu_sum_ns);
  });
}

}  // namespace
}  // namespace gpubound::oracle
