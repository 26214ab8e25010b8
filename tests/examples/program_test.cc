// SPDX-License-Identifier: Apache-2.0
//
// cartpole_ppo as its users run it, on the simulated device, from a shell.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace gpubound::cartpole {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Outcome {
  std::string output;  // stdout and stderr
  int status = -1;
};

class ProgramTest : public testing::Test {
 protected:
  static constexpr const char* kProgram = GPUBOUND_TEST_PROGRAM;
  static constexpr const char* kSimulatedDevice = GPUBOUND_TEST_SIMULATED_DEVICE;

  ProgramTest() {
    std::string name = (std::filesystem::temp_directory_path() / "cartpole_test.XXXXXX").string();
    scratch_ = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  ~ProgramTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
  }

  // Runs the program with |options|, under |environment|, which is a list of assignments.
  static Outcome Run(const std::string& options, const std::string& environment = {}) {
    const std::string command = "LD_LIBRARY_PATH=" + std::string(kSimulatedDevice) + " " +
                                environment + " " + kProgram + " " + options + " 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    Outcome outcome;
    std::array<char, 4096> buffer;
    for (size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
      outcome.output.append(buffer.data(), got);
    }
    const int status = pclose(pipe);
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
  }

  static std::string LastLine(const std::string& text) {
    const size_t end = text.find_last_not_of('\n');
    return text.substr(text.rfind('\n', end) + 1, end - text.rfind('\n', end));
  }

  std::string scratch_;
};

TEST_F(ProgramTest, SameSeedGivesTheSameBits) {
  const Outcome first = Run("--quiet --envs 8 --iterations 3 --seed 11");
  EXPECT_THAT(first.output, HasSubstr("checksum of the parameters: "));
  EXPECT_EQ(Run("--quiet --envs 8 --iterations 3 --seed 11").output, first.output);
}

TEST_F(ProgramTest, SeedsDiffer) {
  EXPECT_NE(Run("--quiet --envs 8 --iterations 1 --seed 11").output,
            Run("--quiet --envs 8 --iterations 1 --seed 12").output);
}

TEST_F(ProgramTest, ThreadsChangeNothing) {
  EXPECT_EQ(Run("--quiet --envs 8 --iterations 2 --threads 1").output,
            Run("--quiet --envs 8 --iterations 2 --threads 3").output);
}

TEST_F(ProgramTest, ProfilingChangesNothing) {
  const std::string options = "--quiet --envs 8 --iterations 3 --seed 11";
  const std::string run = scratch_ + "/profiled.gpubound";
  const Outcome profiled =
      Run(options, "GPUBOUND_RUN=" + run + " LD_PRELOAD=" GPUBOUND_TEST_PRELOAD);
  EXPECT_EQ(profiled.output, Run(options).output);
  EXPECT_TRUE(std::filesystem::exists(run)) << "the profiler was not there at all";
}

TEST_F(ProgramTest, SaysByItsStatusThatTheTargetWasNotReached) {
  const Outcome outcome = Run("--quiet --envs 8 --iterations 1");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(LastLine(outcome.output), HasSubstr("mean return of the last "));
}

TEST_F(ProgramTest, StopsAtTheStepLimit) {
  const Outcome outcome = Run("--total-steps 1 --envs 8");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_THAT(outcome.output, HasSubstr("iteration   0  steps    1024 "));
  EXPECT_THAT(outcome.output, Not(HasSubstr("iteration   1")));
}

TEST_F(ProgramTest, NamesTheOptionThatIsWrong) {
  const Outcome outcome = Run("--envs 9");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output,
            "cartpole_ppo: --envs: '9' is not a whole number from 8 to 4096, a multiple of 8\n");
}

TEST_F(ProgramTest, SaysWhatToDoWhereTheCudaRuntimeIsReal) {
  const Outcome outcome = Run("", "LD_LIBRARY_PATH=" GPUBOUND_TEST_OTHER_CUDART);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_THAT(outcome.output, HasSubstr("first in LD_LIBRARY_PATH"));
  EXPECT_THAT(outcome.output, HasSubstr("-DGPUBOUND_NVCC="));
}

class LearningTest : public ProgramTest {};

TEST_F(LearningTest, BalancesThePole) {
  const Outcome outcome = Run("--seed 1 --time-limit 120");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  const std::string prefix = "mean return of the last 100 episodes: ";
  const std::string result = LastLine(outcome.output);
  ASSERT_EQ(result.compare(0, prefix.size(), prefix), 0) << result;
  EXPECT_GE(std::atof(result.c_str() + prefix.size()), 450.0);
}

}  // namespace
}  // namespace gpubound::cartpole
