// SPDX-License-Identifier: Apache-2.0
//
// The command line of cartpole_ppo.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_OPTIONS_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace gpubound::cartpole {

struct Options {
  uint64_t seed = 1;
  uint64_t total_steps = 600'000;
  uint64_t iterations = 0;  // 0: no limit
  uint64_t environments = 32;
  uint64_t threads = 2;
  double target_return = 450;
  double time_limit_s = 0;  // 0: no limit
  bool quiet = false;
  bool help = false;
};

// What --help prints.
std::string UsageText();

// Reads |arguments|, the program's name left out, into |options|. Returns an empty string, or what
// is wrong and what would be right; |options| is then undefined.
std::string ParseOptions(const std::vector<std::string>& arguments, Options& options);

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_OPTIONS_H_
