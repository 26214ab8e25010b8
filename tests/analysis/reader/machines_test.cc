// SPDX-License-Identifier: Apache-2.0
#include "analysis/reader/machines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/attribution/build_report.h"
#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char kHere[] = "11111111-aaaa-bbbb-cccc-dddddddddddd";
constexpr char kThere[] = "22222222-aaaa-bbbb-cccc-dddddddddddd";

class MachinesTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  ProcessTrace& Add(int64_t pid, const std::string& boot_id) {
    ProcessTrace& process = run_.processes.emplace_back();
    process.identity = {"localhost", pid, pid};
    process.boot_id = boot_id;
    return process;
  }
  std::vector<std::string> Hosts() {
    SeparateMachines(&running_, &run_);
    std::vector<std::string> hosts;
    for (const ProcessTrace& process : run_.processes) hosts.push_back(process.identity.host);
    return hosts;
  }
  void AddRank(int64_t rank, int64_t size, const std::string& variable = "RANK") {
    Add(static_cast<int64_t>(run_.processes.size()) + 1, kHere).job = {variable, rank, size};
  }
  uint64_t RanksMissing() {
    NoteMissingRanks(&run_);
    return run_.Count(LedgerCounter::ranks_missing);
  }

  Run run_;
  std::set<ProcessIdentity> running_;
};

TEST_F(MachinesTest, TwoOfOneNameGetNamesOfTheirOwnInOrderOfIdentity) {
  Add(1, kHere);
  Add(2, kThere);
  Add(3, kHere);
  running_ = {run_.processes[1].identity, run_.processes[2].identity};
  EXPECT_THAT(Hosts(), ElementsAre("localhost", "localhost", "localhost#22222222"));
  EXPECT_EQ(run_.processes[1].identity.pid, 3);
  EXPECT_THAT(run_.problems, ElementsAre(StartsWith("2 machines are called localhost.")));
  EXPECT_THAT(running_, ElementsAre(ProcessIdentity{"localhost", 3, 3},
                                    ProcessIdentity{"localhost#22222222", 2, 2}));
}

TEST_F(MachinesTest, TheLaunchersMachineKeepsItsName) {
  run_.info.emplace().host = "localhost";
  run_.info->boot_id = kThere;
  Add(1, kHere);
  Add(2, kThere);
  EXPECT_THAT(Hosts(), ElementsAre("localhost", "localhost#11111111"));
}

TEST_F(MachinesTest, OneMachineAndTracesThatDoNotTellKeepTheirNames) {
  Add(1, kHere);
  Add(2, "");
  Add(3, kHere);
  EXPECT_THAT(Hosts(), ElementsAre("localhost", "localhost", "localhost"));
  EXPECT_THAT(run_.problems, IsEmpty());
}

TEST_F(MachinesTest, RanksThatAreNotThereAreNamed) {
  for (const int64_t rank : {0, 1, 3, 8, 9}) AddRank(rank, 12);
  EXPECT_EQ(RanksMissing(), 7u);
  EXPECT_THAT(run_.problems,
              ElementsAre(HasSubstr("Of the 12 ranks of the job (RANK) 7 are not here: 2, 4 to 7, "
                                    "10, 11.")));
}

TEST_F(MachinesTest, AWholeJobAndProcessesThatARankHasStartedLackNobody) {
  for (const int64_t rank : {0, 1, 1, 1}) AddRank(rank, 2);
  Add(10, kHere);
  EXPECT_EQ(RanksMissing(), 0u);
  EXPECT_THAT(run_.problems, IsEmpty());
}

TEST_F(MachinesTest, JobsOfSeveralSizesAreCountedEachForItself) {
  AddRank(0, 2);  // a launcher on each of two nodes, of which one is here
  for (const int64_t rank : {0, 1, 2, 3}) AddRank(rank, 4);
  EXPECT_EQ(RanksMissing(), 1u);
}

TEST_F(MachinesTest, OfManyMissingRanksTheFirstAreNamed) {
  for (int64_t rank = 0; rank < 40; rank += 2) AddRank(rank, 40);
  EXPECT_EQ(RanksMissing(), 20u);
  EXPECT_THAT(run_.problems, ElementsAre(HasSubstr("1, 3, 5, 7, 9, 11, 13, 15 and others.")));
}

// Through the files, up to the verdict.
TEST(MachinesOfATraceTest, ARankThatIsAbsentMakesTheRunIncomplete) {
  TemporaryRun files;
  for (const int64_t pid : {100, 101}) {
    SegmentWriter writer(files, {"host", pid, pid});
    writer.PutUsualRows();
    writer.Meta("boot_id", pid == 100 ? kHere : kThere);
    writer.Meta("rank", pid - 100);
    writer.Meta("world_size", 3);
    writer.Meta("rank_variable", "RANK");
  }
  Result<gpubound::Run> run = LoadRun(files.path());
  ASSERT_TRUE(run.ok());
  EXPECT_EQ((*run).processes[1].identity.host, "host#22222222");
  EXPECT_EQ((*run).processes[1].job->rank, 1);
  const Result<Report> report = BuildReport(*run);
  ASSERT_TRUE(report.ok());
  EXPECT_THAT((*report).run.verdict, StartsWith("incomplete: Ranks of a job"));
  EXPECT_THAT((*report).notes, Contains(HasSubstr("1 is not here: 2.")));
}

}  // namespace
}  // namespace gpubound
