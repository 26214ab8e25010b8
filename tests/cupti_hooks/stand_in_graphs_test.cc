// SPDX-License-Identifier: Apache-2.0
//
// CUDA graphs against the stand-in libcupti, release by release.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "tests/cupti_hooks/stand_in_fixture.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;

// Graphs: three launches of one of two kernels and a memory set.

TEST_P(StandInReleaseTest, NodesOfGraphsAreRecordedWithTheirLaunchAndTheirCapture) {
  Run("graph-node", {{"cupti", GetParam()}});
  ASSERT_EQ(Work("scripted").size(), 6u);
  ASSERT_EQ(Calls("cudaGraphLaunch").size(), 3u);
  EXPECT_EQ(Work("scripted")[0]["correlation"], Calls("cudaGraphLaunch")[0]["correlation"]);
  const auto nodes = result_["graph_nodes"];
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0]["node"], Work("scripted")[0]["node"]);
  EXPECT_EQ(nodes[0]["graph"], Work("scripted")[0]["graph"]);
  EXPECT_EQ(nodes[0]["operation"], "capture");
  EXPECT_EQ(Ledger(LedgerCounter::graphs_before_recording), 0u);
  EXPECT_EQ(Ledger(LedgerCounter::graphs_recorded_whole), 0u);
}

TEST_P(StandInReleaseTest, WholeGraphsAreRecordedWithTheirLaunch) {
  Run("graph-graph", {{"cupti", GetParam()}});
  EXPECT_TRUE(Work("scripted").empty());
  ASSERT_EQ(Work("CUDA graph").size(), 3u);
  EXPECT_EQ(Work("CUDA graph")[0]["correlation"], Calls("cudaGraphLaunch")[0]["correlation"]);
  EXPECT_LT(Work("CUDA graph")[0]["start"], Work("CUDA graph")[0]["end"]);
  EXPECT_EQ(Ledger(LedgerCounter::graphs_recorded_whole), 3u);
  EXPECT_EQ(Ledger(LedgerCounter::graphs_before_recording), 0u);
  EXPECT_EQ(Ledger(LedgerCounter::graph_launches_lost), 0u);
}

TEST_F(StandInTest, AutomaticGraphsAreWholeAndTheirNodesHaveNamesAndOperations) {
  Run("graph-auto");
  ASSERT_EQ(Work("CUDA graph").size(), 3u);
  const auto nodes = result_["graph_nodes"];
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0]["name"], "scripted");
  EXPECT_EQ(nodes[2]["name"], "Memset");
  EXPECT_EQ(nodes[2]["operation"], "capture");
  EXPECT_EQ(nodes[0]["graph"], Work("CUDA graph")[0]["graph"]);
}

// A graph of two kernels that the program adds itself, the second of which it sets to "other".

class AddedNodesTest : public StandInTest {
 protected:
  void RunAdded(const std::string& workload, bool driver_api = false) {
    setenv("GPUBOUND_STAND_IN_DRIVER", GPUBOUND_STAND_IN_DRIVER, 1);
    Run(workload, {{"driver_api", driver_api}});
    unsetenv("GPUBOUND_STAND_IN_DRIVER");
  }
};

TEST_F(AddedNodesTest, AutomaticallyHaveTheNamesThatTheirCallsGaveThem) {
  RunAdded("added-auto");
  ASSERT_EQ(Work("CUDA graph").size(), 3u);
  const auto nodes = result_["graph_nodes"];
  ASSERT_EQ(nodes.size(), 3u) << nodes;
  EXPECT_EQ(nodes[0]["name"], "scripted");
  EXPECT_EQ(nodes[1]["name"], "scripted");
  EXPECT_EQ(nodes[2]["name"], "scripted or other");
  EXPECT_EQ(nodes[2]["node"], nodes[1]["node"]) << "the same one anew";
  for (const Json& node : nodes) {
    EXPECT_EQ(node["operation"], "capture");
    EXPECT_EQ(node["graph"], Work("CUDA graph")[0]["graph"]);
  }
}

TEST_F(AddedNodesTest, AreRecordedAsTheyRan) {
  RunAdded("added-node");
  EXPECT_EQ(Work("scripted").size(), 3u);
  ASSERT_EQ(Work("other").size(), 3u);
  EXPECT_EQ(Work("other")[0]["grid"], Json({16, 1, 1}));
  EXPECT_EQ(Work("other")[0]["correlation"], Calls("cudaGraphLaunch")[0]["correlation"]);
}

TEST_F(AddedNodesTest, HaveTheirNamesWhereTheProgramCallsTheDriverItself) {
  RunAdded("added-auto", /*driver_api=*/true);
  ASSERT_EQ(result_["graph_nodes"].size(), 3u);
  EXPECT_EQ(result_["graph_nodes"][2]["name"], "scripted or other");
}

TEST_F(AddedNodesTest, AskingForTheirNamesIsNoCallOfTheProgram) {
  RunAdded("added-auto", /*driver_api=*/true);
  EXPECT_TRUE(Calls("cuFuncGetName").empty());
  EXPECT_TRUE(Calls("cuKernelGetName").empty());
  EXPECT_EQ(Ledger(LedgerCounter::api_calls_suppressed), 0u);
  EXPECT_EQ(Calls("cuGraphAddKernelNode").size(), 1u);
}

TEST_F(StandInTest, BeforeTheDriverTellsNamesAddedKernelsHaveNone) {
  Run("added-auto");
  ASSERT_EQ(result_["graph_nodes"].size(), 2u);
  EXPECT_EQ(result_["graph_nodes"][0]["name"], "(kernel)");
  EXPECT_EQ(result_["graph_nodes"][0]["operation"], "capture");
}

TEST_F(StandInTest, AGraphFromBeforeTheRecordingIsCountedOnce) {
  Run("before-node");
  EXPECT_EQ(Work("scripted").size(), 6u);
  EXPECT_EQ(Ledger(LedgerCounter::graphs_before_recording), 1u);
  EXPECT_EQ(Ledger(LedgerCounter::graph_launches_lost), 0u);
}

// Whether there were any is then not known, which is not none.
TEST_F(StandInTest, BeforeCuda123GraphsFromBeforeTheRecordingCannotBeToldAndThatIsSaid) {
  for (const char* workload : {"before-node", "before-graph"}) {
    for (const auto& [release, notes] : std::map<std::string, size_t>{{"12.2", 1}, {"12.3", 0}}) {
      Run(workload, {{"cupti", release}});
      const auto said = result_["notes"].get<std::vector<std::string>>();
      ASSERT_EQ(said.size(), notes) << workload << " with " << release;
      for (const std::string& note : said) EXPECT_THAT(note, HasSubstr("before CUDA 12.3"));
    }
  }
}

TEST_F(StandInTest, LaunchesOfAGraphFromBeforeTheRecordingAreLostAsAWholeAndCounted) {
  Run("before-graph");
  ASSERT_EQ(Calls("cudaGraphLaunch").size(), 3u);
  EXPECT_TRUE(Work("CUDA graph").empty());
  EXPECT_TRUE(Work("scripted").empty());
  EXPECT_EQ(Ledger(LedgerCounter::graph_launches_lost), 3u);
}

}  // namespace
}  // namespace gpubound
