// SPDX-License-Identifier: Apache-2.0
//
// gpubound_sqlite.so in programs that have an SQLite of their own: this one, and the sqlite3 shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <stdio.h>

#include <memory>
#include <string>

#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using testing::HasSubstr;

class SqliteExtension : public testing::Test {
 protected:
  SqliteExtension() {
    writer_.PutUsualRows();
    writer_.Work({.thread = 9}, {Kernel(100, 150, 1), Kernel(200, 270, 2)});
    writer_.Close();
    EXPECT_EQ(sqlite3_open(":memory:", &database_), SQLITE_OK);
    sqlite3_db_config(database_, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, nullptr);
    char* message = nullptr;
    EXPECT_EQ(sqlite3_load_extension(database_, GPUBOUND_TEST_EXTENSION, nullptr, &message),
              SQLITE_OK)
        << message;
  }
  ~SqliteExtension() override { EXPECT_EQ(sqlite3_close(database_), SQLITE_OK); }

  // First column of the last row; else the error.
  std::string Scalar(const std::string& sql) {
    std::string value;
    const auto keep = [](void* into, int, char** texts, char**) {
      *static_cast<std::string*>(into) = texts[0] != nullptr ? texts[0] : "NULL";
      return 0;
    };
    char* message = nullptr;
    if (sqlite3_exec(database_, sql.c_str(), keep, &value, &message) != SQLITE_OK) value = message;
    sqlite3_free(message);
    return value;
  }
  std::string Open(const std::string& path, const std::string& more = "") {
    return Scalar("SELECT gpubound_open('" + path + "'" + more + ")");
  }

  TemporaryRun run_;
  SegmentWriter writer_{run_, WriterIdentity{}};
  sqlite3* database_ = nullptr;
};

TEST_F(SqliteExtension, OpensARunAsTemporaryTables) {
  EXPECT_GT(std::stoi(Open(run_.path())), 10);
  EXPECT_EQ(Scalar("SELECT sum(duration_ns) FROM gpu"), "120");
  EXPECT_EQ(Scalar("SELECT gpu_sum_ns FROM operation"), "120");
}

TEST_F(SqliteExtension, OpensASecondRunWithAPrefix) {
  Open(run_.path());
  EXPECT_THAT(Open(run_.path()), HasSubstr("prefix"));
  Open(run_.path(), ", 'b_'");
  EXPECT_EQ(Scalar("SELECT count(*) FROM gpu JOIN b_gpu USING(begin_ns)"), "2");
}

TEST_F(SqliteExtension, ATableCanBeMadeByHand) {
  EXPECT_EQ(Scalar("CREATE VIRTUAL TABLE temp.work USING gpubound('" + run_.path() + "', gpu)"),
            "");
  EXPECT_EQ(Scalar("SELECT count(*) FROM work"), "2");
}

TEST_F(SqliteExtension, WhatIsWrongIsSaid) {
  EXPECT_THAT(Open(run_.File("nothing")), HasSubstr("nothing there"));
  EXPECT_THAT(Scalar("CREATE VIRTUAL TABLE temp.x USING gpubound('" + run_.path() + "', gpus)"),
              HasSubstr("no table 'gpus'"));
  EXPECT_THAT(Scalar("CREATE VIRTUAL TABLE temp.x USING gpubound('" + run_.path() + "')"),
              HasSubstr("two arguments"));
}

#ifdef GPUBOUND_TEST_SHELL  // a shell without a sanitizer's runtime cannot load what needs one
TEST_F(SqliteExtension, LoadsIntoTheShell) {
  const std::string command = "echo \"SELECT gpubound_open('" + run_.path() +
                              "') > 0; SELECT name, count(*) FROM gpu;\" | sqlite3 -cmd '.load " +
                              GPUBOUND_TEST_EXTENSION "' 2>&1";
  const std::unique_ptr<FILE, int (*)(FILE*)> shell(popen(command.c_str(), "r"), pclose);
  ASSERT_NE(shell, nullptr);
  char buffer[256];
  std::string out;
  while (fgets(buffer, sizeof(buffer), shell.get()) != nullptr) out += buffer;
  EXPECT_EQ(out, "1\ngemm|2\n");
}
#endif

}  // namespace
}  // namespace gpubound
