// SPDX-License-Identifier: Apache-2.0
//
// What is filled of devices, on random traces stretched to minutes, beyond what 64 bits hold.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "analysis/timeline/gpu_segments.h"
#include "analysis/timeline/gpu_work.h"
#include "analysis/trace/memory_source.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/thinned_trace.h"

namespace gpubound::oracle {
namespace {

constexpr int64_t kStretch = 1'234'567'890;

// Works fill a device in part, in two traces of three.
ProcessTrace Long(ProcessTrace trace, uint64_t seed) {
  std::mt19937_64 random(seed);
  Stretch(&trace, kStretch);
  if (seed % 3 != 0) {
    for (uint32_t device = 1; device <= 2; ++device) {
      DeviceInfo& info = trace.devices[device].info;
      info.multiprocessors = 7;
      info.max_warps_per_multiprocessor = 48;
      info.max_blocks_per_multiprocessor = 16;
      info.max_registers_per_multiprocessor = 65536;
      info.max_shared_bytes_per_multiprocessor = 100'000;
    }
    for (Work& work : trace.works) {
      work.info.grid[0] = 1 + static_cast<uint32_t>(random() % 100);
      work.info.grid[1] = work.info.grid[2] = 1;
      work.info.block[0] = 64;
      work.info.block[1] = work.info.block[2] = 1;
      work.info.registers_per_thread = 32;
    }
  }
  return trace;
}

FilledTime Naive(const ProcessTrace& trace) {
  const Interval span{trace.span_begin_ns, trace.span_end_ns};
  std::set<int64_t> bounds = {span.begin_ns, span.end_ns};
  std::vector<GpuItem> items;
  WorkClassifier classifier(trace);
  for (const DeviceWork& work : trace.device_work) {
    items.push_back(classifier.Classify(work));
    bounds.insert(std::clamp(work.start_ns, span.begin_ns, span.end_ns));
    bounds.insert(std::clamp(work.end_ns, span.begin_ns, span.end_ns));
  }
  FilledTime filled = 0;
  for (auto at = bounds.begin(); std::next(at) != bounds.end(); ++at) {
    uint64_t sum = 0;
    uint64_t busy = 0;
    for (uint32_t device = 0; device <= 2; ++device) {
      uint64_t fill = 0;
      bool any = false;
      for (const GpuItem& item : items) {
        if (item.device != device || item.begin_ns > *at || item.end_ns <= *at) continue;
        any = true;
        fill += item.fill;
      }
      if (!any) continue;
      ++busy;
      sum += std::min<uint64_t>(fill, kFillOne);
    }
    if (busy != 0) filled += FilledTime{sum / busy} * static_cast<uint64_t>(*std::next(at) - *at);
  }
  return filled;
}

void ExpectFilled(const std::vector<ReportOperation>& rows, FilledTime filled) {
  int64_t sum = 0;
  for (const ReportOperation& row : rows) sum += row.sm_filled_ns;
  const auto expected = static_cast<int64_t>(filled / kFillOne);
  EXPECT_LE(sum, expected);
  EXPECT_GE(sum, expected - static_cast<int64_t>(rows.size()));
}

// Also when the trace is summed, twice.
void Check(const ProcessTrace& whole, uint64_t seed) {
  const FilledTime filled = Naive(whole);
  std::mt19937_64 random(seed);
  ProcessTrace trace = whole;
  std::optional<ProcessSums> sums;
  for (uint64_t stop = 0; stop < 3; ++stop) {
    ProcessContext context;
    context.before = sums ? &*sums : nullptr;
    Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, MemorySource(trace), {}, context);
    ASSERT_TRUE(analysis.ok());
    ExpectFilled(analysis->report.operations, filled);
    for (const ReportLane& lane : analysis->report.lanes) {
      SCOPED_TRACE("lane");
      ExpectFilled(lane.operations, filled);
    }
    const int64_t from = sums ? sums->until_ns : whole.span_begin_ns;
    const int64_t until =
        from + static_cast<int64_t>(random() % 40) * kStretch + static_cast<int64_t>(random() % 3);
    Result<SummedProcess> summed = SumProcess(trace, MemorySource(trace), {}, context, until);
    ASSERT_TRUE(summed.ok());
    StateArchive out;
    summed->sums.Visit(out);
    const std::string bytes = out.Take();
    StateArchive in(bytes);
    ProcessSums read;
    read.Visit(in);
    ASSERT_TRUE(in.done());
    sums = std::move(read);
    trace = WithoutDetail(std::move(trace), until);
  }
}

TEST(FilledOracleTest, WhatIsFilledOfDevicesIsThatCountedNaively) {
  for (const uint64_t seed : Seeds(1'500)) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    Check(Long(MakeRandomTrace(seed), seed), seed);
  }
}

TEST(FilledOracleTest, SoItIsInLanesThatComeAndGo) {
  for (const uint64_t seed : Seeds(150)) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    Check(Long(MakeRandomCrowd(seed), seed), seed);
  }
}

}  // namespace
}  // namespace gpubound::oracle
