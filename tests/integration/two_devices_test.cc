// SPDX-License-Identifier: Apache-2.0
//
// One program on two simulated devices, against what each of them really did.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/integration/command_run.h"
#include "tests/integration/device_truth.h"

namespace gpubound {
namespace {

constexpr int kIterations = 20;
constexpr int64_t kCopyBytes = 64 * 1024;  // of a copy in device_pair.h

class TwoDevices : public CommandRun {
 protected:
  TwoDevices() {
    runner().Set("GPUBOUND_SIM_TRUTH", File("truth.json"));
    runner().Set("GPUBOUND_SIM_SCRIPT",
                 R"({"device": {"devices": 2,)"
                 R"( "kernels": {"policy_forward": 300000, "policy_backward": 500000}}})");
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

}  // namespace
}  // namespace gpubound
