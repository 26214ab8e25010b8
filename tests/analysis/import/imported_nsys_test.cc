// SPDX-License-Identifier: Apache-2.0
//
// What is said of an Nsight Systems export that lacks tables, columns or names. The figures are
// compared in tests/oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "analysis/import/import.h"
#include "analysis/import/import_launches.h"
#include "analysis/reader/reader.h"
#include "analysis/trace/call_causes.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using testing_support::TemporaryRun;

class ImportedNsys : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  // Imports the full export after |change|, which is SQL.
  void Import(const std::string& change = "") {
    std::ifstream file(GPUBOUND_TEST_DATA "/import/nsys_full.sql");
    const std::string full{std::istreambuf_iterator<char>(file), {}};
    const std::string path = input_.File("export.sqlite");
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(path.c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, ("BEGIN;" + full + change + "COMMIT;").c_str(), nullptr,
                           nullptr, nullptr),
              SQLITE_OK)
        << sqlite3_errmsg(database);
    sqlite3_close(database);
    const auto summary = ImportTrace(path, output_.path());
    ASSERT_TRUE(summary.ok()) << summary.error().ToString();
    Result<Run> run = LoadRun(output_.path());
    ASSERT_TRUE(run.ok()) << run.error().ToString();
    run_ = std::move(*run);
    for (const Note& note : run_.processes.at(0).notes) notes_.push_back(note.text);
    EXPECT_EQ(summary->gaps, notes_);
  }

  static std::string Rename(const std::string& table, const std::string& column) {
    return "ALTER TABLE " + table + " RENAME COLUMN \"" + column + "\" TO other_" + column + ";";
  }

  std::vector<int64_t> Pids() const {
    std::vector<int64_t> pids;
    for (const ProcessTrace& process : run_.processes) pids.push_back(process.identity.pid);
    return pids;
  }

  uint64_t Counted(LedgerCounter counter) const { return run_.processes.at(0).Counted(counter); }

  // Whether GPU time of the whole span of process |p| is unknown.
  bool IsHidden(size_t p) const {
    const ProcessTrace& process = run_.processes.at(p);
    return std::any_of(process.unknown.begin(), process.unknown.end(), [&](const auto& unknown) {
      return unknown.start_ns == process.span_begin_ns && unknown.end_ns == process.span_end_ns;
    });
  }
  bool IsHidden100() const { return IsHidden(0); }
  bool IsHidden200() const { return IsHidden(1); }

  std::vector<std::string> Texts(LabelKind kind) const {
    std::vector<std::string> texts;
    for (const Label& label : run_.processes.at(0).labels) {
      if (label.kind == kind) texts.push_back(label.text);
    }
    return texts;
  }

  TemporaryRun input_;
  TemporaryRun output_;
  Run run_;
  std::vector<std::string> notes_;
};

TEST_F(ImportedNsys, AWholeExportLacksNothing) {
  Import();
  EXPECT_THAT(Pids(), ElementsAre(100, 200));
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_FALSE(IsHidden100());
  EXPECT_FALSE(IsHidden200());
}

// A table of GPU work.
class NsysWorkTable : public ImportedNsys, public testing::WithParamInterface<const char*> {
 protected:
  static std::string Table() { return std::string("CUPTI_ACTIVITY_KIND_") + GetParam(); }
};

TEST_P(NsysWorkTable, ThatCannotBeReadHidesAllGpuTime) {
  const std::string row =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start, end, globalPid);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES(1500, 1600, 100 << 24);";
  Import(row + Rename(Table(), "end"));
  EXPECT_EQ(Counted(LedgerCounter::import_tables_incomplete), 1u);
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 0u);
  EXPECT_TRUE(IsHidden100());
  EXPECT_TRUE(IsHidden200());
  EXPECT_THAT(notes_, Contains(HasSubstr("table " + Table() + " of the export has no column end")));
}

INSTANTIATE_TEST_SUITE_P(ImportedNsys, NsysWorkTable,
                         testing::Values("KERNEL", "MEMCPY", "MEMSET", "GRAPH_TRACE"));

TEST_F(ImportedNsys, AllColumnsThatATableLacksAreNamed) {
  Import(Rename("NVTX_EVENTS", "start") + Rename("NVTX_EVENTS", "globalTid"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("table NVTX_EVENTS of the export has no column start, "
                                            "globalTid, so nothing of it was read. Export")));
  EXPECT_FALSE(IsHidden100());
}

TEST_F(ImportedNsys, ATableWithoutRowsMayLackAnything) {
  Import("CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET(start);");
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(ImportedNsys, KernelsThatAreGoneHideTheGpuTimeOfWhoLaunchedThem) {
  Import("DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;");
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 1u);
  EXPECT_TRUE(IsHidden100());
  EXPECT_FALSE(IsHidden200());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("kernels that pid 100 launched are not in the export: "
                                            "none in table CUPTI_ACTIVITY_KIND_KERNEL.")));
}

TEST_F(ImportedNsys, CopiesAndGraphsThatAreGoneDoToo) {
  Import("DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY; DROP TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE;");
  EXPECT_EQ(Counted(LedgerCounter::import_launches_without_work), 2u);
  EXPECT_TRUE(IsHidden100());
  EXPECT_TRUE(IsHidden200());
  EXPECT_THAT(notes_,
              ElementsAre(HasSubstr("copies that pid 100"), HasSubstr("graphs that pid 200")));
}

TEST_F(ImportedNsys, CallsThatFailedMissNoWork) {
  Import(
      "DROP TABLE CUPTI_ACTIVITY_KIND_KERNEL;"
      "UPDATE CUPTI_ACTIVITY_KIND_RUNTIME SET returnValue = 2 WHERE correlationId = 2;");
  EXPECT_THAT(notes_, IsEmpty());
  EXPECT_FALSE(IsHidden100());
}

TEST_F(ImportedNsys, CallsOfNobodyMakeNoProcess) {
  Import(Rename("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid"));
  EXPECT_THAT(Pids(), ElementsAre(100, 200));
  EXPECT_EQ(Counted(LedgerCounter::import_tables_incomplete), 1u);
  EXPECT_FALSE(IsHidden100());  // there is GPU work, so it was traced
}

TEST_F(ImportedNsys, CallsOfNobodyHideGpuTimeWhereThereIsNoWork) {
  Import(Rename("CUPTI_ACTIVITY_KIND_RUNTIME", "globalTid") +
         "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL; DELETE FROM CUPTI_ACTIVITY_KIND_MEMCPY;"
         "DELETE FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE;");
  EXPECT_TRUE(IsHidden100());
  EXPECT_TRUE(IsHidden200());
}

TEST_F(ImportedNsys, RowsWithoutAThreadAreCountedAndSkipped) {
  Import(
      "INSERT INTO NVTX_EVENTS(start, end, eventType, text) VALUES(1100, 1200, 59, 'whose');"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME(start, end, nameId) VALUES(1100, 1200, 1);");
  EXPECT_THAT(Pids(), ElementsAre(100, 200));
  EXPECT_EQ(Counted(LedgerCounter::import_events_malformed), 2u);
}

TEST_F(ImportedNsys, RangesWithoutTextHaveAStatedName) {
  Import(Rename("NVTX_EVENTS", "text") + Rename("NVTX_EVENTS", "textId"));
  EXPECT_EQ(Counted(LedgerCounter::import_names_missing), 5u);  // of four ranges and a domain
  EXPECT_THAT(Texts(LabelKind::kAnnotation), AllOf(Contains("(unnamed)"), Not(Contains(""))));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("rows of NVTX_EVENTS have names that are not in")));
}

TEST_F(ImportedNsys, NamesThatStringIdsDoesNotHoldAreCountedAndStated) {
  Import("DROP TABLE StringIds;");
  // Four calls, two kernels, a domain and the two ranges that have no text of their own.
  EXPECT_EQ(Counted(LedgerCounter::import_names_missing), 9u);
  EXPECT_THAT(Texts(LabelKind::kApi), ElementsAre("(unnamed)"));
  EXPECT_EQ(run_.processes.at(0).works.at(1).name, "(unnamed kernel)");
  EXPECT_THAT(notes_, SizeIs(1));
}

TEST_F(ImportedNsys, ARangeThatNeverHadANameLostNone) {
  Import("UPDATE NVTX_EVENTS SET text = '' WHERE text = 'step';");
  EXPECT_THAT(Texts(LabelKind::kAnnotation), AllOf(Contains("(unnamed)"), Not(Contains(""))));
  EXPECT_THAT(notes_, IsEmpty());
}

TEST(WorkLaunchedBy, IsSaidByTheName) {
  for (const char* name : {"cudaLaunchKernel_v7000", "cuLaunchKernelEx", "hipLaunchKernel",
                           "cudaLaunchCooperativeKernel_ptsz_v9000"}) {
    EXPECT_EQ(WorkLaunchedBy(name), WorkKind::kKernel) << name;
  }
  EXPECT_EQ(WorkLaunchedBy("cuMemcpyHtoDAsync_v2"), WorkKind::kMemcpy);
  EXPECT_EQ(WorkLaunchedBy("cudaMemset2DAsync"), WorkKind::kMemset);
  EXPECT_EQ(WorkLaunchedBy("cudaGraphLaunch_v10000"), WorkKind::kGraph);
  for (const char* name : {"cudaLaunchHostFunc_v10000", "cudaStreamSynchronize", "cudaMalloc",
                           "cudaGraphAddMemcpyNode", "(unnamed)"}) {
    EXPECT_EQ(WorkLaunchedBy(name), WorkKind::kNone) << name;
  }
}

constexpr gpubound::ForeignLaunches::Words kWords = {"the export", {"", "a", "b", "c", "d"}, ""};

TEST(ForeignLaunches, ANoteNamesAFewProcesses) {
  const TemporaryRun folder;
  ForeignTrace trace(folder.path());
  gpubound::ForeignLaunches launches(kWords);
  for (int pid = 1; pid <= 10; ++pid) {
    launches.AddCall(trace.names.Process(std::to_string(pid)), "cudaLaunchKernel", 0);
  }
  launches.NoteMissing(&trace);
  ASSERT_THAT(trace.gaps, SizeIs(1));
  EXPECT_EQ(trace.gaps.at(0).count, 10u);
  EXPECT_THAT(trace.gaps.at(0).processes, SizeIs(10));
  EXPECT_THAT(trace.gaps.at(0).note, HasSubstr("pids 1, 2, 3, 4, 5, 6, 7, 8 and 2 more launched"));
}

TEST(ForeignLaunches, WorkOfAnybodyMayBeWhatWasLaunched) {
  const TemporaryRun folder;
  ForeignTrace trace(folder.path());
  gpubound::ForeignLaunches launches(kWords);
  launches.AddCall(trace.names.Process("1"), "cudaLaunchKernel", 0);
  launches.AddWork(kNoIndex, WorkKind::kKernel, /*in_graph=*/false);
  launches.NoteMissing(&trace);
  EXPECT_THAT(trace.gaps, IsEmpty());
}

}  // namespace
}  // namespace gpubound
