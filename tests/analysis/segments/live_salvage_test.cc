// SPDX-License-Identifier: Apache-2.0
//
// What the reader recovers from the live mapping of a killed process.
#include "analysis/segments/live_salvage.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;

class LiveSalvageTest : public testing::Test {
 protected:
  LiveSalvageTest() : live_(identity_) {
    live_.AddThread(1, 100, "main");
    live_.AddLabel(kTrain, LabelKind::kOperation, "train");
  }

  // The database of a process that was killed: one scope event is stored.
  void StoreOneBegin() {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    writer.Scopes({.thread = 1}, {Begin(kTrain, 100)});
  }

  static std::string FreeFirstPage(std::string bytes) {
    LiveHeader header;
    std::memcpy(&header, bytes.data(), sizeof(header));
    std::memset(bytes.data() + header.pages_offset, 0, kLivePageSize);
    return bytes;
  }
  void WriteLive() { run_.Write(LiveWriter::NameFor(identity_), live_.Bytes()); }

  ProcessTrace Load() {
    Result<gpubound::Run> loaded = LoadRun(run_.path());
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().ToString());
    return loaded.ok() && !loaded->processes.empty() ? std::move(loaded->processes[0])
                                                     : ProcessTrace{};
  }

  TemporaryRun run_;
  WriterIdentity identity_;
  LiveWriter live_;
};

TEST_F(LiveSalvageTest, AddsOnlyWhatTheDatabaseDoesNotHold) {
  StoreOneBegin();
  live_.AddScopes(1, 0, {Begin(kTrain, 100), End(kTrain, 200), Begin(kTrain, 300)});
  WriteLive();
  const ProcessTrace process = Load();
  ASSERT_EQ(process.threads[0].events.size(), 3u);
  EXPECT_EQ(process.threads[0].events[1].time_ns, 200);
  EXPECT_EQ(process.Counted(LedgerCounter::events_salvaged), 2u);
  EXPECT_EQ(process.Counted(LedgerCounter::process_not_closed), 1u);
  EXPECT_EQ(process.Counted(LedgerCounter::live_mapping_unavailable), 0u);
  EXPECT_TRUE(process.threads[0].resets.empty());
}

TEST_F(LiveSalvageTest, ReadsAProcessThatHasNoDatabase) {
  live_.AddScopes(1, 0, {Begin(kTrain, 100), End(kTrain, 200)});
  live_.Count(LedgerCounter::backpressure_waits, 4);
  WriteLive();
  const ProcessTrace process = Load();
  ASSERT_EQ(process.threads.size(), 1u);
  EXPECT_EQ(process.threads[0].name, "main");
  EXPECT_EQ(process.threads[0].events.size(), 2u);
  EXPECT_EQ(process.LabelOf(kTrain).text, "train");
  EXPECT_EQ(process.Counted(LedgerCounter::backpressure_waits), 4u);
}

TEST_F(LiveSalvageTest, SalvagesBesideAnEmptyDatabase) {
  live_.AddScopes(1, 0, {Begin(kTrain, 100)});
  WriteLive();
  run_.Write("host.100.5.0.db", "");
  EXPECT_EQ(Load().threads[0].events.size(), 1u);
}

TEST_F(LiveSalvageTest, TakesPagesInTheOrderOfTheirSequence) {
  live_.AddScopes(1, 2, {Begin(kTrain, 300), End(kTrain, 400)}, 0);
  live_.AddScopes(1, 0, {Begin(kTrain, 100), End(kTrain, 200)}, 0);
  WriteLive();
  const ProcessTrace process = Load();
  ASSERT_EQ(process.threads[0].events.size(), 4u);
  EXPECT_EQ(process.threads[0].events[3].time_ns, 400);
  EXPECT_TRUE(process.threads[0].resets.empty());
}

// A page is passed while it is free, then filled, and the next one is read.
TEST_F(LiveSalvageTest, PagesThatAProcessTakesWhileTheyAreReadAreNotMissed) {
  LiveWriter torn(identity_);
  torn.AddScopes(1, 0, {});
  torn.AddScopes(1, 2, {Begin(kTrain, 300)});
  live_.AddScopes(1, 0, {Begin(kTrain, 100), End(kTrain, 200)});
  live_.AddScopes(1, 2, {Begin(kTrain, 300)});
  live_.AddScopes(1, 3, {End(kTrain, 400)});
  const std::string path = run_.Write(LiveWriter::NameFor(identity_), FreeFirstPage(torn.Bytes()));
  const Result<LiveFile> live = LiveFile::Open(path, [this] { WriteLive(); });
  ASSERT_TRUE(live.ok());
  ProcessTrace process;
  live->MergeRows(&process, /*closed=*/false);
  EventStore store(&process);
  const Salvaged salvaged = live->AddEvents(process, {}, &store);
  EXPECT_EQ(salvaged.missing, 0u);
  EXPECT_EQ(salvaged.events, 4u);
}

TEST_F(LiveSalvageTest, AddsLooksAtStacksWhoseFramesAreStored) {
  {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.PutFrames();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    writer.Stacks({}, {Looks(100, 300, 2, 4)});
  }
  live_.AddStacks(0, {Looks(100, 300, 2, 4), Looks(400, 500, 3, 6), Looks(600, 550, 4, 1, 300)});
  WriteLive();
  const ProcessTrace process = Load();
  EXPECT_EQ(process.Counted(LedgerCounter::events_salvaged), 2u);
  ASSERT_EQ(process.stack_looks.size(), 3u);
  EXPECT_EQ(process.stack_looks[1].start_ns, 400);
  EXPECT_EQ(process.stack_looks[1].end_ns, 500);
  EXPECT_EQ(process.stack_looks[1].frame, FrameId{3});
  EXPECT_EQ(process.stack_looks[1].looks, 6u);
  EXPECT_EQ(process.stack_looks[2].tid, 300u);
  EXPECT_EQ(process.stack_looks[2].end_ns, 600);
  EXPECT_EQ(process.stack_looks[2].frame, FrameId{});  // its row was not written any more
}

TEST_F(LiveSalvageTest, KeepsPayloadsTogetherWithTheirHeads) {
  const Slot step = MakeSlot(SlotKind::kStep, LabelId{}, 150);
  live_.AddScopes(1, 0, {Begin(kTrain, 100), step, 42, End(kTrain, 200)});
  WriteLive();
  const ProcessTrace process = Load();
  ASSERT_EQ(process.threads[0].events.size(), 3u);
  EXPECT_EQ(process.threads[0].events[1].payload, 42u);
  EXPECT_EQ(process.Counted(LedgerCounter::events_salvaged), 3u);
}

TEST_F(LiveSalvageTest, CountsFromThePagesBase) {
  live_.AddScopes(1, 0, {Begin(kTrain, 7)}, /*base_ticks=*/5000);
  WriteLive();
  EXPECT_EQ(Load().threads[0].events[0].time_ns, 5007);
}

TEST_F(LiveSalvageTest, ConvertsDeviceTimes) {
  live_.AddWork(9, 0, {Kernel(101, 201, 1)});  // the device's clock is one ahead
  WriteLive();
  const ProcessTrace process = Load();
  ASSERT_EQ(process.device_work.size(), 1u);
  EXPECT_EQ(process.device_work[0].start_ns, 100);
  EXPECT_EQ(process.device_work[0].end_ns, 200);
}

// Whoever is killed in the tenths of a second in which a stream's row is not written yet.
class StrayWorkTest : public LiveSalvageTest {
 protected:
  ProcessTrace LoadWith(const std::vector<std::string>& rows) {
    SegmentWriter writer(run_, identity_);
    writer.PutUsualRows();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    for (const std::string& row : rows) writer.Sql(row);
    DeviceRecord known = Kernel(301, 401, 4);
    known.stream = StreamId{1};
    std::vector<DeviceRecord> records = {Kernel(101, 201, 1), Kernel(151, 251, 2),
                                         Kernel(151, 251, 3), known};
    records[0].stream = records[2].stream = StreamId{4'000'000'000};
    records[1].stream = StreamId{2};
    live_.AddWork(9, 0, records);
    WriteLive();
    return Load();
  }
  static constexpr char kOtherDevice[] =
      "INSERT INTO device VALUES(2, 1, 'GPU-2', 'Model', 4, 64, 2, 65536, 65536, 32, 9, 0, 0, 0)";
};

TEST_F(StrayWorkTest, RunsOnTheOneDeviceThatThereIs) {
  const ProcessTrace process = LoadWith({});
  ASSERT_EQ(process.device_work.size(), 4u);
  for (const DeviceWork& work : process.device_work) {
    EXPECT_EQ(process.StreamOf(work.stream).device, DeviceId{1});
  }
  const auto stream_of = [&process](uint32_t correlation) {
    const auto of = [correlation](const DeviceWork& w) { return w.correlation == correlation; };
    return std::ranges::find_if(process.device_work, of)->stream;
  };
  EXPECT_EQ(stream_of(1), stream_of(3));
  EXPECT_NE(stream_of(1), stream_of(2));
  EXPECT_EQ(stream_of(4), StreamId{1});
  EXPECT_EQ(process.Counted(LedgerCounter::chunk_events_lost), 0u);
}

TEST_F(StrayWorkTest, RunsOnTheOneDeviceThatHasAContext) {
  const ProcessTrace process =
      LoadWith({kOtherDevice, "INSERT INTO context VALUES(1, 7, 0, 0, 0)"});
  ASSERT_EQ(process.device_work.size(), 4u);
  EXPECT_EQ(process.StreamOf(process.device_work[0].stream).device, DeviceId{2});
}

TEST_F(StrayWorkTest, OfSeveralDevicesIsUnknownTime) {
  const ProcessTrace process = LoadWith({kOtherDevice});
  ASSERT_EQ(process.device_work.size(), 1u);
  EXPECT_EQ(process.device_work[0].correlation, 4u);
  const auto is_stray = [](const UnknownInterval& unknown) {
    return unknown.start_ns == 100 && unknown.end_ns == 250;
  };
  EXPECT_EQ(std::ranges::count_if(process.unknown, is_stray), 1);
  EXPECT_EQ(process.Counted(LedgerCounter::chunk_events_lost), 3u);
}

TEST_F(LiveSalvageTest, ResynchronisesWhenPagesAreMissing) {
  StoreOneBegin();
  live_.AddScopes(1, 5, {End(kTrain, 400)});
  WriteLive();
  EXPECT_EQ(Load().threads[0].resets.size(), 1u);
}

TEST_F(LiveSalvageTest, SurvivesAMappingCutAnywhere) {
  StoreOneBegin();
  live_.AddScopes(1, 0, {Begin(kTrain, 100), End(kTrain, 200)});
  const std::string bytes = live_.Bytes();
  for (const size_t size : {size_t{0}, size_t{7}, sizeof(LiveHeader) - 1, sizeof(LiveHeader),
                            sizeof(LiveHeader) + 100, bytes.size() - kLivePageSize + 100,
                            bytes.size() - kLivePageSize + kLivePageHeaderBytes + 8}) {
    run_.Write(LiveWriter::NameFor(identity_), bytes.substr(0, size));
    const ProcessTrace process = Load();
    EXPECT_GE(process.threads[0].events.size(), 1u) << size;
    EXPECT_EQ(process.Counted(LedgerCounter::live_mapping_unavailable), 1u) << size;
  }
}

TEST_F(LiveSalvageTest, TrustsNoNumberOfTheMapping) {
  StoreOneBegin();
  live_.AddScopes(1, 0, {Begin(kTrain, 100)});
  live_.header().clock_sample_count = 0xffffffff;
  std::string bytes = live_.Bytes();
  auto* header = reinterpret_cast<LiveHeader*>(bytes.data());
  header->page_count = 0xffffffff;
  header->labels_offset = 0xfffffff0;
  header->threads_offset = 0xfffffff0;
  run_.Write(LiveWriter::NameFor(identity_), bytes);
  EXPECT_GE(Load().threads[0].events.size(), 1u);
}

}  // namespace
}  // namespace gpubound
