// SPDX-License-Identifier: Apache-2.0
//
// Which job of a parallel launcher a process belongs to, and that its ranks share a run directory.
#include "tools/launch/launched_job.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "tests/tools/tool_fixtures.h"
#include "tools/launch/run_directory.h"
#include "tools/launch/run_record.h"

namespace gpubound {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

std::string JobIn(const std::map<std::string, std::string>& environment) {
  return LaunchedJob([&environment](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

TEST(LaunchedJobTest, IsWhatTheLauncherCallsIt) {
  EXPECT_EQ(JobIn({{"OMPI_COMM_WORLD_RANK", "3"},
                   {"OMPI_COMM_WORLD_SIZE", "4"},
                   {"PMIX_NAMESPACE", "376438785"}}),
            "376438785");
  EXPECT_EQ(JobIn({{"SLURM_PROCID", "0"},
                   {"SLURM_STEP_NUM_TASKS", "2"},
                   {"SLURM_JOB_ID", "812"},
                   {"SLURM_STEP_ID", "1"}}),
            "812-1");
}

TEST(LaunchedJobTest, OneProcessByItselfIsOfNone) {
  const std::map<std::string, std::string> batch = {{"SLURM_JOB_ID", "812"}, {"SLURM_PROCID", "0"}};
  EXPECT_EQ(JobIn({}), "");
  EXPECT_EQ(JobIn(batch), "") << "a job script, which no step has started";
  EXPECT_EQ(JobIn({{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"PMIX_NAMESPACE", "7"}}), "");
}

TEST(LaunchedJobTest, WithoutANameItIsWhoStartedItsRanksHere) {
  EXPECT_THAT(JobIn({{"PMI_RANK", "0"}, {"PMI_SIZE", "8"}}), EndsWith(std::to_string(getppid())));
}

class JobDirectoryTest : public testing::Test {
 protected:
  void Record(const std::string& job, bool ended) {
    RunRecord record;
    record.job = job;
    if (ended) record.end_monotonic_ns = 1;
    ASSERT_TRUE(WriteRunRecord(path_, record, /*replace=*/true).ok());
  }

  TemporaryFolder temporary_;
  const std::string path_ = temporary_.File("x.gpubound");
};

TEST_F(JobDirectoryTest, IsTakenByTheRanksThatComeLater) {
  ASSERT_TRUE(MakeRunDirectoryOfJob(path_, "812-1").ok());
  Record("812-1", /*ended=*/false);
  const Result<RunDirectory> joined = MakeRunDirectoryOfJob(path_, "812-1");
  ASSERT_TRUE(joined.ok()) << joined.error().ToString();
  EXPECT_FALSE(joined->created);
}

TEST_F(JobDirectoryTest, IsRefusedToAnotherJobAndToTheSameNameLater) {
  ASSERT_TRUE(MakeRunDirectoryOfJob(path_, "812-1").ok());
  Record("812-1", /*ended=*/false);
  const Result<RunDirectory> other = MakeRunDirectoryOfJob(path_, "812-2");
  ASSERT_FALSE(other.ok());
  EXPECT_THAT(other.error().ToString(), HasSubstr("expected a directory that is empty"));
  Record("812-1", /*ended=*/true);
  EXPECT_FALSE(MakeRunDirectoryOfJob(path_, "812-1").ok());
}

TEST_F(JobDirectoryTest, WithoutAPathItIsNamedByTheJobAndEachJobHasItsOwn) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(temporary_.path());
  for (const char* name : {"train-none.gpubound", "train-none-2.gpubound"}) {
    const Result<RunDirectory> made = MakeNamedRunDirectoryOfJob("./train", "none");
    ASSERT_TRUE(made.ok()) << made.error().ToString();
    EXPECT_EQ(std::filesystem::path(made->path).filename(), name);
    RunRecord record;
    record.job = "none";
    ASSERT_TRUE(WriteRunRecord(made->path, record, /*replace=*/false).ok());
    EXPECT_EQ(MakeNamedRunDirectoryOfJob("./train", "none")->path, made->path);
    record.end_monotonic_ns = 1;
    ASSERT_TRUE(WriteRunRecord(made->path, record, /*replace=*/true).ok());
    std::ofstream(std::filesystem::path(made->path) / "vm.1.2.0.db");
  }
  std::filesystem::current_path(before);
}

}  // namespace
}  // namespace gpubound
