// SPDX-License-Identifier: Apache-2.0
//
// The CUPTI source against the stand-in libcupti, release by release and fault by fault. Each test
// is a process of its own (stand_in_client), since the stand-in reads its script once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "tests/cupti_hooks/stand_in_fixture.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Cupti, StandInReleaseTest,
                         ::testing::Values("11.8", "12.0", "12.4", "12.6", "12.8", "12.9", "13.0",
                                           "13.1", "13.3", "13.5"));

TEST_P(StandInReleaseTest, EverythingAProgramDidIsRecorded) {
  Run("basic", {{"cupti", GetParam()}});
  EXPECT_TRUE(result_["started"]);
  ASSERT_EQ(Work("scripted").size(), 1u);
  const Json kernel = Work("scripted")[0];
  EXPECT_EQ(kernel["grid"], Json({4, 2, 1}));
  EXPECT_EQ(kernel["dynamic_shared"], 256);
  EXPECT_LT(kernel["start"], kernel["end"]);
  ASSERT_EQ(Calls("cudaLaunchKernel").size(), 1u);
  const Json launch = Calls("cudaLaunchKernel")[0];
  EXPECT_EQ(launch["correlation"], kernel["correlation"]);
  EXPECT_EQ(launch["tid"], result_["pid_tid"]);
  EXPECT_LE(launch["start"], kernel["start"]);
  EXPECT_EQ(Work("Memcpy HtoD").size(), 1u);
  EXPECT_EQ(Work("Memcpy HtoD")[0]["bytes"], 4096);
  EXPECT_EQ(Work("Memcpy DtoH").size(), 1u);
  EXPECT_EQ(Work("Memset").size(), 1u);
  EXPECT_TRUE(Calls("cudaGetLastError").empty());
  EXPECT_EQ(Unknowns(), 0u);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_api_errors), 0u);
}

TEST_F(StandInTest, TheDeviceIsDescribedAndMarkedAsSimulated) {
  Run("basic");
  ASSERT_EQ(result_["devices"].size(), 1u);
  EXPECT_TRUE(result_["devices"][0]["simulated"]);
  EXPECT_GT(result_["devices"][0]["multiprocessors"], 0);
  EXPECT_EQ(Ledger(LedgerCounter::simulated_device), 1u);
  EXPECT_TRUE(result_["has_clock"]);
}

TEST_F(StandInTest, ThreadsLoseNothing) {
  Run("many");
  EXPECT_EQ(Work("scripted").size(), 2000u);
  EXPECT_EQ(Calls("cudaLaunchKernel").size(), 2000u);
  EXPECT_EQ(Unknowns(), 0u);
}

TEST_F(StandInTest, AProgramWithoutCudaCallsEndsCleanly) {
  Run("nothing");
  EXPECT_FALSE(result_.contains("work"));
  EXPECT_EQ(Unknowns(), 0u);
}

TEST_F(StandInTest, AProgramWithoutCudaCallsIsNotFlushed) {
  Run("nothing", {{"faults", {{"empty_flush_hangs", true}}}});
  EXPECT_TRUE(result_["ended"]);
  EXPECT_EQ(Unknowns(), 0u);
}

TEST_F(StandInTest, AfterAFatalErrorOfCuptisTimeIsUnknownAndItIsLeftAlone) {
  Run("many", {{"faults", {{"fatal_error_after", 1000}}}});
  EXPECT_LT(Work("scripted").size(), 1000u);
  EXPECT_EQ(Unknowns(), 1u);
  ASSERT_EQ(result_["notes"].size(), 1u);
  EXPECT_THAT(result_["notes"][0].get<std::string>(), HasSubstr("CUPTI ended itself"));
  EXPECT_TRUE(result_["ended"]);
  EXPECT_GE(Ledger(LedgerCounter::cupti_api_errors), 1u);
  EXPECT_LE(Ledger(LedgerCounter::cupti_api_errors), 2u) << "one flush may have begun by then";
  EXPECT_EQ(result_["subscribers"], 1) << "nothing of it is called";
}

TEST_F(StandInTest, WorkLeftBehindByTheProgramIsWaitedFor) {
  Run("left_running", {{"device", {{"kernels", {{"scripted", 50'000'000}}}}}});
  EXPECT_EQ(Work("scripted").size(), 1u);
  EXPECT_EQ(Unknowns(), 0u);
}

TEST_F(StandInTest, WorkThatNeverEndsMakesTimeUnknown) {
  Run("left_running", {{"device", {{"kernels", {{"scripted", 60'000'000'000}}}}}});
  EXPECT_TRUE(Work("scripted").empty());
  EXPECT_EQ(Ledger(LedgerCounter::cupti_zero_timestamps), 1u);
  EXPECT_EQ(Unknowns(), 1u);
}

TEST_F(StandInTest, WorkThatNeverEndsMakesTimeUnknownInABufferThatComesLateToo) {
  Run("left_running", {{"device", {{"kernels", {{"scripted", 60'000'000'000}}}}},
                       {"faults", {{"completion_delay_ms", 50}}}});
  EXPECT_TRUE(Work("scripted").empty());
  EXPECT_EQ(Ledger(LedgerCounter::cupti_zero_timestamps), 1u);
  EXPECT_EQ(Unknowns(), 1u);
}

TEST_F(StandInTest, BuffersThatComeAMomentAfterTheFlushAreWaitedFor) {
  Run("basic", {{"faults", {{"completion_delay_ms", 50}}}});
  EXPECT_EQ(Work("scripted").size(), 1u);
  EXPECT_EQ(Ledger(LedgerCounter::undelivered_device_buffers), 0u);
  EXPECT_EQ(Unknowns(), 0u);
}

TEST_F(StandInTest, DroppedRecordsAreCounted) {
  Run("many", {{"faults", {{"drop_every", 100}}}});
  EXPECT_GT(Ledger(LedgerCounter::cupti_records_dropped), 0u);
  EXPECT_GE(Unknowns(), 1u);
}

TEST_F(StandInTest, ZeroAndInvertedTimesAreCounted) {
  Run("many", {{"faults", {{"zero_timestamps_every", 4}, {"inverted_timestamps_every", 5}}}});
  EXPECT_EQ(Ledger(LedgerCounter::cupti_zero_timestamps), 500u);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_inverted_timestamps),
            300u);  // every fifth, less what has no start
  EXPECT_EQ(Work("scripted").size(), 1200u);
  EXPECT_GE(Unknowns(), 1u);
  for (const Json& kernel : Work("scripted")) EXPECT_LE(kernel["start"], kernel["end"]);
}

TEST_F(StandInTest, KindsOfTheFutureAreSteppedOver) {
  Run("many", {{"faults", {{"unknown_kind_every", 10}, {"shuffle_records", true}}}});
  EXPECT_GT(Ledger(LedgerCounter::cupti_unknown_records), 0u);
  EXPECT_EQ(Work("scripted").size(), 2000u);
}

TEST_F(StandInTest, RecordsThatCuptiCannotReadAreCounted) {
  Run("many", {{"faults", {{"invalid_kind_every", 500}}}});
  EXPECT_GT(Ledger(LedgerCounter::cupti_api_errors), 0u);
  EXPECT_GE(Unknowns(), 1u);
}

TEST_F(StandInTest, AnotherToolsHoldIsNamed) {
  Run("basic", {{"faults", {{"subscribe_error", 39}, {"held_by", "CUPTI for Kineto"}}}});
  EXPECT_FALSE(result_["started"]);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_held_by_other), 1u);
  EXPECT_EQ(Unknowns(), 1u);
  EXPECT_THAT(result_["notes"][0].get<std::string>(), HasSubstr("Kineto"));
}

// As a libcupti that a framework bundles and that is older than the GPU: the toolkit's is next.
TEST_F(StandInTest, ALibraryThatDoesNotKnowTheGpuIsFollowedByTheToolkits) {
  const std::filesystem::path toolkit =
      std::filesystem::path(::testing::TempDir()) / ("toolkit_" + std::to_string(getpid()));
  std::filesystem::create_directories(toolkit / "lib64");
  std::filesystem::copy_file(GPUBOUND_STAND_IN_CUPTI, toolkit / "lib64/libcupti.so.13",
                             std::filesystem::copy_options::overwrite_existing);
  setenv("CUDA_HOME", toolkit.c_str(), 1);
  Run("basic", {{"faults", {{"subscribe_error", 2}, {"subscribe_error_in", "/lib/sim/"}}}});
  unsetenv("CUDA_HOME");
  std::filesystem::remove_all(toolkit);
  EXPECT_TRUE(result_["started"]);
  EXPECT_EQ(Work("scripted").size(), 1u);
  EXPECT_EQ(Unknowns(), 0u);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_unavailable), 0u);
}

// The first one found beside libcudart is newer than the driver; the toolkit has both.
TEST_F(StandInTest, ACuptiThatIsNewerThanTheDriverIsLeftAlone) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::path(::testing::TempDir()) / ("driver_" + std::to_string(getpid()));
  fs::create_directories(folder / "lib64");
  const auto copy = [](const char* from, const fs::path& to) {
    fs::copy_file(fs::canonical(from), to, fs::copy_options::overwrite_existing);
  };
  copy(GPUBOUND_STAND_IN_CUPTI, folder / "lib64/libcupti.so.13");
  copy(GPUBOUND_STAND_IN_CUPTI12, folder / "lib64/libcupti.so.12");
  const std::map<std::string, std::string> used = {{"libcuda.so.535.54.03", "libcupti.so.12"},
                                                   {"libcuda.so.580.65.06", "libcupti.so.13"}};
  setenv("CUDA_HOME", folder.c_str(), 1);
  for (const auto& [driver, cupti] : used) {
    copy(GPUBOUND_STAND_IN_DRIVER, folder / driver);
    fs::remove(folder / "libcuda.so.1");
    fs::create_symlink(driver, folder / "libcuda.so.1");
    setenv("GPUBOUND_STAND_IN_DRIVER", (folder / "libcuda.so.1").c_str(), 1);
    Run("basic", {{"cupti", cupti.ends_with("12") ? "12.4" : "13.0"}});
    EXPECT_TRUE(result_["cupti"].get<std::string>().ends_with(cupti)) << driver << result_["cupti"];
    EXPECT_EQ(Work("scripted").size(), 1u);
  }
  unsetenv("GPUBOUND_STAND_IN_DRIVER");
  unsetenv("CUDA_HOME");
  fs::remove_all(folder);
}

TEST_P(StandInReleaseTest, AGreenContextIsKnownWithItsShare) {
  Run("basic", {{"cupti", GetParam()}, {"green_multiprocessors", 8}});
  EXPECT_EQ(Ledger(LedgerCounter::cupti_unknown_records), 0u);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_api_errors), 0u);
  if (std::string(GetParam()) < "12.4") return;  // tells nothing of contexts
  ASSERT_EQ(result_["contexts"].size(), 1u);
  EXPECT_EQ(result_["contexts"][0], Json({{"device", 0}, {"multiprocessors", 8}, {"green", true}}));
}

// Several tools at once.

TEST_F(StandInTest, ACuptiThatAnotherToolOpenedToSeveralIsShared) {
  for (const char* release : {"13.3", "13.5"}) {
    Run("basic", {{"cupti", release}, {"faults", {{"shared_by", "CUPTI for Kineto"}}}});
    EXPECT_TRUE(result_["started"]) << release;
    ASSERT_EQ(Work("scripted").size(), 1u);
    ASSERT_EQ(Calls("cudaLaunchKernel").size(), 1u);
    EXPECT_EQ(Calls("cudaLaunchKernel")[0]["tid"], result_["pid_tid"]);
    EXPECT_TRUE(Calls("cudaGetLastError").empty());
    EXPECT_EQ(Ledger(LedgerCounter::cupti_held_by_other), 0u);
    EXPECT_EQ(Ledger(LedgerCounter::cupti_api_errors), 0u);
    EXPECT_EQ(Unknowns(), 0u);
  }
}

TEST_F(StandInTest, BeforeItIsFinishedTheSharedInterfaceIsLeftAlone) {
  Run("basic", {{"cupti", "13.1"}, {"faults", {{"shared_by", "CUPTI for Kineto"}}}});
  EXPECT_FALSE(result_["started"]);
  EXPECT_EQ(Ledger(LedgerCounter::cupti_held_by_other), 1u);
  EXPECT_THAT(result_["notes"][0].get<std::string>(), HasSubstr("Kineto"));
}

TEST_F(StandInTest, WhereTheFirstToolChoseWholeGraphsTheyAreWholeForUs) {
  Run("graph-node",
      {{"cupti", "13.3"}, {"faults", {{"shared_by", "another"}, {"shared_graphs_whole", true}}}});
  EXPECT_EQ(Work("CUDA graph").size(), 3u);
  EXPECT_EQ(Ledger(LedgerCounter::graphs_recorded_whole), 3u);
}

TEST_F(StandInTest, WhereTheFirstToolChoseNodesWholeGraphsAreNotToBeHad) {
  Run("graph-graph", {{"cupti", "13.3"}, {"faults", {{"shared_by", "another"}}}});
  EXPECT_EQ(Work("scripted").size(), 6u);
  EXPECT_THAT(result_["notes"][0].get<std::string>(), HasSubstr("their nodes are recorded"));
}

TEST_F(StandInTest, ASharedCuptiIsOpenedByUsOnlyWhereItIsAskedFor) {
  Run("basic-shared", {{"cupti", "13.3"}});
  EXPECT_EQ(Work("scripted").size(), 1u);
  EXPECT_EQ(result_["open_to_several"], 1);
  Run("basic", {{"cupti", "13.3"}});
  EXPECT_EQ(Work("scripted").size(), 1u);
  EXPECT_EQ(result_["open_to_several"], 2) << "not decided";
}

TEST_F(StandInTest, WhereItCannotBeSharedCuptiIsUsedAloneAndThatIsSaid) {
  Run("basic-shared", {{"cupti", "13.0"}});
  EXPECT_TRUE(result_["started"]);
  EXPECT_EQ(Work("scripted").size(), 1u);
  EXPECT_THAT(result_["notes"][0].get<std::string>(), HasSubstr("13.3"));
}

TEST_F(StandInTest, EveryOtherErrorOfSubscribeIsNamed) {
  for (int error : {2, 15, 35, 999}) {
    Run("basic", {{"faults", {{"subscribe_error", error}}}});
    EXPECT_FALSE(result_["started"]) << error;
    EXPECT_EQ(Ledger(LedgerCounter::cupti_unavailable), 1u);
    EXPECT_THAT(result_["notes"][0].get<std::string>(), HasSubstr("CUPTI_ERROR"));
  }
}

TEST_F(StandInTest, ALibraryWithoutTheNewerFunctionsRecords) {
  for (const char* release : {"11.8", "12.4"}) {
    Run("basic", {{"cupti", release}}, GPUBOUND_STAND_IN_CUPTI12);
    EXPECT_TRUE(result_["started"]) << release;
    EXPECT_EQ(Work("scripted").size(), 1u) << release;
    EXPECT_TRUE(Calls("cudaGetLastError").empty()) << release;
  }
}

// Calls that are not worth a record.

TEST_P(StandInReleaseTest, QueriesAreNotRecordedAndCountedWhereThatIsAskedFor) {
  Run("basic", {{"cupti", GetParam()}});
  EXPECT_TRUE(Calls("cudaGetLastError").empty());
  setenv("GPUBOUND_COUNT_QUERIES", "1", 1);
  Run("basic", {{"cupti", GetParam()}});
  unsetenv("GPUBOUND_COUNT_QUERIES");
  EXPECT_TRUE(Calls("cudaGetLastError").empty());
  EXPECT_EQ(Ledger(LedgerCounter::api_calls_suppressed), 10u);
}

// Before 12.5 queries of the runtime have records that cannot be switched off. What the runtime asks
// the driver for within a query is no call of the program's.
TEST_P(StandInReleaseTest, QueriesOfTheDriverAreNotRecordedAndCounted) {
  setenv("GPUBOUND_COUNT_QUERIES", "1", 1);
  for (const bool driver_api : {true, false}) {
    SCOPED_TRACE(driver_api ? "the driver's" : "the runtime's");
    Run("queries", {{"cupti", GetParam()}, {"driver_api", driver_api}});
    EXPECT_TRUE(Calls("cuStreamQuery").empty());
    EXPECT_TRUE(Calls("cudaStreamQuery").empty());
    EXPECT_EQ(Ledger(LedgerCounter::api_calls_suppressed), 20u);
    EXPECT_FALSE(result_["facts"].contains("queries_not_counted"));
  }
  unsetenv("GPUBOUND_COUNT_QUERIES");
  Run("queries", {{"cupti", GetParam()}, {"driver_api", true}});
  EXPECT_TRUE(result_["facts"].contains("queries_not_counted"));
}

TEST_F(StandInTest, ARecordingThatEndsLeavesNothingSwitchedOn) {
  for (const char* workload : {"basic", "basic-goes-on"}) {
    SCOPED_TRACE(workload);
    Run(workload);
    EXPECT_EQ(result_["listening"], 0);
    EXPECT_EQ(result_["subscribers"], 0);
    EXPECT_EQ(Work("scripted").size(), 1u);
  }
}

TEST_F(StandInTest, AForkChildLeavesWithoutTouchingCupti) {
  Run("fork");
  EXPECT_EQ(result_["child"], 42);
  EXPECT_EQ(Work("scripted").size(), 1u);
}

TEST_P(StandInReleaseTest, TheUserSaysWhichFunctionsAreNotRecorded) {
  setenv("GPUBOUND_QUIET_APIS", "cudaMemsetAsync,-cudaGetLastError", 1);
  setenv("GPUBOUND_COUNT_QUERIES", "1", 1);
  Run("basic", {{"cupti", GetParam()}});
  unsetenv("GPUBOUND_COUNT_QUERIES");
  unsetenv("GPUBOUND_QUIET_APIS");
  EXPECT_EQ(Calls("cudaGetLastError").size(), 10u);
  EXPECT_TRUE(Calls("cudaMemsetAsync").empty());
  EXPECT_EQ(Work("Memset").size(), 1u) << "what it starts is";
  EXPECT_EQ(Ledger(LedgerCounter::api_calls_suppressed), 1u);
}

}  // namespace
}  // namespace gpubound
