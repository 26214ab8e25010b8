// SPDX-License-Identifier: Apache-2.0
//
// Verbs for tests that use gpubound as a user does: run a command line, read what it left behind.
// One thread.
#ifndef GPUBOUND_TESTS_INTEGRATION_COMMAND_RUN_H_
#define GPUBOUND_TESTS_INTEGRATION_COMMAND_RUN_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/trace/run.h"
#include "tests/lifecycle/process_runner.h"
#include "tests/tools/tool_fixtures.h"

namespace gpubound {

using Json = nlohmann::json;

#ifdef __SANITIZE_THREAD__
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
// An interpreter without the thread sanitizer cannot load an extension that has it.
inline constexpr bool kPythonLoadsTheExtension = !kThreadSanitizer;

class CommandRun : public testing::Test {
 protected:
  CommandRun();

  // `gpubound WORDS...` in the test's own folder.
  [[nodiscard]] Outcome Gpubound(const std::vector<std::string>& words);
  // `gpubound run -o RUN -- COMMAND...`; RUN is run_path(). A test fails where it does not end with
  // |status|.
  Outcome Profile(const std::vector<std::string>& command, int status = 0);
  Outcome Shell(const std::string& script, int status = 0) {
    return Profile({"/bin/sh", "-c", script}, status);
  }
  Outcome Victim(const std::string& action, int count, int status = 0) {
    return Profile({GPUBOUND_TEST_VICTIM, action, std::to_string(count)}, status);
  }

  const std::string& run_path() const { return run_path_; }
  std::string File(const std::string& name) const { return folder_.File(name); }
  ProcessRunner& runner() { return runner_; }

  // What the run directory holds. Failures are reported and give an empty value.
  Json Report();
  gpubound::Run Load();  // testing::Test has a Run of its own
  Json RunRecordJson();
  std::vector<std::string> Databases() const;

 private:
  TemporaryFolder folder_;
  std::string run_path_;
  ProcessRunner runner_;
};

// The row of |process| called |operation|; null without one.
Json RowOf(const Json& process, const std::string& operation);

// The time of all rows of |process| in which it is not known what its devices did.
int64_t UnknownNsOf(const Json& process);

// Nothing is counted that means a loss or a wrong figure.
void ExpectNoLoss(const Json& report);

// Every cell and every row of |report| adds up to the span of its process, and the columns of a row
// to its wall time.
void ExpectExactPartition(const Json& report);

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_INTEGRATION_COMMAND_RUN_H_
