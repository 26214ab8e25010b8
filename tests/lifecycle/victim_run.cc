// SPDX-License-Identifier: Apache-2.0
//
// The victim's own environment is the test's, with what an earlier recorder may have left removed.
#include "tests/lifecycle/victim_run.h"

#include <sys/mman.h>

#include <cstdlib>

#include "tests/lifecycle/recorded_run.h"

namespace gpubound {

VictimRun::VictimRun() {
  std::string pattern = testing::TempDir() + "lifecycle.XXXXXX";
  directory_ = std::filesystem::canonical(mkdtemp(pattern.data()));
  for (const char* variable : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPUBOUND_DISABLE",
                               "GPUBOUND_LIBRARY", "LD_PRELOAD"}) {
    runner_.Unset(variable);
  }
  runner_.Set("GPUBOUND_RUN", run_directory());
  runner_.Set("VICTIM_PROGRESS", directory_ / "progress");
  runner_.Set("VICTIM_FILE", directory_ / "file of the victim");
  runner_.Set("VICTIM_PLUGIN", GPUBOUND_TEST_PLUGIN);
  runner_.Set("VICTIM_CONSTRUCTOR_PLUGIN", GPUBOUND_TEST_CONSTRUCTOR_PLUGIN);
}

VictimRun::~VictimRun() {
  if (progress_ != nullptr) munmap(progress_, sizeof(ProgressFile));
  if (HasFailure()) {
    std::fprintf(stderr, "kept for inspection: %s\n", directory_.c_str());
    return;
  }
  std::filesystem::remove_all(directory_);
}

void VictimRun::StartAfresh() {
  std::filesystem::remove_all(run_directory());
  std::filesystem::remove(directory_ / "progress");
  std::filesystem::remove(directory_ / "file of the victim");
  if (progress_ != nullptr) munmap(progress_, sizeof(ProgressFile));
  progress_ = MapProgress((directory_ / "progress").c_str());
}

Outcome VictimRun::Run(const std::vector<std::string>& command) {
  StartAfresh();
  ProcessRunner preloaded = runner_;
  preloaded.Set("LD_PRELOAD", GPUBOUND_TEST_SHIM);
  const Outcome outcome = preloaded.Run(command);
  EXPECT_FALSE(outcome.hung) << outcome.Describe();
  return outcome;
}

Outcome VictimRun::RunPlain(const std::vector<std::string>& command) {
  StartAfresh();
  return runner_.Run(command);
}

gpubound::Run VictimRun::ReadTrace() {
  Result<gpubound::Run> run = LoadRun(run_directory());
  if (!run.ok()) {
    ADD_FAILURE() << run.error().ToString();
    return {};
  }
  return std::move(run).value();
}

void VictimRun::ExpectTraceAgreesWithVictim() {
  EXPECT_GT(progress_->used, 0u) << "the victim opened no scope";
  for (const std::string& difference : Disagreements(ReadTrace(), *progress_)) {
    ADD_FAILURE() << difference;
  }
}

}  // namespace gpubound
