// SPDX-License-Identifier: Apache-2.0
//
// The sink over a disk whose synchronisations are counted: this program's own definitions stand in
// front of the C library's.
#include "libprofiler/sqlite_sink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <filesystem>

#include "proto/run_path.h"
#include "tests/libprofiler/temp_directory.h"
#include "tests/libprofiler/trace_file.h"

namespace {
int g_synchronised = 0;
}  // namespace

extern "C" int fsync(int fd) {
  ++g_synchronised;
  return static_cast<int>(syscall(SYS_fsync, fd));
}
extern "C" int fdatasync(int fd) {
  ++g_synchronised;
  return static_cast<int>(syscall(SYS_fdatasync, fd));
}

namespace gpubound {
namespace {

class SqliteSinkTest : public testing::TestWithParam<bool> {
 protected:
  SqliteSinkTest() { g_synchronised = 0; }
  bool network() const { return GetParam(); }
  bool Open() { return sink_.Open(directory_.Below("trace.db"), network()); }
  static std::string TablesOf(const std::string& path) {
    const TraceFile trace(path);
    std::string text = trace.Text("SELECT group_concat(sql, ';') FROM sqlite_master");
    for (const char* pragma : {"application_id", "user_version", "page_size", "integrity_check"}) {
      text += "; " + trace.Text(std::string("PRAGMA ") + pragma);
    }
    return text;
  }
  void WriteRow() {
    sink_.Begin();
    sink_.PutMeta("key", "value");
    EXPECT_TRUE(sink_.Commit()) << sink_.error();
  }

  TempDirectory directory_;
  SqliteSink sink_;
};

// It is the program's thread that waits for it.
TEST_P(SqliteSinkTest, MakingATraceWaitsForNoDisk) {
  ASSERT_TRUE(Open()) << sink_.error();
  EXPECT_EQ(g_synchronised, 0);
}

TEST_P(SqliteSinkTest, WhatWasWrittenIsOnTheDiskWhenTheTraceIsSealed) {
  ASSERT_TRUE(Open());
  for (int second = 0; second < 10; ++second) WriteRow();
  EXPECT_EQ(g_synchronised > 0, network());  // its journal has to be, a log may wait
  sink_.Seal();
  EXPECT_GE(g_synchronised, 2);  // of the log or the journal, and of the database
  EXPECT_FALSE(sink_.failed()) << sink_.error();
}

TEST_P(SqliteSinkTest, TheEndOfAShortLifeOnALocalDiskWaitsForNoDisk) {
  ASSERT_TRUE(Open());
  WriteRow();
  sink_.Seal();
  EXPECT_EQ(g_synchronised == 0, !network());
  EXPECT_FALSE(sink_.failed()) << sink_.error();
}

// What a segment begins with on a local disk is what SQLite would have made.
TEST_P(SqliteSinkTest, TheTablesOfASegmentMayBeCopiedFromOneBefore) {
  EmptySegment empty;
  const std::string made = directory_.Below("made.db");
  const std::string copied = directory_.Below("copied.db");
  for (const std::string& path : {made, copied}) {
    ASSERT_TRUE(sink_.Open(path, network(), &empty)) << sink_.error();
    EXPECT_EQ(empty == nullptr, network());
    WriteRow();
    EXPECT_EQ(g_synchronised > 0, network());
    for (int second = 0; second < 10; ++second) WriteRow();
    sink_.Seal();
    EXPECT_GE(g_synchronised, 2);
    EXPECT_FALSE(sink_.failed()) << sink_.error();
    g_synchronised = 0;
  }
  EXPECT_EQ(TablesOf(copied), TablesOf(made));
  EXPECT_THAT(TablesOf(made), testing::HasSubstr("CREATE TABLE chunk"));
  EXPECT_EQ(TraceFile(copied).Meta("key"), "value");
  constexpr char kCounts[] =
      "SELECT group_concat(name || rows) FROM row_count WHERE name <> 'meta'";
  EXPECT_EQ(TraceFile(copied).Text(kCounts), TraceFile(made).Text(kCounts));
}

// Of 64 bytes of host name, and the greatest numbers.
TEST_P(SqliteSinkTest, TheLongestPathThatARunAllowsCanBeOpened) {
  const std::string folders = directory_.Below(std::string(200, 'd')) + "/";
  const std::string run = folders + std::string(kLongestRunPath - folders.size(), 'r');
  std::filesystem::create_directories(run);
  const std::string file =
      "/" + std::string(64, 'h') + ".4294967295.9223372036854775807.4294967295.db";
  ASSERT_TRUE(sink_.Open(run + file, network())) << sink_.error();
  WriteRow();
}

INSTANTIATE_TEST_SUITE_P(Journals, SqliteSinkTest, testing::Bool(), [](const auto& journal) {
  return journal.param ? "OfANetworkFilesystem" : "OfALocalDisk";
});

}  // namespace
}  // namespace gpubound
