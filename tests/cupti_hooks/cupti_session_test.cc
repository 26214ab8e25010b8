// SPDX-License-Identifier: Apache-2.0
//
// The order in which CUPTI is set up, and every way in which that fails.
#include "cupti_hooks/cupti/cupti_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

void OnRequest(uint8_t**, size_t*, size_t*) {}
void OnComplete(CUcontext, uint32_t, uint8_t*, size_t, size_t) {}
void OnEvent(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

class CuptiSessionTest : public ::testing::Test {
 protected:
  CuptiSetupResult SetUpWith(const CuptiApi& api, const RecordingLevels& levels = {}) {
    const ApiFunctions functions(api, nullptr, QuietApis());
    return SetUpCupti(api, {&OnRequest, &OnComplete, &OnEvent}, functions, levels);
  }
  CuptiSetupResult SetUpOurs() { return SetUpWith(cupti_.api()); }
  size_t PlaceOf(const std::string& call) {
    const auto calls = cupti_.calls();
    return static_cast<size_t>(std::find(calls.begin(), calls.end(), call) - calls.begin());
  }

  ScriptedCupti cupti_{kCupti13_0};
};

TEST_F(CuptiSessionTest, SubscribesThenThreadIdsThenAttributesThenBuffersThenKinds) {
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.outcome, CuptiSetup::kRecording);
  EXPECT_TRUE(setup.system_thread_ids);
  EXPECT_EQ(setup.api_errors, 0u);
  const auto calls = cupti_.calls();
  const std::vector<std::string> order = {"cuptiSubscribe",
                                          "cuptiSetThreadIdType 1",
                                          "cuptiActivitySetAttribute 5",
                                          "cuptiActivitySetAttribute 9",
                                          "cuptiActivityRegisterCallbacks",
                                          "cuptiActivityEnable 8"};
  EXPECT_TRUE(std::equal(order.begin(), order.end(), calls.begin())) << calls[2];
}

TEST_F(CuptiSessionTest, EnablesWhatTheReportNeedsAndNeverTheKindThatSerialisesKernels) {
  SetUpOurs();
  const auto calls = cupti_.calls();
  for (uint32_t kind : {kKindRuntime, kKindConcurrentKernel, kKindMemcpy, kKindMemcpy2, kKindMemset,
                        kKindOverhead, kKindDevice}) {
    EXPECT_THAT(calls, Contains("cuptiActivityEnable " + std::to_string(kind)));
  }
  EXPECT_THAT(calls, Not(Contains("cuptiActivityEnable 3")));
}

TEST_F(CuptiSessionTest, GreenContextsAreAskedForWhereTheyAreAKindOfTheirOwn) {
  SetUpOurs();
  DisableKinds(cupti_.api());
  EXPECT_THAT(cupti_.calls(), Not(Contains("cuptiActivityEnable 59")));
  EXPECT_THAT(cupti_.calls(), Not(Contains("cuptiActivityDisable 59")));
  CuptiApi newer = cupti_.api();
  newer.version = kCuptiGreenContextKind;
  SetUpWith(newer);
  DisableKinds(newer);
  EXPECT_THAT(cupti_.calls(), Contains("cuptiActivityEnable 59"));
  EXPECT_THAT(cupti_.calls(), Contains("cuptiActivityDisable 59"));
}

TEST_F(CuptiSessionTest, SilencesQuietFunctionsAfterTheirKindIsOn) {
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.quiet_functions, 1u);
  EXPECT_GT(PlaceOf("cuptiActivityEnableRuntimeApi 17 0"), PlaceOf("cuptiActivityEnable 5"));
  EXPECT_LT(PlaceOf("cuptiActivityEnableRuntimeApi 17 0"), cupti_.calls().size());
}

TEST_F(CuptiSessionTest, WhatIsSilencedIsCountedByACallbackWhereThatIsAskedFor) {
  SetUpWith(cupti_.api(), {.count_queries = true});
  EXPECT_THAT(cupti_.calls(), Contains("cuptiEnableCallback 1 2 17"));
  EXPECT_THAT(cupti_.calls(), Contains("cuptiEnableCallback 1 1 304"));
}

TEST_F(CuptiSessionTest, TheNamesThatTheRuntimeAsksForOnOurAccountAreNotCounted) {
  cupti_.driver_names[719] = "cuKernelGetName";
  SetUpWith(cupti_.api(), {.count_queries = true});
  EXPECT_THAT(cupti_.calls(), Not(Contains("cuptiEnableCallback 1 1 719")));
}

TEST_F(CuptiSessionTest, NoRecordMakesCuptiListenWithinTheDriver) {
  constexpr uint32_t kKindOfCudaEvents = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.outcome, CuptiSetup::kRecording);
  const auto calls = cupti_.calls();
  for (uint32_t kind : {uint32_t{kKindDriver}, uint32_t{kKindSynchronization}, kKindOfCudaEvents}) {
    EXPECT_THAT(calls, Not(Contains("cuptiActivityEnable " + std::to_string(kind))));
  }
  for (uint32_t kind : {kKindConcurrentKernel, kKindMemcpy, kKindMemset}) {
    EXPECT_THAT(calls, Contains("cuptiActivityEnable " + std::to_string(kind)));
  }
  EXPECT_THAT(calls, Contains("cuptiActivityEnableRuntimeApi 17 0"));
  EXPECT_THAT(calls, Not(Contains("cuptiEnableCallback 1 2 17")));
  EXPECT_THAT(calls, Not(Contains("cuptiEnableCallback 1 1 304")));
  for (const char* loud : {"1 307", "2 211", "2 311", "2 31"}) {
    EXPECT_EQ(std::count(calls.begin(), calls.end(), std::string("cuptiEnableCallback 1 ") + loud),
              1);
  }
}

// Before CUDA 12.5. Calls of the runtime have records, which are counted when they are left out;
// they are called back for to tell the driver's within them.
TEST_F(CuptiSessionTest, QueriesOfTheDriverAreNotCountedByTheirRecords) {
  CuptiApi api = cupti_.api();
  api.cuptiActivityEnableRuntimeApi = nullptr;
  const CuptiSetupResult setup = SetUpWith(api);
  EXPECT_TRUE(setup.leaves_queries_uncounted);
  EXPECT_THAT(cupti_.calls(), Not(Contains("cuptiEnableCallback 1 2 17")));
  EXPECT_TRUE(setup.has_runtime_queries);
  EXPECT_EQ(setup.quiet_functions, 0u);
  EXPECT_FALSE(SetUpWith(api, {.count_queries = true}).leaves_queries_uncounted);
  EXPECT_THAT(cupti_.calls(), Contains("cuptiEnableCallback 1 1 304"));
  EXPECT_THAT(cupti_.calls(), Contains("cuptiEnableCallback 1 2 17"));
  EXPECT_FALSE(SetUpOurs().has_runtime_queries);
}

TEST_F(CuptiSessionTest, AFunctionThatCannotBeSilencedIsNoErrorAndHasNoCallback) {
  cupti_.answers["cuptiActivityEnableRuntimeApi"] = CUPTI_ERROR_NOT_SUPPORTED;
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.quiet_functions, 0u);
  EXPECT_EQ(setup.api_errors, 0u);
  EXPECT_THAT(cupti_.calls(), Not(Contains("cuptiEnableCallback 1 2 17")));
}

TEST_F(CuptiSessionTest, NodesOfGraphsAreWatched) {
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.graphs, GraphLevel::kNode);
  const auto calls = cupti_.calls();
  EXPECT_THAT(calls, Not(Contains("cuptiActivityEnable 51")));
  for (const char* resource : {"13", "18", "20"}) {
    EXPECT_THAT(calls, Contains(std::string("cuptiEnableCallback 1 3 ") + resource));
  }
}

TEST_F(CuptiSessionTest, GraphsAsAWholeAreSwitchedOnBeforeKernelsAndTheirNodesAreNotWatched) {
  const CuptiSetupResult setup = SetUpWith(cupti_.api(), {.graphs = GraphLevel::kGraph});
  EXPECT_EQ(setup.graphs, GraphLevel::kGraph);
  EXPECT_LT(PlaceOf("cuptiActivityEnable 51"), PlaceOf("cuptiActivityEnable 10"));
  EXPECT_THAT(cupti_.calls(), Contains("cuptiEnableCallback 1 3 18"));
  EXPECT_THAT(cupti_.calls(), Contains("cuptiEnableCallback 1 2 311"));
  EXPECT_THAT(cupti_.calls(), Not(Contains("cuptiEnableCallback 1 3 20")));
}

TEST_F(CuptiSessionTest, AutomaticGraphsAreWholeWithNodesAndLaunchesWatched) {
  cupti_.driver_names[689] = "cuGraphAddKernelNode_v2";
  const CuptiSetupResult setup = SetUpWith(cupti_.api(), {.graphs = GraphLevel::kAuto});
  EXPECT_EQ(setup.graphs, GraphLevel::kAuto);
  const auto calls = cupti_.calls();
  EXPECT_THAT(calls, Contains("cuptiActivityEnable 51"));
  for (const char* callback : {"3 13", "3 20", "2 211", "1 307", "1 689"}) {
    EXPECT_THAT(calls, Contains(std::string("cuptiEnableCallback 1 ") + callback));
  }
}

TEST_F(CuptiSessionTest, WhereGraphsCannotBeRecordedAsAWholeTheirNodesAre) {
  cupti_.kind_answers[kKindGraphTrace] = CUPTI_ERROR_INVALID_KIND;
  const CuptiSetupResult setup = SetUpWith(cupti_.api(), {.graphs = GraphLevel::kAuto});
  EXPECT_EQ(setup.outcome, CuptiSetup::kRecording);
  EXPECT_EQ(setup.graphs, GraphLevel::kNode);
  EXPECT_THAT(setup.graph_problem, HasSubstr("CUPTI error"));
}

TEST_F(CuptiSessionTest, WhatWasSwitchedOnForGraphsIsSwitchedOffAgain) {
  SetUpWith(cupti_.api(), {.graphs = GraphLevel::kGraph});
  DisableKinds(cupti_.api());
  EXPECT_THAT(cupti_.calls(), Contains("cuptiActivityDisable 51"));
}

TEST_F(CuptiSessionTest, TheNextToolFindsCuptisDefaults) {
  const CuptiSetupResult setup = SetUpOurs();
  const size_t mine = cupti_.calls().size();
  Unsubscribe(cupti_.api(), setup.subscriber);
  const auto calls = cupti_.calls();
  const std::vector<std::string> leaving(calls.begin() + static_cast<ptrdiff_t>(mine), calls.end());
  EXPECT_THAT(leaving, ElementsAre("cuptiActivitySetAttribute 5", "cuptiSetThreadIdType 0",
                                   "cuptiUnsubscribe"));
}

TEST_F(CuptiSessionTest, BuffersOfThreadsAreTakenBackWhereTheyAreNoDefault) {
  ScriptedCupti older(kCupti12_9);
  const CuptiSetupResult setup = SetUpWith(older.api());
  Unsubscribe(older.api(), setup.subscriber);
  const auto calls = older.calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "cuptiActivitySetAttribute 9"), 2);
}

TEST(ParseGraphLevelTest, KnowsThreeLevels) {
  GraphLevel level = GraphLevel::kNode;
  EXPECT_TRUE(ParseGraphLevel("auto", &level));
  EXPECT_EQ(level, GraphLevel::kAuto);
  EXPECT_TRUE(ParseGraphLevel("graph", &level));
  EXPECT_EQ(level, GraphLevel::kGraph);
  EXPECT_TRUE(ParseGraphLevel("node", &level));
  EXPECT_EQ(level, GraphLevel::kNode);
  EXPECT_FALSE(ParseGraphLevel("Graph", &level));
}

TEST_F(CuptiSessionTest, LeavesPerThreadBuffersAloneWhereTheyWereUnsafe) {
  ScriptedCupti older(kCupti12_8);
  SetUpWith(older.api());
  EXPECT_THAT(older.calls(), Not(Contains("cuptiActivitySetAttribute 9")));
}

TEST_F(CuptiSessionTest, RecordsWithoutTheOptionalFunctions) {
  CuptiApi api = cupti_.api();
  api.cuptiActivitySetAttribute = nullptr;
  api.cuptiActivityEnableRuntimeApi = nullptr;
  api.cuptiEnableCallback = nullptr;
  api.cuptiActivityDisable = nullptr;
  const CuptiSetupResult setup = SetUpWith(api);
  EXPECT_EQ(setup.outcome, CuptiSetup::kRecording);
  EXPECT_EQ(setup.quiet_functions, 0u);
  DisableKinds(api);
}

TEST_F(CuptiSessionTest, SaysWhoHoldsCupti) {
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  cupti_.answers["cuptiSubscribe_v2"] = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  cupti_.holder = "CUPTI for Nsight Systems";
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.outcome, CuptiSetup::kHeldByOther);
  EXPECT_EQ(setup.problem, "CUPTI for Nsight Systems");
  EXPECT_THAT(cupti_.calls(), ElementsAre("cuptiSubscribe", "cuptiSubscribe_v2"))
      << "and touches nothing of the other tool's";
}

TEST_F(CuptiSessionTest, AnOlderCuptiDoesNotSayWhoHoldsIt) {
  cupti_.answers["cuptiSubscribe"] = CUPTI_ERROR_MAX_LIMIT_REACHED;
  CuptiApi api = cupti_.api();
  api.cuptiSubscribe_v2 = nullptr;
  const CuptiSetupResult setup = SetUpWith(api);
  EXPECT_EQ(setup.outcome, CuptiSetup::kHeldByOther);
  EXPECT_EQ(setup.problem, "");
}

TEST_F(CuptiSessionTest, ASubscriptionThatFailsLeavesNothingBehind) {
  for (CUptiResult error : {CUPTI_ERROR_INVALID_DEVICE, CUPTI_ERROR_NOT_INITIALIZED,
                            CUPTI_ERROR_INSUFFICIENT_PRIVILEGES, CUPTI_ERROR_UNKNOWN}) {
    ScriptedCupti cupti(kCupti13_0);
    cupti.answers["cuptiSubscribe"] = error;
    const CuptiSetupResult setup = SetUpWith(cupti.api());
    EXPECT_EQ(setup.outcome, CuptiSetup::kUnusable);
    EXPECT_THAT(setup.problem, HasSubstr("cuptiSubscribe failed with CUPTI error " +
                                         std::to_string(static_cast<int>(error))));
    EXPECT_THAT(cupti.calls(), ElementsAre("cuptiSubscribe"));
  }
}

TEST_F(CuptiSessionTest, WithoutBufferCallbacksTheSubscriptionIsGivenBack) {
  cupti_.answers["cuptiActivityRegisterCallbacks"] = CUPTI_ERROR_UNKNOWN;
  EXPECT_EQ(SetUpOurs().outcome, CuptiSetup::kUnusable);
  EXPECT_EQ(cupti_.calls().back(), "cuptiUnsubscribe");
}

TEST_F(CuptiSessionTest, WithoutKernelsEverythingIsGivenBack) {
  cupti_.kind_answers[kKindConcurrentKernel] = CUPTI_ERROR_NOT_COMPATIBLE;
  EXPECT_EQ(SetUpOurs().outcome, CuptiSetup::kUnusable);
  EXPECT_GT(cupti_.CallsOf("cuptiActivityDisable"), 0);
  EXPECT_EQ(cupti_.calls().back(), "cuptiUnsubscribe");
}

TEST_F(CuptiSessionTest, WithoutCopiesTheRecordingIsIncompleteAndSaysSo) {
  cupti_.kind_answers[kKindMemcpy] = CUPTI_ERROR_INVALID_KIND;
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.outcome, CuptiSetup::kIncomplete);
  EXPECT_THAT(setup.problem, HasSubstr("copies"));
  EXPECT_EQ(setup.api_errors, 1u);
}

TEST_F(CuptiSessionTest, WhatOnlyExplainsMayFail) {
  cupti_.kind_answers[kKindOverhead] = CUPTI_ERROR_INVALID_KIND;
  cupti_.answers["cuptiSetThreadIdType"] = CUPTI_ERROR_NOT_SUPPORTED;
  cupti_.answers["cuptiActivitySetAttribute"] = CUPTI_ERROR_UNKNOWN;
  const CuptiSetupResult setup = SetUpOurs();
  EXPECT_EQ(setup.outcome, CuptiSetup::kRecording);
  EXPECT_FALSE(setup.system_thread_ids);
  EXPECT_EQ(setup.api_errors, 4u);
}

}  // namespace
}  // namespace gpubound
