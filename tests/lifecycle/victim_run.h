// SPDX-License-Identifier: Apache-2.0
//
// Fixture: runs lifecycle_victim under LD_PRELOAD of the real libraries in a directory of its own,
// and reads the trace back with the analysis reader.
#ifndef GPUBOUND_TESTS_LIFECYCLE_VICTIM_RUN_H_
#define GPUBOUND_TESTS_LIFECYCLE_VICTIM_RUN_H_

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analysis/reader/reader.h"
#include "tests/lifecycle/process_runner.h"
#include "tests/programs/progress.h"

namespace gpubound {

class VictimRun : public testing::Test {
 protected:
  VictimRun();
  ~VictimRun() override;

  // Forgets earlier runs and runs |command| with the libraries preloaded.
  Outcome Run(const std::vector<std::string>& command);
  Outcome RunVictim(const std::string& action) { return Run({GPUBOUND_TEST_VICTIM, action}); }
  // The same without the libraries.
  Outcome RunPlain(const std::vector<std::string>& command);

  // The trace of the last Run; empty, with a failure, when it cannot be read.
  gpubound::Run ReadTrace();
  void ExpectTraceAgreesWithVictim();

  std::filesystem::path directory() const { return directory_; }
  std::filesystem::path run_directory() const { return directory_ / "victim.gpubound"; }
  ProgressFile* progress() { return progress_; }
  ProcessRunner* runner() { return &runner_; }

 private:
  void StartAfresh();

  std::filesystem::path directory_;
  ProcessRunner runner_;
  ProgressFile* progress_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIFECYCLE_VICTIM_RUN_H_
