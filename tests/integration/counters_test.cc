// SPDX-License-Identifier: Apache-2.0
//
// `gpubound run --counters occupancy` on the simulated device, whose counters say what the script
// says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/integration/command_run.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Counters : public CommandRun {
 protected:
  Counters() { runner().Set("GPUBOUND_CALIBRATE", "0"); }
  // Two seconds of launches: the device is known to be used when CUPTI has delivered its first
  // work, after half a second, or later where the machine is busy.
  Outcome Sampled(const Json& counters, const Json& more = Json::object()) {
    Json script = more;
    script["counters"] = counters;
    runner().Set("GPUBOUND_SIM_SCRIPT", script.dump());
    runner().Set("GPUBOUND_COUNTERS", "occupancy");
    return Victim("steady", 2);
  }
  Json Rows(const std::string& query) {
    const Outcome outcome = Gpubound({"sql", run_path(), query, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    return Json::parse(outcome.out, nullptr, false);
  }
  int64_t Samples() { return Rows("SELECT count(*) AS n FROM counter_sample")[0]["n"]; }
  std::string Notes() { return Rows("SELECT text FROM note").dump(); }
  int64_t Ledger(LedgerCounter counter) {
    const Json rows =
        Rows("SELECT sum(value) AS n FROM ledger WHERE counter='" + LedgerName(counter) + "'");
    return rows[0]["n"].is_null() ? 0 : rows[0]["n"].get<int64_t>();
  }
};

TEST_F(Counters, AreSampledWhileTheDeviceIsUsed) {
  ASSERT_EQ(Sampled({{"sm_active", 40}, {"warps_active", 12.5}, {"dram_throughput", 7}}).exit_code,
            0);
  EXPECT_GT(Samples(), 10);
  const Json values =
      Rows("SELECT DISTINCT device, sm_active, warps_active, dram_throughput FROM counter_sample");
  ASSERT_EQ(values.size(), 1u);
  EXPECT_EQ(values[0]["device"], 0);
  EXPECT_EQ(values[0]["sm_active"], 40.0);
  EXPECT_EQ(values[0]["warps_active"], 12.5);
  EXPECT_EQ(values[0]["dram_throughput"], 7.0);
}

TEST_F(Counters, AreInTheReportByOperation) {
  Sampled({{"sm_active", 40}, {"warps_active", 12.5}});
  const Json rows = Report()["processes"][0]["counters"];
  ASSERT_FALSE(rows.empty());
  for (const Json& row : rows) {
    EXPECT_NEAR(row["sm_active_share"].get<double>(), 0.4, 1e-9);
    EXPECT_NEAR(row["warps_active_share"].get<double>(), 0.125, 1e-9);
  }
  EXPECT_THAT(Gpubound({"report", run_path(), "--full"}).out, HasSubstr("Hardware counters"));
}

TEST_F(Counters, LieInTheRunOneBehindTheOther) {
  Sampled(Json::object());
  const Json rows = Rows(
      "SELECT min(begin_ns) AS first, max(end_ns) AS last, sum(end_ns - begin_ns) AS sum FROM "
      "counter_sample");
  const Json process = Rows("SELECT begin_ns, end_ns FROM process")[0];
  EXPECT_GE(rows[0]["first"], process["begin_ns"]);
  EXPECT_LE(rows[0]["last"], process["end_ns"]);
  // Times of two reads are apart by what the clocks' comparison is off.
  const int64_t covered_ns = rows[0]["last"].get<int64_t>() - rows[0]["first"].get<int64_t>();
  EXPECT_NEAR(rows[0]["sum"].get<double>(), static_cast<double>(covered_ns),
              0.01 * static_cast<double>(covered_ns));
}

// Which has CUPTI tell ticks as the time.
TEST_F(Counters, LieInTheRunThoughAnotherToolHasCupti) {
  runner().Set("GPUBOUND_COUNTERS", "occupancy");
  runner().Set("GPUBOUND_TEST_SECOND_TOOL", GPUBOUND_TEST_SECOND_TOOL);
  ASSERT_EQ(Victim("second_tool", 2000).exit_code, 0);
  EXPECT_GT(Samples(), 10);
  const Json rows = Rows(
      "SELECT count(*) AS n FROM counter_sample, process WHERE counter_sample.begin_ns < "
      "process.begin_ns OR counter_sample.end_ns > process.end_ns");
  EXPECT_EQ(rows[0]["n"], 0);
}

TEST_F(Counters, AreNotSampledUnlessAskedFor) {
  Victim("steady", 1);
  EXPECT_EQ(Samples(), 0);
  EXPECT_EQ(Ledger(LedgerCounter::counters_unavailable), 0);
}

TEST_F(Counters, AreAnOptionOfRun) {
  const Outcome outcome = Gpubound({"run", "-o", run_path(), "--counters", "occupancy", "--",
                                    GPUBOUND_TEST_VICTIM, "steady", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_GT(Samples(), 0);
}

TEST_F(Counters, WithoutTheRightsTheRemedyIsNamed) {
  const Outcome outcome = Sampled({{"error_in", "cuptiPmSamplingEnable"}, {"error", 35}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  EXPECT_EQ(Samples(), 0);
  EXPECT_EQ(Ledger(LedgerCounter::counters_unavailable), 1);
  EXPECT_THAT(Notes(), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST_F(Counters, ALibraryBeforeTheyCameIsNamed) {
  runner().Set("GPUBOUND_CUPTI_LIBRARY",
               std::string(GPUBOUND_TEST_SIM_DIR) + "/cuda12/libcupti.so.12");
  Sampled(Json::object(), {{"cupti", "12.4"}});
  EXPECT_EQ(Samples(), 0);
  EXPECT_THAT(Notes(), HasSubstr("CUDA 12.6"));
}

// The one in the loader's path is loaded first, does not know the GPU and stays loaded.
TEST_F(Counters, AreAskedOfTheLibraryThatRecords) {
  const std::filesystem::path toolkit = File("toolkit/lib64");
  std::filesystem::create_directories(toolkit);
  std::filesystem::copy_file(GPUBOUND_TEST_SIM_DIR "/libcupti.so.13", toolkit / "libcupti.so.13");
  runner().Set("CUDA_HOME", File("toolkit"));
  Sampled(Json::object(),
          {{"faults", {{"subscribe_error", 2}, {"subscribe_error_in", "/lib/sim/"}}}});
  EXPECT_GT(Samples(), 10) << Notes();
  EXPECT_EQ(Ledger(LedgerCounter::counters_unavailable), 0);
}

TEST_F(Counters, AQuantityThatTheChipDoesNotKnowIsNull) {
  Sampled({{"unknown_metrics", {"dram"}}});
  const Json kept = Rows(
      "SELECT count(sm_active) AS sm, count(dram_throughput) AS dram FROM "
      "counter_sample");
  EXPECT_GT(kept[0]["sm"], 0);
  EXPECT_EQ(kept[0]["dram"], 0);
}

TEST_F(Counters, AValueThatIsNotFiniteIsNull) {
  Sampled({{"infinite", "dram"}});
  const Json kept = Rows(
      "SELECT count(sm_active) AS sm, count(dram_throughput) AS dram FROM "
      "counter_sample");
  EXPECT_GT(kept[0]["sm"], 0);
  EXPECT_EQ(kept[0]["dram"], 0);
}

TEST_F(Counters, AQuantityThatNeedsAPassOfItsOwnIsLeftOut) {
  Sampled({{"own_pass", "sm__warps_active"}});
  const Json kept = Rows(
      "SELECT count(warps_active) AS warps, count(dram_throughput) AS dram FROM "
      "counter_sample");
  EXPECT_EQ(kept[0]["warps"], 0);
  EXPECT_GT(kept[0]["dram"], 0);
}

TEST_F(Counters, AChipWithoutATimerIsSampledByCycles) {
  Sampled({{"has_timer", false}});
  EXPECT_GT(Samples(), 0);
}

TEST_F(Counters, SaysThatTheHardwareLostSome) {
  Sampled({{"overflow", true}});
  EXPECT_GT(Samples(), 0);
  EXPECT_EQ(Ledger(LedgerCounter::counter_samples_lost), 1);
}

TEST_F(Counters, ASessionThatFailsIsSaid) {
  Sampled({{"error_in", "cuptiPmSamplingDecodeData"}, {"error", 999}});
  EXPECT_EQ(Samples(), 0);
  EXPECT_EQ(Ledger(LedgerCounter::counters_unavailable), 1);
}

TEST_F(Counters, AnUnknownSetIsWrongUse) {
  const Outcome outcome =
      Gpubound({"run", "--counters", "everything", "--", GPUBOUND_TEST_VICTIM, "steady", "1"});
  EXPECT_EQ(outcome.exit_code, 125);
  EXPECT_THAT(outcome.err, HasSubstr("--counters"));
}

}  // namespace
}  // namespace gpubound
