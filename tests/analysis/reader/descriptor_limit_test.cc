// SPDX-License-Identifier: Apache-2.0
//
// Runs of more files than a process may have open.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <filesystem>
#include <string>

#include "analysis/attribution/build_report.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report_json.h"
#include "analysis/segments/sqlite.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;

// The soft limit alone, until the end of the scope.
class DescriptorLimit {
 public:
  explicit DescriptorLimit(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = most;
    EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  }
  ~DescriptorLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  DescriptorLimit(const DescriptorLimit&) = delete;
  DescriptorLimit& operator=(const DescriptorLimit&) = delete;

 private:
  rlimit before_;
};

void WriteProcesses(const TemporaryRun& run, int processes) {
  for (int i = 0; i < processes; ++i) {
    SegmentWriter writer(run, {.pid = 100 + i});
    writer.PutUsualRows();
    writer.Scopes({.thread = 1}, {Begin(kTrain, 0), End(kTrain, 500)});
    writer.Work({.thread = 2}, {Kernel(100, 300, 1)});
  }
}

std::string Json(const std::string& path) {
  const Result<Run> run = OpenRun(path);
  if (!run.ok()) return run.error().found;
  const Result<Report> report = BuildReport(*run);
  return report.ok() ? RenderJson(*report) : report.error().found;
}

TEST(DescriptorLimit, ARunOfTwiceAsManyProcessesIsReadTheSame) {
  const TemporaryRun run;
  WriteProcesses(run, 520);
  const std::string unlimited = [&] {
    const DescriptorLimit most(1000);
    return Json(run.path());
  }();
  const DescriptorLimit limit(256);
  const std::string limited = Json(run.path());
  EXPECT_NE(limited.find("\"pid\": 619"), std::string::npos);
  EXPECT_TRUE(limited == unlimited);
}

TEST(DescriptorLimit, AFileForWhichNoDescriptorIsLeftIsNotSaidToBeUnreadable) {
  const TemporaryRun run;
  WriteProcesses(run, 1);
  const std::string path = OpenRun(run.path())->path;
  std::string file;
  for (const auto& entry : std::filesystem::directory_iterator(path)) file = entry.path().string();
  const DescriptorLimit limit(3);
  const Result<Database> opened = Database::OpenReadOnly(file);
  ASSERT_FALSE(opened.ok());
  EXPECT_NE(opened.error().found.find("no file descriptor left of the 3"), std::string::npos);
  EXPECT_NE(opened.error().remedy.find("ulimit -n"), std::string::npos);
}

}  // namespace
}  // namespace gpubound
