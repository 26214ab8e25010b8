// SPDX-License-Identifier: Apache-2.0
//
// cartpole_ppo: trains a CartPole policy until it balances, and says so. The program that the demo
// profiles: environments on CPU threads, networks and optimizer as CUDA kernels on two streams, all
// of it annotated. It computes the same, bit for bit, whether or not a profiler is there.
#include <gpubound/annotate.h>

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "examples/cartpole_ppo/cuda_resources.h"
#include "examples/cartpole_ppo/launch.h"
#include "examples/cartpole_ppo/options.h"
#include "examples/cartpole_ppo/ppo.h"

namespace gpubound::cartpole {
namespace {

enum ExitStatus { kReached = 0, kFailed = 1, kWrongUse = 2, kNotReached = 3 };

// The returns of the most recent episodes.
class RecentReturns {
 public:
  static constexpr size_t kEpisodes = 100;

  void Add(const std::vector<int>& returns) {
    returns_.insert(returns_.end(), returns.begin(), returns.end());
    while (returns_.size() > kEpisodes) returns_.pop_front();
  }
  size_t size() const { return returns_.size(); }
  double Mean() const {
    if (returns_.empty()) return 0;
    return std::accumulate(returns_.begin(), returns_.end(), 0.0) /
           static_cast<double>(returns_.size());
  }
  bool Reached(double target) const { return size() == kEpisodes && Mean() >= target; }

 private:
  std::deque<int> returns_;
};

class Clock {
 public:
  double Seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int Train(const Options& options) {
  RequireDeviceForThisBuild();
  const std::string device = DeviceName();
  if (!options.quiet) std::printf("device: %s\n", device.c_str());
  const Clock clock;
  PpoSettings settings;
  settings.seed = options.seed;
  settings.environments = options.environments;
  settings.threads = options.threads;
  PpoTrainer trainer(settings);

  RecentReturns recent;
  uint64_t steps = 0;
  for (uint64_t iteration = 0; !recent.Reached(options.target_return); ++iteration) {
    if (steps >= options.total_steps) break;
    if (options.iterations != 0 && iteration == options.iterations) break;
    if (options.time_limit_s != 0 && clock.Seconds() >= options.time_limit_s) break;

    const IterationResult result = trainer.Iterate();
    steps += trainer.steps_per_iteration();
    recent.Add(result.returns);
    GPUBOUND_COUNTER("env_steps", steps);
    GPUBOUND_COUNTER("mean_return", recent.Mean());
    GPUBOUND_STEP(iteration);
    if (!options.quiet) {
      std::printf("iteration %3" PRIu64 "  steps %7" PRIu64
                  "  mean return %6.1f  policy loss %7.4f  value loss %8.3f  %5.1f s\n",
                  iteration, steps, recent.Mean(), static_cast<double>(result.policy_loss),
                  static_cast<double>(result.value_loss), clock.Seconds());
      std::fflush(stdout);
    }
  }
  std::printf("checksum of the parameters: %016" PRIx64 "\n", trainer.Checksum());
  std::printf("mean return of the last %zu episodes: %.2f\n", recent.size(), recent.Mean());
  return recent.Reached(options.target_return) ? kReached : kNotReached;
}

int Main(const std::vector<std::string>& arguments) {
  Options options;
  const std::string problem = ParseOptions(arguments, options);
  if (!problem.empty()) {
    std::fprintf(stderr, "cartpole_ppo: %s\n", problem.c_str());
    return kWrongUse;
  }
  if (options.help) {
    std::fputs(UsageText().c_str(), stdout);
    return 0;
  }
  try {
    return Train(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "cartpole_ppo: %s\n", error.what());
    return kFailed;
  }
}

}  // namespace
}  // namespace gpubound::cartpole

int main(int argc, char** argv) {
  return gpubound::cartpole::Main(std::vector<std::string>(argv + 1, argv + argc));
}
