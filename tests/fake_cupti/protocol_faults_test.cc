// SPDX-License-Identifier: Apache-2.0
//
// Every knob of the stand-ins does what sim_script.h says of it.
#include <algorithm>
#include <set>

#include "tests/fake_cupti/protocol_fixture.h"

namespace gpubound::sim {
namespace {

TEST_F(ProtocolTest, EveryNthRecordIsDroppedAndCounted) {
  const Json result =
      Run({{"workload", "many"}, {"kinds", {kKernel}}}, {{"faults", {{"drop_every", 10}}}});
  EXPECT_EQ(Records(result, kKernel).size(), 450u);
  EXPECT_EQ(result["dropped"], 50);
}

// More of them than a processor executes in a millisecond.
TEST_F(ProtocolTest, RecordedCallsExecuteSoManyFunctions) {
  const Json script = {{"overhead", {{"functions", 8'000'000}, {"entry_percent", 50}}}};
  const Json result = Run({{"workload", "basic"}, {"kinds", {kRuntime}}}, script);
  ASSERT_FALSE(Records(result, kRuntime).empty());
  for (const Json& call : Records(result, kRuntime)) EXPECT_GT(Duration(call), 1'000'000);
}

TEST_F(ProtocolTest, EveryNthKernelHasNoTime) {
  const Json result = Run({{"workload", "many"}, {"kinds", {kKernel}}},
                          {{"faults", {{"zero_timestamps_every", 5}}}});
  const auto kernels = Records(result, kKernel);
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                          [](const Json& kernel) { return kernel["end"] == 0; }),
            100);
}

TEST_F(ProtocolTest, EveryNthKernelEndsBeforeItBegins) {
  const Json result = Run({{"workload", "many"}, {"kinds", {kKernel}}},
                          {{"faults", {{"inverted_timestamps_every", 5}}}});
  const auto kernels = Records(result, kKernel);
  EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(),
                          [](const Json& kernel) { return Duration(kernel) < 0; }),
            100);
}

TEST_F(ProtocolTest, RecordsOfABufferComeInReverse) {
  const Json result = Run({{"workload", "many"}, {"kinds", {kKernel}}, {"buffer_bytes", 1 << 20}},
                          {{"faults", {{"shuffle_records", true}}}});
  const auto kernels = Records(result, kKernel);
  ASSERT_EQ(kernels.size(), 500u);
  EXPECT_GT(kernels.front()["start"], kernels.back()["start"]);
}

TEST_F(ProtocolTest, UnknownKindsLieBetweenTheRecords) {
  const Json result = Run({{"workload", "many"}, {"kinds", {kKernel}}},
                          {{"faults", {{"unknown_kind_every", 100}}}});
  EXPECT_EQ(Records(result, kKernel).size(), 500u);
  EXPECT_EQ(Records(result, 9999).size(), 5u);
}

TEST_F(ProtocolTest, WalkingABufferFailsAsScripted) {
  const Json result = Run({{"workload", "basic"}, {"kinds", {kRuntime}}},
                          {{"faults", {{"invalid_kind_every", 3}}}});
  EXPECT_TRUE(result["invalid_kind_seen"]);
}

TEST_F(ProtocolTest, CompletionArrivesABeatAfterTheFlushReturned) {
  const Json result = Run({{"workload", "basic"}, {"kinds", {kKernel}}},
                          {{"faults", {{"completion_delay_ms", 50}}}});
  EXPECT_EQ(result["completed_at_flush"], 0);
  EXPECT_EQ(Records(result, kKernel).size(), 1u);
  EXPECT_NE(result["completions"][0]["tid"], result["main_tid"]);
}

TEST_F(ProtocolTest, CorrelationIdsWrap) {
  const Json result =
      Run({{"workload", "many"}, {"kinds", {kRuntime}}}, {{"correlation_start", 4294967290u}});
  std::set<uint32_t> correlations;
  for (const Json& call : Records(result, kRuntime)) {
    correlations.insert(call["correlation"].get<uint32_t>());
  }
  EXPECT_TRUE(correlations.count(4294967295u));
  EXPECT_TRUE(correlations.count(0));
}

TEST_F(ProtocolTest, KernelsCanStartBeforeTheirLaunch) {
  const Json result = Run({{"workload", "basic"}, {"kinds", {kRuntime, kKernel}}},
                          {{"faults", {{"kernel_start_shift_ns", -1'000'000'000}}}});
  const Json kernel = Records(result, kKernel).at(0);
  for (const Json& call : Records(result, kRuntime)) EXPECT_LT(kernel["start"], call["start"]);
}

TEST_F(ProtocolTest, RealtimeStepMovesRecordsAndNotTheTruth) {
  constexpr int64_t kStepNs = 3'600'000'000'000;
  const Json result = Run({{"workload", "basic"}, {"kinds", {kKernel}}},
                          {{"faults", {{"realtime_step_ns", kStepNs}}}});
  const Json kernel = Records(result, kKernel).at(0);
  const Json truth = Truth();
  const auto really = std::find_if(truth["ops"].begin(), truth["ops"].end(),
                                   [](const Json& op) { return op["kind"] == "kernel"; });
  ASSERT_NE(really, truth["ops"].end());
  EXPECT_EQ(kernel["start"].get<int64_t>() - (*really)["start_ns"].get<int64_t>(), kStepNs);
}

TEST_F(ProtocolTest, FullLaunchQueueIsAnOverheadRecord) {
  const Json result =
      Run({{"workload", "many"}, {"kinds", {kOverhead}}},
          {{"device", {{"queue_depth", 16}, {"kernels", {{"scripted", 100'000}}}}}});
  constexpr uint32_t kCommandBufferFull = 6u << 16;
  const auto overheads = Records(result, kOverhead);
  EXPECT_TRUE(std::any_of(overheads.begin(), overheads.end(), [](const Json& overhead) {
    return overhead["overhead"] == kCommandBufferFull;
  }));
}

TEST_F(ProtocolTest, InjectedOverheadLengthensTheCalls) {
  const Json result = Run({{"workload", "basic"}, {"kinds", {kRuntime}}},
                          {{"overhead", {{"launch_ns", 2'000'000}}}});
  for (const Json& call : Records(result, kRuntime)) {
    if (call["name"] == "cudaLaunchKernel_v7000") {
      EXPECT_GE(Duration(call), 2'000'000);
    }
  }
}

TEST_F(ProtocolTest, UnknownKnobEndsTheProcessWithAMessage) {
  Run({{"workload", "basic"}}, {{"faults", {{"no_such_knob", 1}}}});
  EXPECT_NE(exit_status_, 0);
  EXPECT_THAT(output_, ::testing::HasSubstr("unknown key 'no_such_knob'"));
}

TEST_F(ProtocolTest, TruthHoldsTheBusyUnion) {
  Run({{"workload", "two_streams"}}, {{"device", {{"kernels", {{"scripted", 300'000'000}}}}}});
  const Json truth = Truth();
  ASSERT_EQ(truth["ops"].size(), 2u);
  const int64_t first = truth["ops"][0]["start_ns"];
  const int64_t last = truth["ops"][1]["end_ns"];
  EXPECT_EQ(truth["busy_ns"], last - first);
  EXPECT_EQ(truth["incomplete"], false);
}

}  // namespace
}  // namespace gpubound::sim
