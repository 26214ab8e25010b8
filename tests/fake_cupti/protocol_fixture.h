// SPDX-License-Identifier: Apache-2.0
//
// Runs protocol_client, one process for each test, and hands over what it printed. Shared by the
// tests of the protocol and of the faults. One thread.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_PROTOCOL_FIXTURE_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_PROTOCOL_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/lifecycle/process_runner.h"

namespace gpubound::sim {

using Json = nlohmann::json;

// CUpti_ActivityKind, spelt out: this program includes nothing of CUPTI.
inline constexpr int kMemcpy = 1;
inline constexpr int kMemset = 2;
inline constexpr int kSerialKernel = 3;
inline constexpr int kDriver = 4;
inline constexpr int kRuntime = 5;
inline constexpr int kDevice = 8;
inline constexpr int kKernel = 10;
inline constexpr int kOverhead = 17;
inline constexpr int kMemcpy2 = 22;
inline constexpr int kModule = 27;
inline constexpr int kSync = 38;
inline constexpr int kExternal = 39;
inline constexpr int kGraphTrace = 51;

inline constexpr int kLaunchKernelCbid = 211;

class ProtocolTest : public ::testing::Test {
 protected:
  // Runs the client; returns what it printed, null when it did not end by itself with status 0.
  Json Run(const Json& config = Json::object(), const Json& script = Json::object()) {
    truth_path_ = ::testing::TempDir() + "sim_" + std::to_string(getpid()) + ".truth.json";
    ProcessRunner runner;
    runner.Set("GPUBOUND_SIM_SCRIPT", script.dump());
    runner.Set("GPUBOUND_SIM_TRUTH", truth_path_);
    const Outcome outcome = runner.Run({PROTOCOL_CLIENT, config.dump()});
    EXPECT_FALSE(outcome.hung) << outcome.Describe();
    output_ = outcome.out + outcome.err;
    exit_status_ = outcome.exit_code;
    return exit_status_ == 0 ? Json::parse(outcome.out) : Json();
  }
  Json Truth() {
    std::ifstream file(truth_path_);
    return Json::parse(file);
  }
  static std::vector<Json> Records(const Json& result, int kind) {
    std::vector<Json> found;
    for (const Json& record : result["records"]) {
      if (record["kind"] == kind) found.push_back(record);
    }
    return found;
  }
  static std::vector<std::string> CallNames(const Json& result) {
    std::vector<std::string> names;
    for (const Json& call : Records(result, kRuntime)) names.push_back(call["name"]);
    return names;
  }
  static int64_t Duration(const Json& record) {
    return record["end"].get<int64_t>() - record["start"].get<int64_t>();
  }
  static bool Overlap(const Json& a, const Json& b) {
    return a["start"] < b["end"] && b["start"] < a["end"];
  }

  std::string truth_path_;
  std::string output_;
  int exit_status_ = 0;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_PROTOCOL_FIXTURE_H_
