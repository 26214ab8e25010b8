// SPDX-License-Identifier: Apache-2.0
//
// One program on two simulated devices, against what each of them really did.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/integration/command_run.h"
#include "tests/integration/device_truth.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

constexpr int kIterations = 20;
constexpr int64_t kCopyBytes = 64 * 1024;  // of a copy in device_pair.h

class TwoDevices : public CommandRun {
 protected:
  TwoDevices() {
    runner().Set("GPUBOUND_SIM_TRUTH", File("truth.json"));
    SetScript({});
  }
  // Two devices, and what |script| has besides.
  void SetScript(Json script) {
    script["device"] = {{"devices", 2},
                        {"kernels", {{"policy_forward", 300'000}, {"policy_backward", 500'000}}}};
    runner().Set("GPUBOUND_SIM_SCRIPT", script.dump());
  }
  void Train() {
    const Outcome outcome = Victim("devices", kIterations);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
    truth_ = Json::parse(ReadText(File("truth.json")));
    report_ = Report();
    ASSERT_EQ(report_["processes"].size(), 1u);
    ASSERT_EQ(report_["devices"].size(), 2u);
  }
  // A copy keeps the devices at both of its ends busy; all copies here are between the two.
  int64_t TrueBusyNs(int device) {
    return BusyNs(truth_, [device](const Json& op) {
      return op["device"] == device || op["kind"] == "memcpy";
    });
  }
  int64_t TrueBusyNsOfBoth() { return TrueBusyNs(0) + TrueBusyNs(1); }
  // The devices' uuids end with their number.
  Json Device(int number) {
    for (const Json& device : report_["devices"]) {
      if (device["uuid"].get<std::string>().back() == '0' + number) return device;
    }
    return nullptr;
  }
  Json Row(const std::string& operation) { return RowOf(report_["processes"][0], operation); }
  Json Rows(const std::string& query) {
    const Outcome outcome = Gpubound({"sql", run_path(), query, "--json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
    return Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
  }

  Json truth_, report_;
};

TEST_F(TwoDevices, EachHasItsOwnBusyTime) {
  Train();
  EXPECT_EQ(report_["run"]["devices_used"], 2);
  for (int number : {0, 1}) {
    const Json device = Device(number);
    EXPECT_TRUE(device["used"].get<bool>());
    ExpectSameTime(device["busy_ns"], TrueBusyNs(number), device["uuid"]);
  }
  EXPECT_LT(TrueBusyNs(0), TrueBusyNs(1)) << "they are told apart";
}

TEST_F(TwoDevices, BusyOfTheProcessIsWhereAnyOfThemIs) {
  Train();
  ExpectExactPartition(report_);
  const int64_t any = BusyNs(truth_, [](const Json&) { return true; });
  ExpectSameTime(report_["processes"][0]["gpu_busy_ns"], any, "of the process");
  EXPECT_LT(any, TrueBusyNsOfBoth()) << "they work at the same time";
}

TEST_F(TwoDevices, TheShareOfTheRunIsOfBothOfThem) {
  Train();
  const double span_ns = report_["run"]["wall_ns"].get<double>();
  const auto busy_ns = static_cast<double>(TrueBusyNsOfBoth());
  EXPECT_NEAR(report_["run"]["whole_gpu_busy_share"].get<double>(), busy_ns / (2 * span_ns), 0.001);
}

TEST_F(TwoDevices, OperationsAddUpToTheBusyTimeAndTheSpanOfEach) {
  Train();
  for (int number : {0, 1}) {
    const Json device = Device(number);
    int64_t wall_ns = 0;
    int64_t busy_ns = 0;
    for (const Json& row : report_["operation_devices"]) {
      if (row["device"] != device["uuid"]) continue;
      wall_ns += row["wall_ns"].get<int64_t>();
      busy_ns += row["busy_ns"].get<int64_t>();
    }
    EXPECT_EQ(wall_ns, device["span_ns"]);
    EXPECT_EQ(busy_ns, device["busy_ns"]);
  }
}

TEST_F(TwoDevices, ACopyBetweenThemIsWorkOfBothAndItsBytesCountOnce) {
  Train();
  const Json copies = Rows(
      "SELECT device, count(*) AS n, sum(bytes) AS bytes FROM gpu WHERE kind = 'memcpy' "
      "GROUP BY device ORDER BY device");
  ASSERT_EQ(copies.size(), 2u);
  for (const Json& device : copies) {
    EXPECT_EQ(device["n"], 2 * kIterations) << "one each way";
    EXPECT_EQ(device["bytes"], kIterations * kCopyBytes) << "those that it sent";
  }
  ExpectSameTime(Row("exchange")["gpu_caused_ns"], BusyNsOf(truth_, {"memcpy"}), "exchange");
}

TEST_F(TwoDevices, KernelsStayOnTheirDevice) {
  Train();
  const Json kernels = Rows(
      "SELECT device, name, count(*) AS n FROM gpu WHERE kind = 'kernel' GROUP BY device, name "
      "ORDER BY device");
  const Json expected = {{{"device", 0}, {"name", "policy_forward"}, {"n", kIterations}},
                         {{"device", 1}, {"name", "policy_backward"}, {"n", kIterations}}};
  EXPECT_EQ(kernels, expected);
}

TEST_F(TwoDevices, AWaitForOneIsForWhatRunsOnThatOne) {
  Train();
  const Json waits = Rows(
      "SELECT context, count(*) AS n FROM sync WHERE type = 4 GROUP BY context ORDER BY context");
  const Json expected = {{{"context", 1}, {"n", kIterations}},
                         {{"context", 2}, {"n", kIterations}}};
  EXPECT_EQ(waits, expected);
  EXPECT_EQ(LedgerOf(report_, LedgerCounter::work_after_wait), 0);
}

// As two slices of one device, which CUPTI's records named after the whole device until 12.8.
TEST_F(TwoDevices, SlicesOfOneDeviceHaveTheirOwnIdentity) {
  for (const char* release : {"12.6", "12.8", "13.0"}) {
    SCOPED_TRACE(release);
    std::filesystem::remove_all(run_path());
    SetScript({{"mig", true}, {"cupti", release}});
    Train();
    for (int number : {0, 1}) {
      const Json device = Device(number);
      EXPECT_EQ(device["uuid"], "MIG-67707562-6f75-6e64-7369-6d000000f10" + std::to_string(number));
      ExpectSameTime(device["busy_ns"], TrueBusyNs(number), device["uuid"]);
      const std::string uuid = device["uuid"];
      EXPECT_EQ(Rows("SELECT 1 FROM device WHERE uuid = '" + uuid + "'").size(), 1u);
    }
  }
}

// The streams of a device are in its first context and in the other one, which has a part of it.
TEST_F(TwoDevices, ContextsOfADeviceStayApartAndAreOfOneDevice) {
  SetScript({{"contexts", 2}, {"green_multiprocessors", 4}});
  ASSERT_EQ(Victim("events", kIterations).exit_code, 0);
  const Json work = Rows(
      "SELECT device, context, count(*) AS n FROM gpu WHERE kind = 'kernel' GROUP BY 1, 2 "
      "ORDER BY 1, 2");
  const Json two_contexts = {{{"device", 0}, {"context", 1}, {"n", kIterations}},
                             {{"device", 0}, {"context", 3}, {"n", kIterations}}};
  EXPECT_EQ(work, two_contexts);
  report_ = Report();
  EXPECT_EQ(report_["run"]["devices_used"], 1);
  ExpectExactPartition(report_);
  const Json contexts = Rows(
      "SELECT device, context, parent, multiprocessors, is_green FROM context ORDER BY context");
  const Json expected = {
      {{"device", 0},
       {"context", 1},
       {"parent", nullptr},
       {"multiprocessors", 16},
       {"is_green", 0}},
      {{"device", 1},
       {"context", 2},
       {"parent", nullptr},
       {"multiprocessors", 16},
       {"is_green", 0}},
      {{"device", 0}, {"context", 3}, {"parent", 1}, {"multiprocessors", 4}, {"is_green", 1}},
      {{"device", 1}, {"context", 4}, {"parent", 2}, {"multiprocessors", 4}, {"is_green", 1}}};
  EXPECT_EQ(contexts, expected);
}

}  // namespace
}  // namespace gpubound
