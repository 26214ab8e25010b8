// SPDX-License-Identifier: Apache-2.0
//
// Many CartPoles stepped in lockstep by a few threads. Each environment has random numbers of its
// own and belongs to one thread, so the number of threads changes the speed and nothing else.
//
// The pool is used by the thread that made it, which steps a share of the environments itself.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_ENVIRONMENT_POOL_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_ENVIRONMENT_POOL_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "examples/cartpole_ppo/cartpole_env.h"

namespace gpubound::cartpole {

class EnvironmentPool {
 public:
  // |threads| counts the caller: 1 steps everything on it.
  EnvironmentPool(uint64_t seed, size_t environments, size_t threads);
  ~EnvironmentPool();
  EnvironmentPool(const EnvironmentPool&) = delete;
  EnvironmentPool& operator=(const EnvironmentPool&) = delete;

  size_t size() const { return environments_.size(); }

  // Writes the current state of each environment: observation k of all of them, then k + 1.
  void Observe(float* observations) const;

  // Steps each environment and returns when all have: its reward, whether its episode ended, and
  // its state after the step as Observe() writes it.
  void Step(const int32_t* actions, float* observations, float* rewards, EpisodeEnd* ends);

  // Steps of the episode that environment |index| ended last.
  int last_episode_steps(size_t index) const { return environments_[index].last_episode_steps(); }

 private:
  struct StepArguments {
    const int32_t* actions = nullptr;
    float* observations = nullptr;
    float* rewards = nullptr;
    EpisodeEnd* ends = nullptr;
    uint64_t operation =
        0;  // gpubound's token: the workers' time belongs to the caller's operation
  };

  void Work(size_t share);
  void StepShare(size_t share, const StepArguments& arguments);

  std::vector<CartPole> environments_;
  const size_t shares_;

  std::mutex mutex_;
  std::condition_variable start_;
  std::condition_variable finish_;
  StepArguments arguments_;
  uint64_t round_ = 0;     // a worker steps once for each round
  size_t unfinished_ = 0;  // workers that have not finished the round
  bool closing_ = false;
  std::vector<std::thread> workers_;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_ENVIRONMENT_POOL_H_
