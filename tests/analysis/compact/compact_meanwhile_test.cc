// SPDX-License-Identifier: Apache-2.0
//
// What others find who have files of a run open, or laid something beside them, while it is
// compacted.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/compact/compact.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report.h"
#include "analysis/report/report_json.h"
#include "analysis/segments/sqlite.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr uint64_t kKernels = 20'000;  // of a chunk: many pages
constexpr uint64_t kApartNs = 1000;
constexpr uint64_t kChunkNs = kKernels * kApartNs;
constexpr uint32_t kSegments = 3;
constexpr uint64_t kChunks = 2;  // of a segment

class CompactMeanwhileTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  // |logged|: was read when it was sealed, so that its log stayed.
  void WriteRun(std::optional<uint32_t> logged = {}) {
    uint64_t chunk = 0;
    for (uint32_t segment = 0; segment < kSegments; ++segment) {
      SegmentWriter writer(run_, WriterIdentity{}, segment);
      writer.PutUsualRows();
      writer.Sql("UPDATE meta SET value=" + std::to_string(kSegments * kChunks * kChunkNs) +
                 " WHERE key='end_monotonic_ns'");
      if (segment + 1 < kSegments) writer.Meta("sealed", 1);
      if (logged == segment) writer.UseLog();
      for (uint64_t i = 0; i < kChunks; ++i) WriteChunk(&writer, chunk++);
      writer.Close(/*keep_log=*/logged == segment);
    }
  }
  static void WriteChunk(SegmentWriter* writer, uint64_t chunk) {
    std::vector<DeviceRecord> kernels;
    for (uint64_t i = 0; i < kKernels; ++i) {
      const uint64_t begin_ns = chunk * kChunkNs + i * kApartNs;
      const uint64_t length_ns = 100 + i * i % 797;
      kernels.push_back(Kernel(begin_ns, begin_ns + length_ns, static_cast<uint32_t>(i)));
    }
    writer->Work({.thread = 9, .first_sequence = chunk * kKernels}, kernels);
  }
  // All goes but the last |chunks|.
  Result<Compaction> KeepChunks(uint64_t chunks) const {
    Retention retention;
    retention.window_ns = static_cast<int64_t>(chunks * kChunkNs - kApartNs);
    return CompactRun(run_.path(), {}, retention);
  }
  std::string Segment(uint32_t number) const {
    return run_.File("host.100.5." + std::to_string(number) + ".db");
  }
  bool IsThere(uint32_t segment) const { return fs::exists(Segment(segment)); }
  static int64_t ChunksOf(const std::string& path) {
    Result<Database> database = Database::OpenReadOnly(path);
    return database.ok() ? database->Scalar("SELECT count(*) FROM chunk", -1) : -2;
  }
  std::vector<std::string> NamesBeside() const {
    std::vector<std::string> names = run_.Names();
    std::erase_if(names, [](const std::string& name) {
      return name.ends_with(".db") || name == "sums.gpubound";
    });
    return names;
  }
  static std::string FiguresOf(const Run& run) {
    const Result<Report> report = BuildReport(run);
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().ToString());
    return report.ok() ? RenderJson(*report) : "";
  }

  TemporaryRun run_;
};

TEST_F(CompactMeanwhileTest, WhoReadsTheRunGoesOnWithWhatWasThereWhenHeOpenedIt) {
  WriteRun();
  const Result<Run> before = OpenRun(run_.path());
  const Result<Run> meanwhile = OpenRun(run_.path());
  ASSERT_TRUE(before.ok() && meanwhile.ok());
  const std::string figures = FiguresOf(*before);
  const Result<Compaction> compaction = KeepChunks(3);
  ASSERT_TRUE(compaction.ok()) << compaction.error().ToString();
  EXPECT_FALSE(IsThere(0));
  EXPECT_EQ(ChunksOf(Segment(1)), 1);
  EXPECT_EQ(FiguresOf(*meanwhile), figures);
}

TEST_F(CompactMeanwhileTest, TheLogOfARemovedSegmentGoesWithIt) {
  WriteRun(/*logged=*/0);
  ASSERT_FALSE(NamesBeside().empty());
  ASSERT_TRUE(KeepChunks(3).ok());
  EXPECT_FALSE(IsThere(0));
  EXPECT_EQ(NamesBeside(), std::vector<std::string>());
}

TEST_F(CompactMeanwhileTest, TheLogOfASegmentOfWhichChunksGoIsInItsDatabaseThen) {
  WriteRun(/*logged=*/1);
  ASSERT_TRUE(KeepChunks(3).ok());
  EXPECT_EQ(ChunksOf(Segment(1)), 1);
  EXPECT_EQ(NamesBeside(), std::vector<std::string>());
}

TEST_F(CompactMeanwhileTest, ASegmentWhoseLogIsReadStaysUntilLater) {
  WriteRun(/*logged=*/1);
  {
    Result<Database> reader = Database::OpenReadOnly(Segment(1));
    ASSERT_TRUE(reader.ok());
    Query query = reader->Prepare("SELECT id FROM chunk");
    ASSERT_TRUE(query.Step());
    const Result<Compaction> compaction = KeepChunks(3);
    ASSERT_FALSE(compaction.ok());
    EXPECT_EQ(compaction.error().found, "somebody who reads it");
    EXPECT_FALSE(IsThere(0));
    EXPECT_TRUE(query.Step());
  }
  ASSERT_TRUE(KeepChunks(3).ok());
  EXPECT_EQ(ChunksOf(Segment(1)), 1);
}

// As on a full disk.
TEST_F(CompactMeanwhileTest, WholeSegmentsGoWhereNoneCanBeWrittenAnew) {
  WriteRun();
  ASSERT_TRUE(KeepChunks(6).ok());
  const std::string in_the_way = Segment(1) + ".new";
  fs::create_directory(in_the_way);
  ASSERT_FALSE(KeepChunks(3).ok());
  EXPECT_FALSE(IsThere(0));
  EXPECT_EQ(ChunksOf(Segment(1)), 2);
  fs::remove(in_the_way);
  ASSERT_TRUE(KeepChunks(3).ok());
  EXPECT_EQ(ChunksOf(Segment(1)), 1);
}

TEST_F(CompactMeanwhileTest, WhatAKilledCompactionBeganIsReplaced) {
  WriteRun();
  run_.Write("host.100.5.1.db.new", "a part");
  run_.Write("host.100.5.0.db.new", "another");
  ASSERT_TRUE(KeepChunks(3).ok());
  EXPECT_EQ(ChunksOf(Segment(1)), 1);
  EXPECT_EQ(NamesBeside(), std::vector<std::string>());
}

TEST_F(CompactMeanwhileTest, ThatAnotherOneCompactsItIsSaidBeforeAllElse) {
  WriteRun();
  run_.Write("host.100.5.7.db", "which the other one removes just now");
  const int folder = open(run_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(folder, LOCK_EX | LOCK_NB), 0);
  const Result<Compaction> compaction = KeepChunks(3);
  close(folder);
  ASSERT_FALSE(compaction.ok());
  EXPECT_EQ(compaction.error().expected, "nobody else compacting it");
}

}  // namespace
}  // namespace gpubound
