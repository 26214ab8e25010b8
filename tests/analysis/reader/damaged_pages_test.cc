// SPDX-License-Identifier: Apache-2.0
//
// What a report says of a trace in which one page of the database is damaged, for every page: where
// a figure differs from that of the sound trace, the verdict must not be "complete".
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/correction/run_report.h"
#include "analysis/output/text/ledger_text.h"
#include "analysis/report/report_json.h"
#include "analysis/segments/sqlite.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::json;
namespace fs = std::filesystem;

constexpr size_t kPageBytes = 4096;
constexpr int64_t kEndNs = 400'000;

class DamagedPagesTest : public testing::Test {
 protected:
  DamagedPagesTest() {
    WriteTrace();
    sound_ = Read(File());
  }

  std::string File() const { return run_.File("host.100.5.0.db"); }

  static std::string Read(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  // Every table that a report's figures rest on holds rows, and chunks fill pages of their own.
  // |sql|: what happens to it in the end.
  void WriteTrace(const std::string& sql = "") const {
    SegmentWriter writer(run_, {});
    writer.PutUsualRows();
    writer.Meta("end_monotonic_ns", kEndNs);
    writer.Sql("INSERT INTO unknown VALUES(1, 390000, 391000, 'paused')");
    writer.Sql("INSERT INTO note VALUES(1, 5, 'hello')");
    writer.Sql("INSERT INTO ledger VALUES('backpressure_waits', 3)");
    std::vector<Slot> scopes;
    std::vector<ApiRecord> calls;
    std::vector<DeviceRecord> work;
    for (uint64_t i = 0; i < 2000; ++i) {
      const uint64_t t = 100 * i;
      scopes.push_back(Begin(i % 3 == 0 ? kInner : kTrain, t));
      scopes.push_back(End(i % 3 == 0 ? kInner : kTrain, t + 60 + i * i % 31));
      calls.push_back(Launch(t + 10, t + 12 + i * i % 7, static_cast<uint32_t>(i + 1)));
      work.push_back(Kernel(t + 20, t + 40 + i * i % 43, static_cast<uint32_t>(i + 1)));
    }
    writer.Scopes({.thread = 1}, scopes);
    writer.Calls({.thread = 9}, calls);
    writer.Work({.thread = 9}, work);
    if (!sql.empty()) writer.Sql(sql);
  }

  // Writes the sound trace with |page| filled with |byte|.
  void Damage(size_t page, char byte) const {
    std::string bytes = sound_;
    bytes.replace(page * kPageBytes, kPageBytes, kPageBytes, byte);
    std::ofstream(File(), std::ios::binary | std::ios::trunc) << bytes;
  }

  // The page on which table |name| begins.
  size_t RootPageOf(const std::string& name) const {
    Result<Database> database = Database::OpenReadOnly(File());
    const std::string sql = "SELECT rootpage FROM sqlite_master WHERE name='" + name + "'";
    return static_cast<size_t>(database->Scalar(sql, 0)) - 1;
  }

  Result<Report> ReportNow() const { return ReportOfRun(run_.path(), {}); }

  static Json FiguresOf(const Report& report) {
    const Json json = Json::parse(RenderJson(report));
    return {json["processes"], json["devices"]};
  }

  TemporaryRun run_;
  std::string sound_;
};

// It says nothing that the table does not.
TEST_F(DamagedPagesTest, AnIndexOfChunksThatIsDamagedOrNotThereChangesNothing) {
  const Result<Report> sound = ReportNow();
  ASSERT_TRUE(sound.ok());
  const size_t page = RootPageOf("chunk_head");
  ASSERT_GT(page, 0u);
  Damage(page, '\xff');
  const Result<Report> damaged = ReportNow();
  ASSERT_TRUE(damaged.ok());
  EXPECT_EQ(RenderJson(*damaged), RenderJson(*sound));
  fs::remove(File());
  WriteTrace("DROP INDEX chunk_head");
  ASSERT_EQ(RootPageOf("chunk_head") + 1, 0u);
  const Result<Report> without = ReportNow();
  ASSERT_TRUE(without.ok());
  EXPECT_EQ(RenderJson(*without), RenderJson(*sound));
}

TEST_F(DamagedPagesTest, NoFigureChangesUnderTheVerdictComplete) {
  const Result<Report> sound = ReportNow();
  ASSERT_TRUE(sound.ok());
  const Json figures = FiguresOf(*sound);
  int changed = 0;
  for (const char byte : {'\0', '\xff'}) {
    for (size_t page = 0; page < sound_.size() / kPageBytes; ++page) {
      Damage(page, byte);
      const Result<Report> report = ReportNow();
      if (!report.ok() || FiguresOf(*report) == figures) continue;
      ++changed;
      EXPECT_THAT(report->run.verdict, StartsWith("doubtful")) << "page " << page;
      EXPECT_TRUE(LedgerHasError(*report)) << "page " << page;
      EXPECT_FALSE(report->notes.empty()) << "page " << page;
    }
  }
  EXPECT_GT(changed, 10);
}

TEST_F(DamagedPagesTest, WithoutTheRowsOfItsDevicesGpuTimeIsUnknown) {
  for (const char* table : {"device", "stream", "work", "unknown"}) {
    Damage(RootPageOf(table), '\0');
    const Result<Report> report = ReportNow();
    ASSERT_TRUE(report.ok());
    const ReportProcess& process = report->processes.at(0);
    EXPECT_EQ(process.unknown_ns, kEndNs - process.gpu_busy_ns) << table;
    std::ofstream(File(), std::ios::binary | std::ios::trunc) << sound_;
  }
}

TEST_F(DamagedPagesTest, DamagedFactsOfTheProcessAreNamed) {
  Damage(RootPageOf("meta"), '\0');
  const Result<Report> report = ReportNow();
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->notes, testing::Contains(HasSubstr("table meta can be read in part only")));
}

TEST_F(DamagedPagesTest, AnUnreadableProcessIsAnErrorOfTheRun) {
  run_.Write("host.1.2.0.db", std::string(kPageBytes, '\0'));
  const Result<Report> report = ReportNow();
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->processes.size(), 1u);
  EXPECT_THAT(report->run.verdict, HasSubstr("cannot be read at all"));
  EXPECT_TRUE(LedgerHasError(*report));
  EXPECT_THAT(Json::parse(RenderJson(*report))["notes"].dump(), HasSubstr("host.1.2.0.db"));
}

TEST_F(DamagedPagesTest, AnUnreadableRecordOfTheLauncherIsAnErrorOfTheRun) {
  run_.Write("run.json", "{");
  const Result<Report> report = ReportNow();
  ASSERT_TRUE(report.ok());
  EXPECT_THAT(report->run.verdict, HasSubstr("cannot be read at all"));
}

}  // namespace
}  // namespace gpubound
