// SPDX-License-Identifier: Apache-2.0
//
// Files that cannot be imported, and what is said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/resource.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "analysis/import/import.h"
#include "tests/analysis/gzip_text.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;
using testing_support::SegmentWriter;
using testing_support::TemporaryRun;
using testing_support::WriterIdentity;

class ImportErrors : public testing::Test {
 protected:
  // The error of importing |path|; "" where it succeeds.
  std::string ErrorOf(const std::string& path) {
    const TemporaryRun output;
    const auto summary = ImportTrace(path, output.path(), &output_failed_);
    if (summary.ok()) return "";
    EXPECT_EQ(summary.error().object, output_failed_ ? output.path() : path);
    EXPECT_NE(summary.error().remedy, "");
    return summary.error().ToString();
  }

  std::string ErrorOfText(const std::string& text) {
    return ErrorOf(input_.Write("trace.json", text));
  }

  // A database in which |sql| was executed.
  std::string Database(const std::string& sql) {
    const std::string path = input_.File("export.sqlite");
    std::filesystem::remove(path);
    sqlite3* database = nullptr;
    EXPECT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(database);
    return path;
  }

  static std::string RealTrace() {
    std::ifstream file(GPUBOUND_TEST_DATA "/kineto/simple_add.json.gz", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  TemporaryRun input_;
  bool output_failed_ = false;
};

TEST_F(ImportErrors, AFileThatBeginsWithAZeroByteIsNotEmpty) {
  EXPECT_THAT(ErrorOfText(std::string(100, '\0')), HasSubstr("begins with a zero byte"));
  EXPECT_THAT(ErrorOfText(" \n"), HasSubstr("an empty file"));
}

TEST_F(ImportErrors, MoreProcessesThanFilesThatMayBeOpenAreNoError) {
  std::string trace = "[";
  for (int pid = 100; pid < 200; ++pid) {
    trace += std::string(pid > 100 ? "," : "") + R"({"ph":"X","cat":"cpu_op","name":"a","pid":)" +
             std::to_string(pid) + R"(,"tid":5,"ts":10,"dur":10})";
  }
  const std::string path = input_.Write("trace.json", trace + "]");
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const TemporaryRun output;
  const auto summary = ImportTrace(path, output.path());
  setrlimit(RLIMIT_NOFILE, &before);
  ASSERT_TRUE(summary.ok()) << summary.error().ToString();
  EXPECT_EQ(summary->processes, 100u);
}

TEST_F(ImportErrors, OtherCompressionIsCalledByItsName) {
  const std::string zstd = ErrorOfText(std::string("\x28\xb5\x2f\xfd\x04\x00 rest", 11));
  EXPECT_THAT(zstd, HasSubstr("a file that zstd compressed"));
  EXPECT_THAT(zstd, HasSubstr("zstd -dc FILE"));
  EXPECT_THAT(ErrorOfText("PK\x03\x04 rest of an archive"), HasSubstr("unzip -p FILE"));
}

TEST_F(ImportErrors, WhatIsPackedIsNamedWithTheCommandThatUnpacksIt) {
  std::string tar("trace.json");
  tar.resize(257);
  tar += "ustar";
  tar.resize(1024);
  for (const auto& [bytes, what, remedy] :
       {std::tuple(std::string("\xfd"
                               "7zXZ\0rest of it......",
                               22),
                   "xz compressed", "xz -dc FILE"),
        std::tuple(std::string("BZh91AY&SY......"), "bzip2 compressed", "bzip2 -dc FILE"),
        std::tuple(std::string("7z\xbc\xaf\x27\x1c.............."), "a 7-Zip archive", "7z x -so"),
        std::tuple(tar, "a tar archive", "tar -xOf FILE"),
        std::tuple(testing_support::GzipText(tar), "a tar archive", "tar -xOf FILE")}) {
    const std::string error = ErrorOfText(bytes);
    EXPECT_THAT(error, HasSubstr(what));
    EXPECT_THAT(error, HasSubstr(remedy));
  }
}

TEST_F(ImportErrors, ATraceOfAnotherToolIsCalledByItsNameAndHasARemedyOfItsOwn) {
  for (const auto& [text, what] :
       {std::pair(
            R"({"traceEvents": [{"ph":"M","name":"process_name","pid":1,"args":)"
            R"({"name":"/device:GPU:0"}},{"ph":"X","name":"k","pid":1,"tid":1,"ts":1,"dur":2}]})",
            "a trace of JAX's or TensorFlow's profiler"),
        std::pair(R"({"traceEvents": [{"ph":"X","cat":"FEE","name":"f","pid":1,"tid":1,"ts":1,)"
                  R"("dur":2}], "viztracer_metadata": {"version": "1"}})",
                  "a trace of VizTracer"),
        std::pair(R"({"rocprofiler-sdk-tool": [{"a": 1}]})", "results of rocprof"),
        std::pair(R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [{"id": 1}]})",
                  "an execution trace (Chakra)")}) {
    const std::string error = ErrorOfText(text);
    EXPECT_THAT(error, HasSubstr(what));
    EXPECT_THAT(error, testing::Not(HasSubstr("activities=[CPU, CUDA]")));
  }
  EXPECT_THAT(ErrorOf(Database("CREATE TABLE rocpd_api(id INT)")), HasSubstr("a rocpd database"));
  EXPECT_THAT(ErrorOf(Database("CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL(start INT);"
                               "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT)")),
              HasSubstr("a database of nvprof"));
  EXPECT_THAT(ErrorOf(input_.Write("report.nsys-rep", "\x01 something")),
              HasSubstr("nsys export --type sqlite FILE"));
}

TEST_F(ImportErrors, CategoriesThatMeanNothingAreNamedWhereNothingElseIsThere) {
  EXPECT_THAT(
      ErrorOfText(R"([{"ph":"X","cat":"GpuWork","name":"k","pid":0,"tid":7,"ts":1,"dur":2},)"
                  R"({"ph":"X","cat":"ac2g","name":"a","pid":0,"tid":7,"ts":1,"dur":2}])"),
      HasSubstr("and most of category 'GpuWork' (1 event), expected"));
}

TEST_F(ImportErrors, AViewThatNeverEndsIsNotRun) {
  const std::string path = Database(
      "CREATE TABLE StringIds (id, value);"
      "CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT "
      "n + 1 FROM c) SELECT n AS start, n AS \"end\" FROM c WHERE n < 0;");
  EXPECT_THAT(ErrorOf(path), HasSubstr("table CUPTI_ACTIVITY_KIND_KERNEL that cannot be read (a "
                                       "view, which is a query"));
}

TEST_F(ImportErrors, ARealTraceHasNone) { EXPECT_EQ(ErrorOfText(RealTrace()), ""); }

TEST_F(ImportErrors, AFileThatIsNotThere) {
  EXPECT_THAT(ErrorOf(input_.File("nothing")), HasSubstr("No such file"));
}

TEST_F(ImportErrors, ADirectory) {
  EXPECT_THAT(ErrorOf(input_.path()), HasSubstr("found a directory"));
}

TEST_F(ImportErrors, TextThatIsNoJson) {
  EXPECT_THAT(ErrorOfText("hello"), HasSubstr("begins with 'hello'"));
}

TEST_F(ImportErrors, ACompressedFileWithoutAWholeEvent) {
  EXPECT_THAT(ErrorOfText(RealTrace().substr(0, 100)),
              HasSubstr("damaged or cut short (unexpected end of file)"));
}

TEST_F(ImportErrors, JsonThatIsCutShortBeforeAnythingOfUse) {
  EXPECT_THAT(ErrorOfText(R"({"traceEvents": [{"ph":"X"},)"), HasSubstr("the end of the file"));
}

TEST_F(ImportErrors, AnEventThatIsNoJsonIsNamedByItsPlace) {
  const std::string error = ErrorOfText(R"({"traceEvents": [{"ph":"X"}, {"ph" "X"}]})");
  EXPECT_THAT(error, HasSubstr("an event that is no JSON"));
  EXPECT_THAT(error, HasSubstr("at byte 29"));
}

TEST_F(ImportErrors, AnEventThatIsNoObject) {
  EXPECT_THAT(ErrorOfText(R"({"traceEvents": [17]})"), HasSubstr("an event that is no JSON"));
}

TEST_F(ImportErrors, ATraceWithoutAnythingOfUse) {
  EXPECT_THAT(ErrorOfText(R"({"traceEvents": [{"ph":"X","cat":"other","ts":1,"dur":2}]})"),
              HasSubstr("no event of a kind that has a meaning here"));
  EXPECT_THAT(ErrorOfText(R"({"results": [1, 2, 3]})"), HasSubstr("no event of a kind"));
}

TEST_F(ImportErrors, EventsOfWhichNoneHasATimeAreCountedAndTheFirstIsNamed) {
  const std::string event = R"({"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,)";
  const std::string kernel = R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,)";
  const std::string fine = R"({"ph":"X","cat":"other","ts":1,"dur":2},)";
  const std::string only = "[" + fine + event + R"("ts":"1","dur":2}])";
  EXPECT_THAT(ErrorOfText(only), HasSubstr("found an event whose ts is no time at byte 41"));
  for (const auto& [times, what] :
       {std::pair(R"("ts":"1","dur":2})", "whose ts is no time"),
        std::pair(R"("dur":2})", "whose ts is no time"),
        std::pair(R"("ts":1,"dur":"2"})", "of which no end is known"),
        std::pair(R"("ts":1,"dur":-2})", "that ends before it begins"),
        std::pair(R"("ts":5e15,"dur":2})", "of which no end is known")}) {
    for (const std::string& bad : {event + times, kernel + times}) {
      const std::string error = ErrorOfText("[" + fine + bad + "," + bad + "," + bad + "]");
      EXPECT_THAT(error, HasSubstr("found 3 events that could not be read and none that could; "));
      EXPECT_THAT(error, HasSubstr(std::string("first, an event ") + what + " at byte 41"));
    }
  }
}

TEST_F(ImportErrors, WorkThatNeverEndsIsNothingToImport) {
  const std::string begin = R"({"ph":"B","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1})";
  EXPECT_THAT(ErrorOfText("[" + begin + "," + R"({"ph":"X","cat":"other"}])"),
              HasSubstr("an event of which no end is known at byte 1,"));
}

TEST_F(ImportErrors, ADatabaseOfSomethingElse) {
  EXPECT_THAT(ErrorOf(Database("CREATE TABLE user(name TEXT)")),
              HasSubstr("without CUDA or NVTX tables"));
}

TEST_F(ImportErrors, ADatabaseThatIsDamaged) {
  const std::string path = Database("CREATE TABLE user(name TEXT)");
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(100) << std::string(2000, '\x7f');
  file.close();
  EXPECT_THAT(ErrorOf(path), HasSubstr("a damaged database"));
}

// Of what they name, devices above all, one would be taken for another.
TEST_F(ImportErrors, AnExportWhoseTablesOfNamesAreDamaged) {
  for (const std::string table :
       {"TARGET_INFO_SYSTEM_ENV(name TEXT, value TEXT)",
        "TARGET_INFO_SESSION_START_TIME(utcEpochNs INT)", "PROCESSES(globalPid INT, name TEXT)",
        "TARGET_INFO_GPU(id INT, name TEXT)",
        "TARGET_INFO_CUDA_DEVICE(gpuId INT, cudaId INT, pid INT)",
        "ThreadNames(globalTid INT, nameId INT)"}) {
    const std::string path = Database(
        "CREATE TABLE NVTX_EVENTS(start INT, end INT, globalTid INT, text TEXT);"
        "INSERT INTO NVTX_EVENTS VALUES(1, 2, 3, 'a'); CREATE TABLE " +
        table);
    const auto size = static_cast<std::streamoff>(std::filesystem::file_size(path));
    std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(size - 4096) << std::string(4096, '\xff');  // the table's page, the last one
    file.close();
    EXPECT_THAT(ErrorOf(path),
                HasSubstr("table " + table.substr(0, table.find('(')) + " that cannot be read"));
  }
}

TEST_F(ImportErrors, AnExportWithoutAnyInterval) {
  EXPECT_THAT(ErrorOf(Database("CREATE TABLE NVTX_EVENTS(start INT, end INT)")),
              HasSubstr("no event of a kind"));
}

TEST_F(ImportErrors, AnExportOfWhichNoTableCanBeRead) {
  const std::string error =
      ErrorOf(Database("CREATE TABLE NVTX_EVENTS(start INT); INSERT INTO NVTX_EVENTS VALUES(1)"));
  EXPECT_THAT(error, HasSubstr("table NVTX_EVENTS of the export has no column end, globalTid"));
}

TEST_F(ImportErrors, ASegmentOfOurOwn) {
  SegmentWriter segment(input_, WriterIdentity{});
  segment.PutUsualRows();
  segment.Close();
  EXPECT_THAT(ErrorOf(segment.path()), HasSubstr("a segment of a gpubound run"));
}

TEST_F(ImportErrors, AnOutputThatIsNotThereIsTheOutputsFault) {
  const std::string path = input_.Write("trace.json.gz", RealTrace());
  bool output_failed = false;
  const auto summary = ImportTrace(path, "/nonexistent", &output_failed);
  ASSERT_FALSE(summary.ok());
  EXPECT_TRUE(output_failed);
  EXPECT_THAT(summary.error().object, HasSubstr("/nonexistent/imported."));
}

TEST_F(ImportErrors, AnEventWithoutATimeIsCountedAndSkipped) {
  const std::string text =
      R"([{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":"1","dur":2},
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1},
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":-1},
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1e300},
    {"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":1}])";
  const TemporaryRun output;
  const auto summary = ImportTrace(input_.Write("trace.json", text), output.path());
  ASSERT_TRUE(summary.ok()) << summary.error().ToString();
  EXPECT_EQ(summary->cpu_events, 1u);
}

}  // namespace
}  // namespace gpubound
