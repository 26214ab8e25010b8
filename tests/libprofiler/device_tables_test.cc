// SPDX-License-Identifier: Apache-2.0
//
// Device rows: what is one row and what is two.
#include "libprofiler/device_tables.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

class DeviceTablesTest : public testing::Test {
 protected:
  DeviceTableRows NewRows() {
    DeviceTableRows rows;
    tables_.CopyRowsSince(&positions_, &rows);
    return rows;
  }
  uint64_t counters_[kLiveMaxLedger] = {};
  Ledger ledger_{counters_};
  DeviceTables tables_{&ledger_};
  DeviceTablePositions positions_;
};

TEST_F(DeviceTablesTest, WorkIsOneRowPerNameAndGeometry) {
  WorkInfo small{.kind = WorkKind::kKernel, .grid = {1, 1, 1}};
  WorkInfo large{.kind = WorkKind::kKernel, .grid = {512, 1, 1}};
  const WorkId id = tables_.InternWork(small, "gemm");
  EXPECT_EQ(tables_.InternWork(small, "gemm"), id);
  EXPECT_NE(tables_.InternWork(large, "gemm"), id);
  EXPECT_NE(tables_.InternWork(small, "relu"), id);
  EXPECT_EQ(NewRows().works.size(), 3u);
}

TEST_F(DeviceTablesTest, StreamsAreOneRowPerDeviceContextAndStream) {
  const StreamId id = tables_.InternStream(DeviceId{1}, 1, 7);
  EXPECT_EQ(tables_.InternStream(DeviceId{1}, 1, 7), id);
  EXPECT_NE(tables_.InternStream(DeviceId{1}, 2, 7), id);
  EXPECT_NE(tables_.InternStream(DeviceId{2}, 1, 7), id);
}

TEST_F(DeviceTablesTest, StreamsAreBoundedAndTheRestIsOnePerContext) {
  const StreamId first = tables_.InternStream(DeviceId{1}, 1, 0);
  for (uint32_t i = 1; i < 100'000; ++i) tables_.InternStream(DeviceId{1}, 1, i);
  EXPECT_EQ(ledger_.Get(LedgerCounter::labels_overflowed), 0u);
  const StreamId rest = tables_.InternStream(DeviceId{1}, 1, 100'000);
  EXPECT_EQ(tables_.InternStream(DeviceId{1}, 1, 100'001), rest);
  EXPECT_NE(tables_.InternStream(DeviceId{1}, 2, 100'001), rest);
  EXPECT_EQ(ledger_.Get(LedgerCounter::labels_overflowed), 3u);
  EXPECT_EQ(tables_.InternStream(DeviceId{1}, 1, 0), first);
  EXPECT_EQ(NewRows().streams.size(), 100'002u);
}

TEST_F(DeviceTablesTest, ADeviceIsUsedFromItsFirstStreamOn) {
  DeviceInfo info;
  info.index = 3;
  const DeviceId device = tables_.DefineDevice(info, "gpu");
  EXPECT_EQ(tables_.DevicesUsed(), 0u);
  tables_.InternStream(device, 1, 7);
  EXPECT_EQ(tables_.DevicesUsed(), 8u);
}

TEST_F(DeviceTablesTest, SamplesOfCountersAreBoundedAndTheRestIsCounted) {
  for (int i = 0; i < 10'005; ++i) tables_.AddSample(CounterSample());
  EXPECT_EQ(NewRows().counters.size(), 10'000u);
  EXPECT_EQ(ledger_.Get(LedgerCounter::counter_samples_lost), 5u);
}

TEST_F(DeviceTablesTest, ADeviceDefinedAgainKeepsItsIdAndIsWrittenAgain) {
  const DeviceId id = tables_.DefineDevice({.index = 3}, "");
  NewRows();
  EXPECT_EQ(tables_.DefineDevice({.index = 3, .multiprocessors = 132}, "H100"), id);
  const DeviceTableRows rows = NewRows();
  ASSERT_EQ(rows.devices.size(), 1u);
  EXPECT_EQ(rows.devices[0].name, "H100");
  EXPECT_EQ(rows.devices[0].info.multiprocessors, 132u);
}

TEST_F(DeviceTablesTest, AnUnknownIntervalIsEndedByALaterCallWithTheSameStart) {
  tables_.MarkUnknown(100, INT64_MAX, "paused");
  tables_.MarkUnknown(100, 200, "paused");
  tables_.MarkUnknown(300, INT64_MAX, "paused");
  const DeviceTableRows rows = NewRows();
  EXPECT_EQ(rows.unknowns.back().from_ns, 300);
  EXPECT_EQ(rows.unknowns.back().id, 2);
  EXPECT_EQ(rows.unknowns.front().to_ns, 200);
}

TEST_F(DeviceTablesTest, AnUnknownIntervalIsNotEndedByOneOfAnotherReason) {
  tables_.MarkUnknown(100, INT64_MAX, "copies are not recorded");
  tables_.MarkUnknown(100, INT64_MAX, "records were lost");
  tables_.MarkUnknown(100, 200, "records were lost");
  const DeviceTableRows rows = NewRows();
  EXPECT_EQ(rows.unknowns.front().to_ns, INT64_MAX);
  EXPECT_EQ(rows.unknowns.back().id, 2);
  EXPECT_EQ(rows.unknowns.back().to_ns, 200);
}

TEST_F(DeviceTablesTest, AnySimulatedDeviceMakesTheRunSimulated) {
  EXPECT_EQ(tables_.device_kind(), DeviceTables::Kind::kNone);
  tables_.DefineDevice({.index = 0}, "H100");
  EXPECT_EQ(tables_.device_kind(), DeviceTables::Kind::kReal);
  tables_.DefineDevice({.index = 1, .simulated = true}, "stand-in");
  EXPECT_EQ(tables_.device_kind(), DeviceTables::Kind::kSimulated);
}

TEST_F(DeviceTablesTest, NodesOfGraphsAreBoundedAndTheRestIsCounted) {
  for (uint64_t i = 0; i < 200'001; ++i) tables_.DefineGraphNode({.node = i}, "k");
  EXPECT_EQ(NewRows().graph_nodes.size(), 200'000u);
  EXPECT_EQ(ledger_.Get(LedgerCounter::graph_nodes_not_kept), 1u);
}

TEST_F(DeviceTablesTest, SamplesThatNobodyTakesAreBoundedAndTheRestIsCounted) {
  for (int64_t i = 0; i < 10'001; ++i) tables_.AddSample(UtilizationSample{.time_ns = i}, "GPU-1");
  for (int64_t i = 0; i < 10'002; ++i) tables_.AddSample(ProcessTreeSample{.time_ns = i});
  const DeviceTableRows rows = NewRows();
  EXPECT_EQ(rows.utilization.size(), 10'000u);
  EXPECT_EQ(rows.process_trees.size(), 10'000u);
  EXPECT_EQ(ledger_.Get(LedgerCounter::samples_dropped), 3u);
}

TEST_F(DeviceTablesTest, AFactIsARowThatEverySegmentGets) {
  tables_.AddFact("cupti_version", "130001");
  ASSERT_EQ(NewRows().facts.size(), 1u);
  EXPECT_TRUE(NewRows().empty());
  positions_ = {};
  const DeviceTableRows rows = NewRows();
  ASSERT_EQ(rows.facts.size(), 1u);
  EXPECT_EQ(rows.facts[0].key, "cupti_version");
  EXPECT_EQ(rows.facts[0].value, "130001");
}

TEST_F(DeviceTablesTest, NotesAreBounded) {
  for (int i = 0; i < 5000; ++i) tables_.AddNote(i, "again");
  EXPECT_EQ(NewRows().notes.size(), 1000u);
}

}  // namespace
}  // namespace gpubound
