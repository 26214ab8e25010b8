// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/options.h"

#include <charconv>
#include <cmath>

namespace gpubound::cartpole {
namespace {

// Of the simulated device's memory, and far beyond what CartPole is helped by.
constexpr uint64_t kMaxEnvironments = 4096;
constexpr uint64_t kMaxThreads = 256;
constexpr uint64_t kEnvironmentsStep = 8;  // kTile

template <typename Number>
bool ParseNumber(const std::string& text, Number& number) {
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc() && stop == end;
}

std::string ReadNumber(const std::string& name, const std::string& text, double& number) {
  if (ParseNumber(text, number) && std::isfinite(number) && number >= 0) return {};
  return name + ": '" + text + "' is not a number from 0 on";
}

std::string ReadCount(const std::string& name, const std::string& text, uint64_t low, uint64_t high,
                      uint64_t step, uint64_t& count) {
  if (ParseNumber(text, count) && count >= low && count <= high && count % step == 0) return {};
  std::string expected = "a whole number from " + std::to_string(low);
  if (high != UINT64_MAX) expected += " to " + std::to_string(high);
  if (step != 1) expected += ", a multiple of " + std::to_string(step);
  return name + ": '" + text + "' is not " + expected;
}

std::string ReadValue(const std::string& name, const std::string& text, Options& options) {
  if (name == "--seed") return ReadCount(name, text, 0, UINT64_MAX, 1, options.seed);
  if (name == "--total-steps") return ReadCount(name, text, 1, UINT64_MAX, 1, options.total_steps);
  if (name == "--iterations") return ReadCount(name, text, 0, UINT64_MAX, 1, options.iterations);
  if (name == "--threads") return ReadCount(name, text, 1, kMaxThreads, 1, options.threads);
  if (name == "--envs") {
    return ReadCount(name, text, kEnvironmentsStep, kMaxEnvironments, kEnvironmentsStep,
                     options.environments);
  }
  if (name == "--target-return") return ReadNumber(name, text, options.target_return);
  return ReadNumber(name, text, options.time_limit_s);
}

bool TakesValue(const std::string& name) {
  for (const char* known : {"--seed", "--total-steps", "--iterations", "--envs", "--threads",
                            "--target-return", "--time-limit"}) {
    if (name == known) return true;
  }
  return false;
}

}  // namespace

std::string UsageText() {
  const Options defaults;
  return "usage: cartpole_ppo [OPTION ...]\n"
         "Learns to balance CartPole-v1 with PPO. Exits 0 when the mean return of the last 100\n"
         "episodes reached the target, 3 when it did not, 1 on a CUDA error, 2 on wrong use.\n"
         "\n"
         "  --seed N           decides every random number (" +
         std::to_string(defaults.seed) +
         ")\n"
         "  --total-steps N    give up after this many environment steps (" +
         std::to_string(defaults.total_steps) +
         ")\n"
         "  --iterations N     give up after this many iterations (no limit)\n"
         "  --envs N           environments stepped together, a multiple of 8 (" +
         std::to_string(defaults.environments) +
         ")\n"
         "  --threads N        threads that step them; changes no result (" +
         std::to_string(defaults.threads) +
         ")\n"
         "  --target-return X  mean return to reach, at most 500 (" +
         std::to_string(static_cast<int>(defaults.target_return)) +
         ")\n"
         "  --time-limit S     give up after this many seconds (no limit)\n"
         "  --quiet            print the result only\n"
         "\n"
         "Example: cartpole_ppo --seed 7 --threads 4\n";
}

std::string ParseOptions(const std::vector<std::string>& arguments, Options& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    std::string name = arguments[i];
    if (name == "--quiet") {
      options.quiet = true;
      continue;
    }
    if (name == "--help") {
      options.help = true;
      continue;
    }
    std::string value;
    const size_t equals = name.find('=');
    const bool joined = equals != std::string::npos;
    if (joined) {
      value = name.substr(equals + 1);
      name.resize(equals);
    }
    if (!TakesValue(name)) return "unknown option '" + name + "'; --help lists them";
    if (!joined) {
      if (++i == arguments.size()) return name + " needs a value; --help shows an example";
      value = arguments[i];
    }
    std::string problem = ReadValue(name, value, options);
    if (!problem.empty()) return problem;
  }
  return {};
}

}  // namespace gpubound::cartpole
