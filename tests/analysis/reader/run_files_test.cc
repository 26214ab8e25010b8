// SPDX-License-Identifier: Apache-2.0
//
// Files that come, change and go while a run is read.
#include "analysis/reader/run_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "analysis/reader/process_loader.h"
#include "analysis/reader/process_presence.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::IsEmpty;
using ::testing::SizeIs;
namespace fs = std::filesystem;

class RunFilesTest : public testing::Test {
 protected:
  // A process that still records: no end, and a mapping.
  void BeginProcess() {
    writer_.emplace(run_, identity_);
    writer_->PutUsualRows();
    writer_->Sql("DELETE FROM meta WHERE key IN ('end_monotonic_ns','end_how','sealed','chunks')");
    live_ = run_.Write(LiveWriter::NameFor(identity_), LiveWriter(identity_).Bytes());
  }
  // In the order in which the recorder does it.
  void EndProcess() {
    writer_->Meta("end_monotonic_ns", int64_t{1000});
    writer_->Meta("end_how", "exit");
    fs::remove(live_);
  }
  RunFiles Open(const std::function<void()>& meanwhile = {}) {
    Result<RunFiles> files = OpenRunFiles(run_.path(), meanwhile);
    EXPECT_TRUE(files.ok());
    return std::move(*files);
  }
  static ProcessFiles& OnlyProcess(RunFiles& files) {
    return files.grouped.processes.begin()->second;
  }

  TemporaryRun run_;
  WriterIdentity identity_;
  const ProcessIdentity process_{identity_.host, identity_.pid, identity_.start_ns};
  std::optional<SegmentWriter> writer_;
  std::string live_;
};

TEST_F(RunFilesTest, AMappingThatGoesWhileTheRunIsListedIsNoDamage) {
  BeginProcess();
  RunFiles files = Open([&] {
    if (fs::exists(live_)) EndProcess();
  });
  EXPECT_THAT(files.unreadable, IsEmpty());
  ASSERT_THAT(files.grouped.processes, SizeIs(1));
  EXPECT_FALSE(OnlyProcess(files).live.has_value());
  EXPECT_EQ(OnlyProcess(files).segments[0].meta().count("end_how"), 1u);
}

TEST_F(RunFilesTest, DatabasesAreOpenedAfterTheMappings) {
  BeginProcess();
  int listings = 0;
  RunFiles files = Open([&] {
    if (++listings == 2) EndProcess();
  });
  EXPECT_TRUE(OnlyProcess(files).live.has_value());
  EXPECT_EQ(OnlyProcess(files).segments[0].meta().count("end_how"), 1u);
}

// As a reader finds it that is between two stores into its header.
TEST_F(RunFilesTest, AMappingThatIsBeingMadeIsNoDamage) {
  BeginProcess();
  const std::string whole = LiveWriter(identity_).Bytes();
  const std::string half = std::string(32, '\0') + whole.substr(32);
  int listings = 0;
  RunFiles files =
      Open([&] { run_.Write(LiveWriter::NameFor(identity_), ++listings == 1 ? half : whole); });
  EXPECT_THAT(files.unreadable, IsEmpty());
  EXPECT_TRUE(OnlyProcess(files).live.has_value());
}

TEST_F(RunFilesTest, WhoeverBeginsAndEndsBehindTheOpeningIsOpenedAgain) {
  BeginProcess();
  run_.Write(LiveWriter::NameFor(identity_), std::string(4096, '\0'));
  RunFiles files = Open();
  EXPECT_FALSE(OnlyProcess(files).live.has_value());
  EndProcess();
  EXPECT_TRUE(FilesIfClosedMeanwhile(run_.path(), process_, OnlyProcess(files)).has_value());
}

TEST_F(RunFilesTest, ADatabaseThatIsBeingMadeIsNoDamage) {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  const ProcessIdentity beginning{host, getpid(), RealtimeNow()};
  run_.Write(TraceFileStem(beginning) + ".0.db", "");
  EXPECT_THAT(Open().unreadable, SizeIs(1));
  run_.Write(TraceFileStem(beginning) + ".live", std::string(4096, '\0'));
  EXPECT_THAT(Open().unreadable, IsEmpty());
}

TEST_F(RunFilesTest, AMappingThatIsThereAndCannotBeReadIsNamed) {
  BeginProcess();
  fs::remove(live_);
  fs::create_symlink("nowhere", live_);
  EXPECT_THAT(Open().unreadable, SizeIs(1));
}

TEST_F(RunFilesTest, WhoeverGoesOnIsNotOpenedAgain) {
  BeginProcess();
  RunFiles files = Open();
  EXPECT_FALSE(FilesIfClosedMeanwhile(run_.path(), process_, OnlyProcess(files)));
}

TEST_F(RunFilesTest, WhoeverEndsBehindTheOpeningIsOpenedAgain) {
  BeginProcess();
  RunFiles files = Open();
  EndProcess();
  const auto again = FilesIfClosedMeanwhile(run_.path(), process_, OnlyProcess(files));
  ASSERT_TRUE(again.has_value());
  EXPECT_FALSE(again->live.has_value());
  ASSERT_THAT(again->segments, SizeIs(1));
  EXPECT_EQ(again->segments[0].meta().count("end_how"), 1u);
}

// What was undelivered when the mapping was read was delivered by the end.
TEST_F(RunFilesTest, AMappingOlderThanTheEndMakesNothingUnknown) {
  BeginProcess();
  LiveWriter older(identity_);
  older.header().delivered_until_ns = 500;
  run_.Write(LiveWriter::NameFor(identity_), older.Bytes());
  int listings = 0;
  RunFiles files = Open([&] {
    if (++listings == 2) EndProcess();
  });
  ProcessFiles& of = OnlyProcess(files);
  std::vector<std::string> problems;
  const ProcessTrace trace = LoadProcess(process_, &of.segments, of.live, nullptr, &problems);
  EXPECT_EQ(trace.span_end, SpanEnd::kClosed);
  EXPECT_THAT(trace.unknown, IsEmpty());
}

}  // namespace
}  // namespace gpubound
