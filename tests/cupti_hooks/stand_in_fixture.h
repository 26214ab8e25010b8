// SPDX-License-Identifier: Apache-2.0
//
// Runs the CUPTI source against the stand-in libcupti, one process for each run (stand_in_client),
// since the stand-in reads its script once. One thread.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_STAND_IN_FIXTURE_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_STAND_IN_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/ledger_of.h"
#include "tests/lifecycle/process_runner.h"

namespace gpubound {

using Json = nlohmann::json;

class StandInTest : public ::testing::Test {
 protected:
  void Run(const std::string& workload, const Json& script = Json::object(),
           const std::string& library = "") {
    ProcessRunner runner;
    runner.Set("GPUBOUND_SIM_SCRIPT", script.dump());
    std::vector<std::string> command = {GPUBOUND_STAND_IN_CLIENT, workload};
    if (!library.empty()) command.push_back(library);
    const Outcome outcome = runner.Run(command);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.Describe();
    result_ = Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
    ASSERT_TRUE(result_.is_object()) << outcome.Describe();
  }
  std::vector<Json> Work(const std::string& name) {
    std::vector<Json> found;
    for (const Json& work : result_.value("work", Json::array())) {
      if (work["name"] == name) found.push_back(work);
    }
    return found;
  }
  std::vector<Json> Calls(const std::string& name) {
    std::vector<Json> found;
    for (const Json& call : result_.value("api", Json::array())) {
      if (call["name"] == name) found.push_back(call);
    }
    return found;
  }
  uint64_t Ledger(LedgerCounter counter) {
    return result_.contains("ledger") ? result_["ledger"].value(LedgerName(counter), uint64_t{0})
                                      : 0;
  }
  size_t Unknowns() { return result_.value("unknown", Json::array()).size(); }

  Json result_;
};

class StandInReleaseTest : public StandInTest, public ::testing::WithParamInterface<const char*> {};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_STAND_IN_FIXTURE_H_
