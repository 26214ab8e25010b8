// SPDX-License-Identifier: Apache-2.0
//
// The stand-ins keep CUDA's and CUPTI's protocol as documented and observed.
#include <set>
#include <utility>

#include "tests/fake_cupti/protocol_fixture.h"

namespace gpubound::sim {
namespace {

TEST_F(ProtocolTest, RecordsOfEachKindCarryWhatHappened) {
  const Json result =
      Run({{"workload", "basic"}, {"kinds", {kRuntime, kKernel, kMemcpy, kMemset, kSync}}},
          {{"device", {{"kernels", {{"scripted", 123456}}}}}});
  const auto kernels = Records(result, kKernel);
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(Duration(kernels[0]), 123456);
  EXPECT_EQ(kernels[0]["name"], "scripted");
  EXPECT_EQ(kernels[0]["stream"], 7);
  EXPECT_EQ(kernels[0]["grid"], 4);
  EXPECT_EQ(kernels[0]["registers"], 24);
  EXPECT_EQ(Records(result, kMemcpy).size(), 2u);
  EXPECT_EQ(Records(result, kMemset).size(), 1u);
  EXPECT_EQ(Records(result, kSync).size(), 1u);
  EXPECT_THAT(CallNames(result),
              ::testing::ElementsAre("cudaMalloc_v3020", "cudaMemcpy_v3020",
                                     "cudaMemsetAsync_v3020", "cudaLaunchKernel_v7000",
                                     "cudaDeviceSynchronize_v3020", "cudaMemcpy_v3020"));
}

TEST_F(ProtocolTest, MemoryIsReallyCopiedAndSet) {
  const Json result = Run({{"workload", "basic"}});
  EXPECT_EQ(result["workload"]["first"], 1);
  EXPECT_EQ(result["workload"]["last"], 'x');
}

TEST_F(ProtocolTest, HostBodiesComputeOnArgumentsAsTheyWereAtLaunch) {
  const Json result = Run({{"workload", "bodies"}, {"kinds", {kKernel}}});
  EXPECT_EQ(result["workload"]["first"], 103);
  EXPECT_EQ(result["workload"]["last"], 103);
  EXPECT_EQ(Records(result, kKernel).size(), 2u);
}

TEST_F(ProtocolTest, LaunchAndKernelShareACorrelationId) {
  const Json result = Run({{"workload", "basic"}, {"kinds", {kRuntime, kKernel}}});
  const Json kernel = Records(result, kKernel).at(0);
  for (const Json& call : Records(result, kRuntime)) {
    EXPECT_EQ(call["name"] == "cudaLaunchKernel_v7000",
              call["correlation"] == kernel["correlation"]);
  }
}

TEST_F(ProtocolTest, RecordsAgreeWithTheTruth) {
  const Json result = Run({{"workload", "two_streams"}, {"kinds", {kRuntime, kKernel}}});
  std::multiset<std::pair<int64_t, int64_t>> told;
  for (const Json& kernel : Records(result, kKernel))
    told.emplace(kernel["start"].get<int64_t>(), kernel["end"].get<int64_t>());
  std::multiset<std::pair<int64_t, int64_t>> happened;
  const Json truth = Truth();
  for (const Json& op : truth["ops"])
    happened.emplace(op["start_ns"].get<int64_t>(), op["end_ns"].get<int64_t>());
  EXPECT_EQ(told, happened);
  EXPECT_EQ(told.size(), 2u);
}

TEST_F(ProtocolTest, KernelsOfTwoStreamsOverlap) {
  const Json result = Run({{"workload", "two_streams"}, {"kinds", {kKernel}}},
                          {{"device", {{"kernels", {{"scripted", 300'000'000}}}}}});
  const auto kernels = Records(result, kKernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_TRUE(Overlap(kernels[0], kernels[1]));
  EXPECT_EQ(result["workload"]["first_stream_id"], 14);
}

TEST_F(ProtocolTest, BufferIsRequestedOnTheCallingThreadAndNotBeforeTheFirstRecord) {
  EXPECT_TRUE(Run({{"workload", "none"}, {"kinds", {kKernel}}})["requests"].empty());
  const Json result = Run({{"workload", "basic"}, {"kinds", {kKernel}}});
  EXPECT_EQ(result["requests"], Json::array({result["main_tid"]}));
}

TEST_F(ProtocolTest, FullBuffersComeFromTheWorkerAndTheRestFromTheFlusher) {
  const Json result = Run({{"workload", "many"},
                           {"kinds", {kKernel}},
                           {"buffer_bytes", 4096},
                           {"await_completions", 10}},
                          {{"device", {{"kernel_ns", 1000}}}});
  std::set<uint32_t> threads;
  for (const Json& completion : result["completions"])
    threads.insert(completion["tid"].get<uint32_t>());
  EXPECT_GT(threads.size(), 1u);
  EXPECT_TRUE(threads.count(result["main_tid"].get<uint32_t>()));
  EXPECT_EQ(Records(result, kKernel).size(), 500u);
  EXPECT_EQ(result["requests"].size(), result["completions"].size());
}

TEST_F(ProtocolTest, UnforcedFlushKeepsBuffersWithIncompleteRecords) {
  const Json script = {{"device", {{"kernel_ns", 3'000'000'000}}}};
  const Json config = {{"workload", "unfinished"}, {"kinds", {kKernel}}, {"flush", "complete"}};
  EXPECT_TRUE(Run(config, script)["completions"].empty());
}

TEST_F(ProtocolTest, ForcedFlushDeliversIncompleteRecordsWithoutAnEnd) {
  const Json result = Run({{"workload", "unfinished"}, {"kinds", {kKernel}}, {"flush", "forced"}},
                          {{"device", {{"kernel_ns", 3'000'000'000}}}});
  ASSERT_EQ(Records(result, kKernel).size(), 1u);
  EXPECT_EQ(Records(result, kKernel)[0]["end"], 0);
}

TEST_F(ProtocolTest, PerThreadBuffersAreTheDefaultSinceThirteen) {
  const Json config = {{"workload", "threads"}, {"kinds", {kKernel}}};
  EXPECT_EQ(Run(config)["requests"].size(), 2u);
  EXPECT_EQ(Run(config, {{"cupti", "12.6"}})["requests"].size(), 1u);
}

TEST_F(ProtocolTest, ThreadIdsAreTruncatedPointersUnlessSystemIdsAreChosen) {
  Json config = {{"workload", "basic"}, {"kinds", {kRuntime}}, {"system_thread_ids", false}};
  Json result = Run(config);
  EXPECT_EQ(Records(result, kRuntime).at(0)["thread"], result["truncated_self"]);
  config["system_thread_ids"] = true;
  result = Run(config);
  EXPECT_EQ(Records(result, kRuntime).at(0)["thread"], result["main_tid"]);
}

TEST_F(ProtocolTest, DeniedFunctionsAreNotRecorded) {
  const Json result =
      Run({{"workload", "basic"}, {"kinds", {kRuntime}}, {"deny", {kLaunchKernelCbid}}});
  EXPECT_THAT(CallNames(result), ::testing::Not(::testing::Contains("cudaLaunchKernel_v7000")));
  EXPECT_THAT(CallNames(result), ::testing::Contains("cudaMalloc_v3020"));
}

TEST_F(ProtocolTest, CallbacksBracketTheCallAndNameTheKernel) {
  const Json calls = Run({{"workload", "basic"}, {"callbacks", {kLaunchKernelCbid}}})["callbacks"];
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0]["site"], "enter");
  EXPECT_EQ(calls[1]["site"], "exit");
  EXPECT_EQ(calls[0]["symbol"], "scripted");
}

TEST_F(ProtocolTest, SecondSubscriberIsRefused) {
  EXPECT_EQ(Run()["subscription"]["subscribe"], 0);
  EXPECT_EQ(Run()["subscription"]["second"], 39);
}

TEST_F(ProtocolTest, ScriptedHolderOfTheSubscriptionIsNamed) {
  const Json subscription =
      Run(Json::object(),
          {{"faults", {{"subscribe_error", 39}, {"held_by", "CUPTI for Nsight"}}}})["subscription"];
  EXPECT_EQ(subscription["subscribe"], 39);
  EXPECT_EQ(subscription["holder"], "CUPTI for Nsight");
}

TEST_F(ProtocolTest, SubscribeFailsAsScripted) {
  for (int error : {2, 15, 35, 999}) {
    EXPECT_EQ(Run(Json::object(),
                  {{"faults", {{"subscribe_error", error}}}})["subscription"]["subscribe"],
              error);
  }
}

TEST_F(ProtocolTest, KernelKindsExcludeOneAnotherAndSomeAreRefused) {
  const Json result = Run({{"kinds", {kKernel, kSerialKernel, kModule, 6}}});
  EXPECT_EQ(result["enabled"], Json({0, 14, 21, 38}));
}

TEST_F(ProtocolTest, GraphNodesShareTheLaunchsCorrelationId) {
  const Json result = Run({{"workload", "graph"}, {"kinds", {kKernel}}});
  const auto kernels = Records(result, kKernel);
  EXPECT_EQ(result["workload"]["nodes"], 4);
  ASSERT_EQ(kernels.size(), 8u);
  std::set<int64_t> correlations;
  std::set<uint64_t> nodes;
  for (const Json& kernel : kernels) {
    correlations.insert(kernel["correlation"].get<int64_t>());
    nodes.insert(kernel["node"].get<uint64_t>());
  }
  EXPECT_EQ(correlations.size(), 2u);
  EXPECT_EQ(nodes.size(), 4u);
}

TEST_F(ProtocolTest, GraphTraceReplacesTheNodes) {
  const Json result = Run({{"workload", "graph"}, {"kinds", {kKernel, kGraphTrace}}},
                          {{"device", {{"kernel_ns", 10'000}, {"launch_latency_ns", 0}}}});
  EXPECT_TRUE(Records(result, kKernel).empty());
  ASSERT_EQ(Records(result, kGraphTrace).size(), 2u);
  EXPECT_EQ(Duration(Records(result, kGraphTrace)[0]), 30'000);  // two of the four run together
}

TEST_F(ProtocolTest, AnUpdatedGraphKeepsItsNodesAndRunsOtherKernels) {
  const Json result = Run({{"workload", "graph_update"}, {"kinds", {kKernel}}});
  const auto kernels = Records(result, kKernel);
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0]["name"], "scripted");
  EXPECT_EQ(kernels[1]["name"], "updated");
  EXPECT_EQ(kernels[0]["node"], kernels[1]["node"]);
  EXPECT_EQ(kernels[0]["graph"], kernels[1]["graph"]);
}

TEST_F(ProtocolTest, AGraphIsNotUpdatedWithOneOfAnotherShape) {
  constexpr int kUpdateFailure = 910, kTopologyChanged = 2;
  const Json result = Run({{"workload", "graph_update"}})["workload"];
  EXPECT_EQ(result["same"], 0);
  EXPECT_EQ(result["longer"], kUpdateFailure);
  EXPECT_EQ(result["longer_result"], kTopologyChanged);
}

// As seen with CUPTI 13.0 on an H100.
TEST_F(ProtocolTest, AnUpdateTellsOfTheOtherGraphsNodeAndThenOfTheOneThatRuns) {
  constexpr uint32_t kNodeUpdated = 22, kNodeSetParams = 23;
  const Json result = Run({{"workload", "graph_update"},
                           {"kinds", {kKernel}},
                           {"node_callbacks", {kNodeUpdated, kNodeSetParams}}});
  const Json& calls = result["callbacks"];
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0]["cbid"], kNodeUpdated);
  EXPECT_EQ(calls[1]["cbid"], kNodeSetParams);
  EXPECT_EQ(calls[1]["node"], Records(result, kKernel).at(0)["node"]);
  EXPECT_NE(calls[0]["node"], calls[1]["node"]);
}

TEST_F(ProtocolTest, EventsMeasureTheDevice) {
  const Json result = Run({{"workload", "events"}},
                          {{"device", {{"kernel_ns", 400'000'000}, {"launch_latency_ns", 0}}}});
  EXPECT_EQ(result["workload"]["early"], 600);  // cudaErrorNotReady
  EXPECT_GE(result["workload"]["milliseconds"].get<double>(), 399.999);
}

TEST_F(ProtocolTest, HostFunctionRunsInStreamOrder) {
  EXPECT_EQ(Run({{"workload", "host_function"}})["workload"]["calls"], 1);
}

TEST_F(ProtocolTest, PeerCopiesAreAKindOfTheirOwn) {
  const Json result = Run({{"workload", "peers"}, {"kinds", {kMemcpy, kMemcpy2, kKernel}}},
                          {{"device", {{"devices", 2}}}});
  EXPECT_TRUE(Records(result, kMemcpy).empty());
  EXPECT_EQ(Records(result, kMemcpy2).at(0)["dst_device"], 1);
  EXPECT_EQ(Records(result, kKernel).at(0)["device"], 1);
}

TEST_F(ProtocolTest, DeviceRecordsTellOfEveryDevice) {
  const Json result =
      Run({{"workload", "basic"}, {"kinds", {kDevice}}}, {{"device", {{"devices", 2}}}});
  EXPECT_EQ(Records(result, kDevice).size(), 2u);
}

TEST_F(ProtocolTest, ExternalCorrelationPrecedesTheCallItBelongsTo) {
  const Json result = Run({{"workload", "external"}, {"kinds", {kRuntime, kExternal}}});
  EXPECT_EQ(result["workload"]["popped"], 42);
  ASSERT_GE(result["records"].size(), 2u);
  EXPECT_EQ(result["records"][0]["id"], 42);
  EXPECT_EQ(result["records"][0]["correlation"], result["records"][1]["correlation"]);
}

TEST_F(ProtocolTest, ErrorsAreReportedAndRemembered) {
  const Json errors = Run({{"workload", "errors"}})["workload"];
  EXPECT_EQ(errors["bad_device"], 101);
  EXPECT_EQ(errors["last"], 101);
  EXPECT_EQ(errors["cleared"], 0);
  EXPECT_EQ(errors["unknown_kernel"], 98);
  EXPECT_EQ(errors["empty_grid"], 9);
  EXPECT_EQ(errors["name"], "cudaErrorInvalidDevice");
}

TEST_F(ProtocolTest, ForkChildHasNoCudaAndItsFlushHangs) {
  const Json result = Run({{"workload", "fork"}, {"kinds", {kKernel}}});
  EXPECT_EQ(result["workload"]["child_exit"], 3);
  EXPECT_EQ(result["workload"]["flush_hangs"], true);
}

TEST_F(ProtocolTest, FinalizeAborts) {
  Run({{"workload", "finalize"}});
  EXPECT_NE(exit_status_, 0);
  EXPECT_THAT(output_, ::testing::HasSubstr("cuptiFinalize"));
}

TEST_F(ProtocolTest, SwitchingACallbackOnWhileTheProgramRunsAborts) {
  Run({{"workload", "none"}, {"late_callbacks", {17}}});
  EXPECT_EQ(exit_status_, 0) << "before any call";
  Run({{"workload", "basic"}, {"late_callbacks", {17}}});
  EXPECT_NE(exit_status_, 0);
  EXPECT_THAT(output_, ::testing::HasSubstr("while the program runs"));
}

TEST_F(ProtocolTest, DecliningABufferDropsAndCounts) {
  const Json result = Run(
      {{"workload", "many"}, {"kinds", {kKernel}}, {"buffer_bytes", 2160}, {"decline_after", 1}});
  EXPECT_EQ(Records(result, kKernel).size(), 10u);
  EXPECT_EQ(result["dropped"], 490);
}

TEST_F(ProtocolTest, DecliningABufferCrashesBeforeTwelveNine) {
  Run({{"workload", "basic"}, {"kinds", {kKernel}}, {"decline_after", 0}}, {{"cupti", "12.8"}});
  EXPECT_NE(exit_status_, 0);
}

// --- Versions: the same reader walks them all, though lengths differ.

class ProtocolVersionTest : public ProtocolTest,
                            public ::testing::WithParamInterface<std::pair<const char*, int>> {};

TEST_P(ProtocolVersionTest, RecordsOfEveryReleaseCanBeWalked) {
  const auto [release, version] = GetParam();
  const Json result =
      Run({{"workload", "basic"},
           {"kinds", {kRuntime, kKernel, kMemcpy, kMemset, kSync, kOverhead, kDevice}}},
          {{"cupti", release}});
  EXPECT_EQ(result["version"], version);
  EXPECT_EQ(Records(result, kKernel).size(), 1u);
  EXPECT_EQ(Records(result, kMemcpy).size(), 2u);
  EXPECT_EQ(Records(result, kRuntime).size(), 6u);
  EXPECT_FALSE(result["invalid_kind_seen"]);
}

INSTANTIATE_TEST_SUITE_P(Releases, ProtocolVersionTest,
                         ::testing::Values(std::pair("11.8", 18), std::pair("12.0", 19),
                                           std::pair("12.4", 22), std::pair("12.6", 24),
                                           std::pair("12.8", 26), std::pair("13.0", 130001),
                                           std::pair("13.1", 130100)));

}  // namespace
}  // namespace gpubound::sim
