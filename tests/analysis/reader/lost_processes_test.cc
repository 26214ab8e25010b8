// SPDX-License-Identifier: Apache-2.0
//
// Two processes on one device, of which one is gone in part or in whole: what the device did in all
// is then at least what is left, and nothing that rests on more is decided.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <variant>

#include "analysis/correction/run_report.h"
#include "analysis/output/check/check.h"
#include "analysis/output/check/requirement.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
namespace fs = std::filesystem;

constexpr char kOtherFile[] = "host.200.6.0.db";

class LostProcessesTest : public testing::Test {
 protected:
  // The other one works from 600 to 900, where this one does not.
  LostProcessesTest() {
    WriteProcess({}, Kernel(100, 500, 1));
    WriteProcess({"host", 200, 6}, Kernel(600, 900, 1));
    WriteRecord(R"("host.100.5", "host.200.6")");
  }

  void WriteProcess(const WriterIdentity& identity, const DeviceRecord& kernel) const {
    SegmentWriter writer(run_, identity);
    writer.PutUsualRows();
    writer.Calls({.thread = 9}, {Launch(10, 20, 1)});
    writer.Work({.thread = 9}, {kernel});
  }
  void WriteRecord(const std::string& recorded) const {
    run_.Write("run.json", R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 100,
                               "end_monotonic_ns": 1000, "recorded": [)" +
                               recorded + "]}");
  }
  std::string Other() const { return run_.File(kOtherFile); }
  void InOther(const std::string& sql) const {
    SegmentWriter writer(run_, {"other", 1, 1});
    writer.Sql("ATTACH '" + Other() + "' AS it");
    writer.Sql(sql);
    writer.Close();
    fs::remove(writer.path());
  }

  AnalyzedRun Analyze() const {
    Result<AnalyzedRun> analyzed = AnalyzeRun(run_.path(), {});
    EXPECT_TRUE(analyzed.ok()) << (analyzed.ok() ? "" : analyzed.error().ToString());
    return analyzed.ok() ? std::move(*analyzed) : AnalyzedRun{};
  }
  uint64_t Unlisted() const {
    return Analyze().run.ledger[static_cast<size_t>(LedgerCounter::processes_unlisted)];
  }
  static Outcome Judged(const Report& report, const char* text) {
    return Judge(std::get<Requirement>(ParseRequirement(text)), report, nullptr).outcome;
  }

  void ExpectLowerBound() const {
    const Report report = Analyze().report;
    EXPECT_TRUE(report.run.gpu_busy_is_lower_bound);
    for (const ReportDevice& device : report.devices) EXPECT_TRUE(device.busy_is_lower_bound);
    EXPECT_THAT(report.run.verdict, HasSubstr("lower bounds"));
    EXPECT_EQ(Judged(report, "gpu_busy<=50%"), Outcome::kUndecided);
    EXPECT_EQ(Judged(report, "idle>=50%"), Outcome::kUndecided);
    EXPECT_EQ(Judged(report, "gpu_busy>=30%"), Outcome::kHolds);
  }

  TemporaryRun run_;
};

TEST_F(LostProcessesTest, WithBothNothingIsABound) {
  const Report report = Analyze().report;
  EXPECT_FALSE(report.run.gpu_busy_is_lower_bound);
  EXPECT_FALSE(report.devices.at(0).busy_is_lower_bound);
  EXPECT_EQ(Judged(report, "gpu_busy<=50%"), Outcome::kFails);
}

TEST_F(LostProcessesTest, OneThatIsMissingMayHaveWorked) {
  fs::remove(Other());
  ExpectLowerBound();
}

TEST_F(LostProcessesTest, OneThatIsEmptyMayHaveWorked) {
  fs::resize_file(Other(), 0);
  ExpectLowerBound();
}

TEST_F(LostProcessesTest, OneThatIsUnreadableMayHaveWorkedThoughNobodyListsIt) {
  fs::remove(run_.File("run.json"));
  run_.Write(kOtherFile, std::string(5000, 'x'));
  ExpectLowerBound();
}

TEST_F(LostProcessesTest, OneOfWhichAPageIsLeftMayHaveWorked) {
  fs::resize_file(Other(), 4096);
  ExpectLowerBound();
}

// Its name says that it began a nanosecond after the other one.
TEST_F(LostProcessesTest, OneOfWhichAPageIsLeftHasNoSpanAndLeavesTheRunsAlone) {
  fs::resize_file(Other(), 4096);
  for (const bool recorded : {true, false}) {
    if (!recorded) fs::remove(run_.File("run.json"));
    const Report report = Analyze().report;
    EXPECT_EQ(report.run.wall_ns, 1000);
    EXPECT_EQ(report.processes.at(1).span_ns, 0);
  }
}

TEST_F(LostProcessesTest, TheRootOfWhichAPageIsLeftIsUnknownFromTheLaunchersStartOn) {
  fs::remove(Other());
  constexpr int64_t kBootNs = 24'000'000'000'000;
  fs::resize_file(run_.File("host.100.5.0.db"), 4096);
  run_.Write("run.json", R"({"format": "gpubound.run.v1", "host": "host", "root_pid": 100,
                             "start_realtime_ns": 2, "start_monotonic_ns": )" +
                             std::to_string(kBootNs) + R"(, "end_monotonic_ns": )" +
                             std::to_string(kBootNs + 1000) + "}");
  const Report report = Analyze().report;
  EXPECT_EQ(report.run.wall_ns, 997) << "it began at 5";
  EXPECT_EQ(report.processes.at(0).unknown_ns, 997);
}

TEST_F(LostProcessesTest, WithoutItsBeginASpanBeginsWithTheFirstEventOrWhereItsNameSays) {
  fs::remove(run_.File("run.json"));
  InOther("DELETE FROM it.meta WHERE key = 'start_monotonic_ns'");
  const Report by_name = Analyze().report;
  EXPECT_EQ(by_name.processes.at(1).span_ns, 999);   // from 1 on, as the other from 0
  EXPECT_EQ(by_name.processes.at(1).unknown_ns, 9);  // up to the first call
  fs::remove(run_.File("host.100.5.0.db"));
  EXPECT_EQ(Analyze().report.processes.at(0).span_ns, 990);
}

TEST_F(LostProcessesTest, OneWhoseDevicesCannotBeReadMayHaveWorkedOnAny) {
  InOther("DROP TABLE it.device");
  ExpectLowerBound();
}

TEST_F(LostProcessesTest, WhatNvidiaSmiWouldHaveSaidMayBeMoreToo) {
  fs::remove(Other());
  const Report report = Analyze().report;
  EXPECT_EQ(Judged(report, "inflation<=1000"), Outcome::kHolds);
  EXPECT_EQ(Judged(report, "inflation>=1.5"), Outcome::kUndecided);
}

TEST_F(LostProcessesTest, DevicesThatNobodyIsSeenToUseAreNotCalledUnused) {
  InOther("DELETE FROM it.chunk");
  InOther("INSERT INTO it.device(id, ordinal, uuid, name) VALUES(2, 1, 'GPU-2', 'second')");
  const size_t unused = Analyze().report.run.devices_unused.size();
  WriteRecord(R"("host.100.5", "host.200.6", "host.300.7")");
  EXPECT_EQ(unused, 1u);
  EXPECT_TRUE(Analyze().report.run.devices_unused.empty());
}

TEST_F(LostProcessesTest, OneWhoseFileAnothersWasCopiedOverIsMissing) {
  for (const bool listed : {true, false}) {
    if (!listed) fs::remove(run_.File("run.json"));
    fs::copy_file(run_.File("host.100.5.0.db"), Other(), fs::copy_options::overwrite_existing);
    const AnalyzedRun analyzed = Analyze();
    EXPECT_EQ(analyzed.run.processes.size(), 1u);
    EXPECT_EQ(analyzed.report.processes.at(0).gpu_busy_ns, 400);
    EXPECT_THAT(
        analyzed.report.notes,
        Contains(AllOf(HasSubstr("host.200.6.0.db: found segment 0 of process 100"),
                       HasSubstr("expected segment 0 of process 200"), HasSubstr("is left out"))));
    EXPECT_THAT(analyzed.report.notes,
                Contains(HasSubstr("pid 200 of host host was recorded, but none")));
    EXPECT_THAT(analyzed.report.run.verdict, HasSubstr("than their names say"));
    ExpectLowerBound();
  }
}

TEST_F(LostProcessesTest, AFileThatWasRenamedIsThatOfWhomItSays) {
  fs::rename(Other(), run_.File("host.300.6.0.db"));
  const AnalyzedRun analyzed = Analyze();
  ASSERT_EQ(analyzed.run.processes.size(), 2u);
  EXPECT_EQ(analyzed.run.processes[1].identity.pid, 200);
  EXPECT_EQ(analyzed.run.ledger[static_cast<size_t>(LedgerCounter::files_misnamed)], 1u);
  EXPECT_FALSE(analyzed.report.run.gpu_busy_is_lower_bound) << "nobody is missing";
}

TEST_F(LostProcessesTest, ASegmentOfTheSameProcessUnderAnotherNumberIsMisnamed) {
  fs::copy_file(Other(), run_.File("host.200.6.1.db"));
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(analyzed.report.processes.at(1).gpu_busy_ns, 300);
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("expected segment 1 of process 200")));
}

TEST_F(LostProcessesTest, AnotherProcesssMappingIsLeftOut) {
  LiveWriter live({});
  live.AddWork(9, 1, {Kernel(910, 990, 2)});
  run_.Write(LiveWriter::NameFor({"host", 200, 6}), live.Bytes());
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(analyzed.report.processes.at(1).gpu_busy_ns, 300);
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("found the live mapping of process 100")));
}

// The recorder puts into the name of a file what may stand there.
TEST_F(LostProcessesTest, HostsWithNamesThatNoFileHasAreNotMisnamed) {
  InOther("UPDATE it.meta SET value = 'h o t' WHERE key = 'host'");
  fs::rename(Other(), run_.File("h_o_t.200.6.0.db"));
  WriteRecord(R"("host.100.5", "h_o_t.200.6")");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(analyzed.run.processes.size(), 2u);
  EXPECT_THAT(analyzed.report.run.verdict, Not(HasSubstr("names")));
  EXPECT_FALSE(analyzed.report.run.gpu_busy_is_lower_bound);
}

TEST_F(LostProcessesTest, AProcessThatWasNotThereWhenTheCommandHadEndedIsNoted) {
  WriteRecord(R"("host.100.5")");
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Unlisted(), 1u);
  EXPECT_THAT(
      analyzed.report.notes,
      Contains(HasSubstr("pid 200 (program) of host host has files here, but had none when")));
  EXPECT_THAT(analyzed.report.run.verdict, StartsWith("complete")) << "it counts like all others";
}

TEST_F(LostProcessesTest, OfManyThatWereNotThereThereAreFewNotes) {
  WriteRecord(R"("host.100.5")");
  for (int64_t pid = 300; pid < 325; ++pid) WriteProcess({"host", pid, 6}, Kernel(600, 900, 1));
  const AnalyzedRun analyzed = Analyze();
  EXPECT_EQ(Unlisted(), 26u);
  EXPECT_THAT(analyzed.report.notes, Contains(HasSubstr("has files here")).Times(20));
  EXPECT_THAT(analyzed.report.notes, Contains("6 more processes have files here, but had none when "
                                              "the command had ended."));
}

TEST_F(LostProcessesTest, WithoutAListNobodyIsUnlistedAndOtherHostsMayWriteLate) {
  WriteRecord("");
  EXPECT_EQ(Unlisted(), 0u);
  fs::remove(run_.File("run.json"));
  EXPECT_EQ(Unlisted(), 0u);
  WriteProcess({"elsewhere", 300, 7}, Kernel(100, 500, 1));
  WriteRecord(R"("host.100.5", "host.200.6")");
  EXPECT_EQ(Unlisted(), 0u);
}

// As NVML lists it.
TEST_F(LostProcessesTest, OneThatIsLostIsNoStranger) {
  const auto sees = [this](const char* pid) {
    SegmentWriter writer(run_, {"other", 1, 1});
    writer.Sql("ATTACH '" + run_.File("host.100.5.0.db") + "' AS it");
    writer.Sql(std::string("INSERT INTO it.device_client SELECT uuid, ") + pid +
               ", 'python', 0, 100, 900 FROM it.device");
    writer.Close();
    fs::remove(writer.path());
  };
  sees("100");
  sees("200");
  fs::remove(Other());
  EXPECT_THAT(Analyze().report.notes, Not(Contains(HasSubstr("is not part of the run"))));
}

}  // namespace
}  // namespace gpubound
