// SPDX-License-Identifier: Apache-2.0
//
// A run that is streamed from its chunks says what the same run says when it is loaded whole.
#include "analysis/segments/chunk_source.h"
#include "analysis/attribution/build_report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/correction/run_report.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report.h"
#include "analysis/report/report_json.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;

class ChunkSourceTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  static std::string Json(const Result<Run>& run) {
    EXPECT_TRUE(run.ok());
    return run.ok() ? RenderJson(*BuildReport(*run)) : "";
  }
  std::string Streamed() const {
    const Result<Run> run = OpenRun(run_.path());
    EXPECT_TRUE(run.ok() && run->processes.front().source != nullptr) << "was not streamed";
    return Json(run);
  }
  std::string Loaded() const { return Json(LoadRun(run_.path())); }
  std::string Reported() const { return RenderJson(*ReportOfRun(run_.path())); }

  TemporaryRun run_;
  SegmentWriter writer_{run_, WriterIdentity{}};
};

// Records in the order of |order|, |per_chunk| to a chunk.
template <typename Record, typename Put>
void InChunks(const std::vector<Record>& records, size_t per_chunk, Put put) {
  for (size_t at = 0; at < records.size(); at += per_chunk) {
    const size_t end = std::min(records.size(), at + per_chunk);
    put(at, std::vector<Record>(records.begin() + static_cast<std::ptrdiff_t>(at),
                                records.begin() + static_cast<std::ptrdiff_t>(end)));
  }
}

TEST_F(ChunkSourceTest, OrderOfRecordsAcrossChunksChangesNothing) {
  writer_.PutUsualRows();
  std::mt19937_64 random(7);
  std::vector<ApiRecord> calls;
  std::vector<DeviceRecord> kernels;
  for (uint32_t i = 0; i < 60; ++i) {
    calls.push_back(Launch(10 + 15 * i, 18 + 15 * i, i + 1, i % 3 == 0 ? 100 : 777));
    kernels.push_back(Kernel(20 + 15 * i, 31 + 15 * i, i + 1));
  }
  std::shuffle(calls.begin(), calls.end(), random);
  std::shuffle(kernels.begin(), kernels.end(), random);
  for (uint64_t i = 0; i < 8; ++i) {
    writer_.Scopes({.thread = 1, .first_sequence = 2 * i},
                   {Begin(kTrain, 50 + 100 * i), End(kTrain, 130 + 100 * i)});
  }
  InChunks(calls, 7, [this](size_t first, const std::vector<ApiRecord>& records) {
    writer_.Calls({.thread = 9, .first_sequence = first}, records);
  });
  InChunks(kernels, 5, [this](size_t first, const std::vector<DeviceRecord>& records) {
    writer_.Work({.thread = 9, .first_sequence = first}, records);
  });
  EXPECT_EQ(Streamed(), Loaded());
}

// A chunk of a thread's scopes.
struct ScopeChunk {
  ChunkMeta meta;
  std::vector<Slot> slots;
};

constexpr LabelId kPhase{4};

// Three threads that do things at the same instants, and often several at one.
std::vector<ScopeChunk> RandomScopes(std::mt19937_64* random) {
  std::vector<ScopeChunk> chunks;
  for (uint32_t thread = 1; thread <= 3; ++thread) {
    std::vector<uint64_t> times;
    for (int i = 0; i < 30; ++i) times.push_back(20 * ((*random)() % 50));
    std::sort(times.begin(), times.end());
    const size_t per_chunk = 2 + (*random)() % 4;
    for (size_t at = 0; at < times.size(); ++at) {
      if (at % per_chunk == 0) chunks.push_back({{.thread = thread, .first_sequence = at}, {}});
      const LabelId label = (*random)() % 2 == 0 ? kTrain : kInner;
      chunks.back().slots.push_back((*random)() % 9 == 0
                                        ? MakeSlot(SlotKind::kPhase, kPhase, times[at])
                                    : (*random)() % 2 == 0 ? Begin(label, times[at])
                                                           : End(label, times[at]));
    }
  }
  return chunks;
}

// What is said of a run with |chunks| in this order, taking turns between two segments: streamed
// and loaded.
std::pair<std::string, std::string> SaidOf(const std::vector<ScopeChunk>& chunks) {
  const TemporaryRun run;
  SegmentWriter writer(run, WriterIdentity{});
  SegmentWriter second(run, WriterIdentity{}, 1);
  for (SegmentWriter* segment : {&writer, &second}) {
    segment->PutUsualRows();
    segment->Sql("INSERT INTO thread VALUES(2, 200, 'second'), (3, 300, 'third')");
    segment->Sql("INSERT INTO label VALUES(4, 4, 0, '', 'update')");
  }
  for (size_t i = 0; i < chunks.size(); ++i) {
    (i % 2 == 0 ? writer : second).Scopes(chunks[i].meta, chunks[i].slots);
  }
  writer.Calls({.thread = 9}, {Launch(15, 18, 1), Launch(200, 240, 2, 200)});
  writer.Work({.thread = 9}, {Kernel(20, 300, 1), Kernel(320, 600, 2)});
  const Result<gpubound::Run> streamed = OpenRun(run.path());
  EXPECT_TRUE(streamed.ok() && streamed->processes.front().source != nullptr) << "not streamed";
  return {RenderJson(*BuildReport(*streamed)), RenderJson(*BuildReport(*LoadRun(run.path())))};
}

// Their sequence numbers say in which order a thread made its events, at one instant too.
TEST_F(ChunkSourceTest, OrderOfChunksOfScopesChangesNothing) {
  for (uint64_t seed = 1; seed <= 10 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    std::vector<ScopeChunk> chunks = RandomScopes(&random);
    const auto [streamed, loaded] = SaidOf(chunks);
    EXPECT_EQ(streamed, loaded);
    std::reverse(chunks.begin(), chunks.end());
    EXPECT_EQ(SaidOf(chunks), std::pair(loaded, loaded)) << "from the last to the first";
    std::shuffle(chunks.begin(), chunks.end(), random);
    EXPECT_EQ(SaidOf(chunks), std::pair(loaded, loaded)) << "shuffled";
  }
}

TEST_F(ChunkSourceTest, ThreadsWithoutARowAdoptAsTheyDoWhenLoaded) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), End(kTrain, 900)});
  writer_.Calls({.thread = 9}, {Launch(200, 210, 1, 555), Launch(300, 310, 2, 556)});
  writer_.Work({.thread = 9}, {Kernel(220, 400, 1)});
  EXPECT_EQ(Streamed(), Loaded());
}

TEST_F(ChunkSourceTest, AThreadResynchronisesBehindDroppedEvents) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), Begin(kInner, 150)});
  writer_.Scopes({.thread = 1, .first_sequence = 2, .dropped_before = 8}, {End(kTrain, 900)}, {1});
  EXPECT_EQ(Streamed(), Loaded());
}

TEST_F(ChunkSourceTest, AGapInAThreadsEventsIsReportedAsWhenLoaded) {
  writer_.PutUsualRows();
  writer_.Scopes({.thread = 1}, {Begin(kTrain, 100), Begin(kInner, 150)});
  writer_.Scopes({.thread = 1, .first_sequence = 10}, {End(kTrain, 900)}, {1});
  EXPECT_EQ(Reported(), Loaded());
}

TEST_F(ChunkSourceTest, AChunkThatIsStoredTwiceCountsOnce) {
  writer_.PutUsualRows();
  for (int i = 0; i < 2; ++i) writer_.Work({.thread = 9}, {Kernel(220, 400, 1)});
  EXPECT_EQ(Streamed(), Loaded());
}

TEST_F(ChunkSourceTest, ADamagedChunkInTheMiddleIsReportedAsWhenLoaded) {
  writer_.PutUsualRows();
  for (uint64_t i = 0; i < 5; ++i) {
    writer_.Work({.thread = 9, .first_sequence = i}, {Kernel(100 + 100 * i, 150 + 100 * i, 1)});
  }
  writer_.Sql("UPDATE chunk SET crc=crc+1 WHERE id=3");
  EXPECT_EQ(Reported(), Loaded());
  const Report report = *ReportOfRun(run_.path());
  EXPECT_EQ(report.processes[0].gpu_busy_ns, 200);
  EXPECT_EQ(report.processes[0].unknown_ns, 50);
  EXPECT_TRUE(report.run.verdict.starts_with("doubtful"));
}

TEST_F(ChunkSourceTest, ARowThatLiesAboutItsEarliestBeginIsNotTrusted) {
  writer_.PutUsualRows();
  writer_.Work({.thread = 9}, {Kernel(100, 150, 1)});
  writer_.Work({.thread = 9, .first_sequence = 1}, {Kernel(300, 350, 1)});
  writer_.Sql("UPDATE chunk SET min_ns=500 WHERE id=1");
  EXPECT_EQ(Reported(), Loaded());
  EXPECT_EQ(ReportOfRun(run_.path())->processes[0].gpu_busy_ns, 100);
}

TEST_F(ChunkSourceTest, AProcessThatDidNotCloseIsLoaded) {
  writer_.PutUsualRows();
  writer_.Work({.thread = 9}, {Kernel(100, 150, 1)});
  writer_.Sql("DELETE FROM meta WHERE key='end_monotonic_ns'");
  const Result<Run> run = OpenRun(run_.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->processes.front().source, nullptr);
  EXPECT_EQ(run->processes.front().device_work.size(), 1u);
}

}  // namespace
}  // namespace gpubound
