// SPDX-License-Identifier: Apache-2.0
//
// `gpubound import`: exit statuses, and what is left of a run that could not be made.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/segments/sqlite.h"
#include "tests/analysis/gzip_text.h"
#include "tests/tools/tool_fixtures.h"
#include "tools/commands/commands.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing_support::GzipText;

constexpr char kTrace[] =
    R"([{"ph":"X","cat":"cpu_op","name":"aten::add","pid":4,"tid":5,"ts":10,"dur":10}])";

class ImportCommand : public testing::Test {
 protected:
  Captured Import(const std::string& text, const std::string& output) {
    return Capture([&] {
      return Dispatch({"import", folder_.Write("trace.json", text), "-o", folder_.File(output)});
    });
  }
  // |file| as it is read by a program of which standard input is a pipe with |bytes|, which are
  // few.
  Captured ImportFromPipe(const std::string& file, std::string_view bytes) {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    EXPECT_EQ(write(ends[1], bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    const int before = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    const Captured imported = Capture([&] {
      return Dispatch({"import", file, "-o", folder_.File("x.gpubound")});
    });
    dup2(before, STDIN_FILENO);
    close(before);
    return imported;
  }
  bool Exists(const std::string& name) const { return std::filesystem::exists(folder_.File(name)); }

  TemporaryFolder folder_;
};

TEST_F(ImportCommand, MakesAPrivateRunThatCanBeReported) {
  const Captured imported = Import(kTrace, "x.gpubound");
  EXPECT_EQ(imported.status, kExitSuccess);
  EXPECT_THAT(imported.out, IsEmpty());
  EXPECT_THAT(imported.err, HasSubstr("imported 1 CPU and 0 GPU events of 1 process"));
  EXPECT_EQ(ModeOf(folder_.File("x.gpubound")), 0700u);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.File("x.gpubound"))) {
    EXPECT_EQ(ModeOf(entry.path().string()), 0600u);
  }
  const Captured report = Capture([&] {
    return Dispatch({"report", folder_.File("x.gpubound"), "--json"});
  });
  EXPECT_EQ(report.status, kExitSuccess);
  EXPECT_THAT(report.out, HasSubstr("\"device_kind\": \"imported\""));
}

TEST_F(ImportCommand, ATraceMayHaveMoreProcessesThanFilesThatMayBeOpenAtFirst) {
  std::string trace = kTrace;
  for (int pid = 100; pid < 200; ++pid) {
    trace.insert(1, R"({"ph":"X","cat":"cpu_op","name":"a","pid":)" + std::to_string(pid) +
                        R"(,"tid":5,"ts":10,"dur":10},)");
  }
  struct rlimit before {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  const Captured imported = Import(trace, "x.gpubound");
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(imported.status, kExitSuccess) << imported.err;
  EXPECT_THAT(imported.err, HasSubstr("of 101 processes"));
}

TEST_F(ImportCommand, TheCallThatALongGapConsistsOfIsNamed) {
  const std::string thread = R"("pid":4,"tid":5,)";
  const std::string kernel =
      R"({"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"args":{"correlation":)";
  ASSERT_EQ(Import(R"([{"ph":"X","cat":"cuda_runtime","name":"cudaFree",)" + thread +
                       R"("ts":0,"dur":900},)" +
                       R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel",)" + thread +
                       R"("ts":910,"dur":10,"args":{"correlation":1}},)" + kernel +
                       R"(1,"device":0,"stream":7},"ts":930,"dur":70}])",
                   "long.gpubound")
                .status,
            kExitSuccess);
  const Captured report = Capture([&] {
    return Dispatch({"report", folder_.File("long.gpubound")});
  });
  EXPECT_THAT(report.out, HasSubstr("Start-up-bound: the GPU is idle 91 % of the time while CUDA "
                                    "starts (900 us of\n  cudaFree)"));
}

TEST_F(ImportCommand, EachStepEndsAnIteration) {
  const std::string event = R"({"ph":"X","cat":"user_annotation","pid":4,"tid":5,)";
  for (const std::string first : {"0", "5"}) {
    const std::string trace = "[" + event + R"("name":"set up","ts":0,"dur":3},)" + event +
                              R"("name":"ProfilerStep#)" + first + R"(","ts":10,"dur":10},)" +
                              event + R"("name":"ProfilerStep#6","ts":20,"dur":10}])";
    ASSERT_EQ(Import(trace, first).status, kExitSuccess);
    const Captured rows = Capture([&] {
      return Dispatch({"sql", folder_.File(first), "--csv",
                       "select s.number, i.number, time_ns, end_ns from step s left join iteration "
                       "i on time_ns = end_ns"});
    });
    EXPECT_EQ(rows.out, "number,number,time_ns,end_ns\r\n" + first + "," + first +
                            ",20000,20000\r\n6,6,30000,30000\r\n");
  }
}

TEST_F(ImportCommand, AFileThatCannotBeReadIsThreeAndLeavesNothing) {
  const Captured imported = Import("[{\"ph\":\"X\"", "x.gpubound");
  EXPECT_EQ(imported.status, kExitUnreadable);
  EXPECT_THAT(imported.err, HasSubstr("the end of the file"));
  EXPECT_FALSE(Exists("x.gpubound"));
}

TEST_F(ImportCommand, AFileThatIsDamagedIsImportedAsFarAsItGoesAndSaysSo) {
  const std::string damaged =
      std::string(kTrace).substr(0, sizeof(kTrace) - 2) + R"(,{"ph" 1},{"ph)";
  const Captured imported = Import(damaged, "x.gpubound");
  EXPECT_EQ(imported.status, kExitSuccess);
  EXPECT_THAT(imported.err, HasSubstr("1 event could not be read and is missing"));
  EXPECT_THAT(imported.err, HasSubstr("could be read up to byte 88 only"));
}

TEST_F(ImportCommand, WhatAnExportLacksIsSaid) {
  const std::string path = folder_.File("x.sqlite");
  {
    Result<Database> database =
        Database::Create(path,
                         "CREATE TABLE NVTX_EVENTS(start, end, globalTid, text);"
                         "INSERT INTO NVTX_EVENTS VALUES(0, 9, 1 << 24, 'step');"
                         "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start); "
                         "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1);");
    ASSERT_TRUE(database.ok() && database->Commit());
  }
  const std::string run = folder_.File("x.gpubound");
  const Captured imported = Capture([&] { return Dispatch({"import", path, "-o", run}); });
  EXPECT_EQ(imported.status, kExitSuccess);
  EXPECT_THAT(imported.err,
              HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL of the export has no column end"));
  EXPECT_EQ(Capture([&] { return Dispatch({"doctor", run}); }).status, kExitCheckFailed);
}

TEST_F(ImportCommand, KernelsAreATableOfItsReportByEitherName) {
  const std::string trace =
      R"([{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":4,"tid":5,"ts":1,"dur":1,)"
      R"("args":{"correlation":7}},{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":3,)"
      R"("dur":5,"args":{"correlation":7,"device":0,"stream":7}}])";
  ASSERT_EQ(Import(trace, "x.gpubound").status, kExitSuccess);
  const std::string run = folder_.File("x.gpubound");
  const auto report = [&run](const Arguments& words) {
    Arguments all{"report", run};
    all.insert(all.end(), words.begin(), words.end());
    return Capture([&] { return Dispatch(all); }).out;
  };
  EXPECT_THAT(report({"--by", "kernel"}), HasSubstr("\n  gemm "));
  EXPECT_EQ(report({"--by", "kernel"}), report({"--kernels"}));
  EXPECT_THAT(report({"--by", "thread"}),
              HasSubstr("\nNo thread but the primary one has operations."));
}

TEST_F(ImportCommand, ARunOfWhichAProcessIsGoneIsIncomplete) {
  const std::string trace =
      R"([{"ph":"X","cat":"cpu_op","name":"a","pid":10,"tid":5,"ts":10,"dur":10},)"
      R"({"ph":"X","cat":"cpu_op","name":"a","pid":20,"tid":5,"ts":12,"dur":10}])";
  ASSERT_EQ(Import(trace, "x.gpubound").status, kExitSuccess);
  const std::string run = folder_.File("x.gpubound");
  const auto report = [&run] { return Capture([&] { return Dispatch({"report", run}); }).out; };
  EXPECT_THAT(report(), Not(HasSubstr("incomplete: ")));
  ASSERT_TRUE(std::filesystem::remove(run + "/imported.20.10000.0.db"));
  EXPECT_THAT(report(), HasSubstr("incomplete: "));
  const Captured doctor = Capture([&run] { return Dispatch({"doctor", run}); });
  EXPECT_EQ(doctor.status, kExitSuccess);  // as of a recorded run: data are lost, none is wrong
  EXPECT_THAT(doctor.out, HasSubstr("processes_missing"));
  EXPECT_THAT(doctor.out, HasSubstr("pid 20 of host imported"));
}

TEST_F(ImportCommand, AnOutputThatHoldsSomethingIsTwoAndStaysAsItIs) {
  ASSERT_EQ(Import(kTrace, "x.gpubound").status, kExitSuccess);
  const Captured again = Import(kTrace, "x.gpubound");
  EXPECT_EQ(again.status, kExitWrongUse);
  EXPECT_THAT(again.err, HasSubstr("the trace of another run"));
  EXPECT_TRUE(Exists("x.gpubound"));
}

TEST_F(ImportCommand, AnOutputBelowAFileIsTwo) {
  folder_.Write("file", "");
  EXPECT_EQ(Import(kTrace, "file/x.gpubound").status, kExitWrongUse);
}

TEST_F(ImportCommand, AnExistingEmptyOutputSurvivesAFailure) {
  std::filesystem::create_directory(folder_.File("x.gpubound"));
  EXPECT_EQ(Import("nothing", "x.gpubound").status, kExitUnreadable);
  EXPECT_TRUE(Exists("x.gpubound"));
  EXPECT_TRUE(std::filesystem::is_empty(folder_.File("x.gpubound")));
}

TEST_F(ImportCommand, ATraceMayComeThroughAPipe) {
  for (const char* file : {"-", "/dev/stdin", "/dev/fd/0"}) {
    for (const std::string& bytes : {std::string(kTrace), GzipText(kTrace)}) {
      const Captured imported = ImportFromPipe(file, bytes);
      EXPECT_EQ(imported.status, kExitSuccess) << file;
      EXPECT_THAT(imported.err, HasSubstr("imported 1 CPU and 0 GPU events")) << file;
      std::filesystem::remove_all(folder_.File("x.gpubound"));
    }
  }
  EXPECT_THAT(ImportFromPipe("-", "").err, HasSubstr("found an empty file"));
  EXPECT_THAT(ImportFromPipe("-", "text").err, HasSubstr("text that begins with 'text'"));
}

TEST_F(ImportCommand, ADatabaseThroughAPipeIsRefused) {
  const Captured imported = ImportFromPipe("-", std::string("SQLite format 3\0...", 20));
  EXPECT_EQ(imported.status, kExitUnreadable);
  EXPECT_THAT(imported.err, HasSubstr("a database that comes through a pipe"));
  EXPECT_THAT(imported.err, HasSubstr("Write it into a file"));
  EXPECT_FALSE(Exists("x.gpubound"));
}

TEST_F(ImportCommand, WithoutAFileItIsWrongUse) {
  EXPECT_EQ(Capture([] { return Dispatch({"import"}); }).status, kExitWrongUse);
}

}  // namespace
}  // namespace gpubound
