// SPDX-License-Identifier: Apache-2.0
//
// Operations that one thread hands over to another (SPEC section 2), on random traces against the
// naive oracle.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "tests/oracle/columns.h"
#include "tests/oracle/naive_oracle.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/shrink_run.h"
#include "tests/oracle/split_source.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kTraces = 3'000;

using Figures = std::map<std::string, int64_t>;

ProcessTrace MakeTrace(uint64_t seed) {
  TraceKind kind;
  kind.hands_over = true;
  return MakeRandomTrace(seed, kind);
}

class HandOverOracleTest : public testing::Test {
 protected:
  // The same figures of the engine and of the oracle, given the events in small batches or not.
  static void Compare(const ProcessTrace& trace, uint64_t seed) {
    const SplitSource split(trace, 1 + seed % 4);
    const Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, split, {}, {});
    ASSERT_TRUE(analysis.ok()) << analysis.error().ToString();
    const ReportProcess& report = analysis->report;
    const NaiveBreakdown naive = BreakDownNaively(trace);
    EXPECT_EQ(CellsOf(report.cells), naive.cells);
    std::map<std::string, Figures> lanes;
    for (const ReportLane& lane : report.lanes) {
      if (!lane.cells.empty()) lanes[std::to_string(lane.tid)] = CellsOf(lane.cells);
    }
    EXPECT_EQ(lanes, naive.lanes);
    Figures caused;
    Figures count;
    for (const ReportOperation& row : report.operations) {
      if (row.gpu_caused_ns != 0) caused[row.operation] = row.gpu_caused_ns;
      if (row.count != 0) count[row.operation] = static_cast<int64_t>(row.count);
    }
    EXPECT_EQ(caused, naive.caused);
    EXPECT_EQ(count, naive.count);
    EXPECT_EQ(TransitionsOf(report), naive.transitions);
    EXPECT_EQ(analysis->found[static_cast<size_t>(LedgerCounter::adopted_scopes)], naive.adopted);
  }

 private:
  static Figures CellsOf(const std::vector<ReportCell>& cells) {
    Figures figures;
    for (const ReportCell& cell : cells) {
      figures[cell.phase + "|" + cell.operation + "|" + cell.layer + "|" + cell.gpu] += cell.ns;
    }
    return figures;
  }
};

TEST_F(HandOverOracleTest, EveryFigureIsThatOfTheNaiveOracle) {
  const Seeds seeds(kTraces);
  for (const uint64_t seed : seeds) {
    SCOPED_TRACE(ToReproduce(seed));
    const ProcessTrace trace = MakeTrace(seed);
    Compare(trace, seed);
    if (!HasFailure()) continue;
    gpubound::Run run;
    run.processes.push_back(trace);
    FAIL() << InWords(run);
  }
}

}  // namespace
}  // namespace gpubound::oracle
