// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/environment_pool.h"

#include <gpubound/annotate.h>

#include <algorithm>

namespace gpubound::cartpole {
namespace {

void WriteObservation(const CartPoleState& state, float* observations, size_t index, size_t count) {
  observations[index] = static_cast<float>(state.position);
  observations[count + index] = static_cast<float>(state.velocity);
  observations[2 * count + index] = static_cast<float>(state.angle);
  observations[3 * count + index] = static_cast<float>(state.angular_velocity);
}

}  // namespace

EnvironmentPool::EnvironmentPool(uint64_t seed, size_t environments, size_t threads)
    : shares_(std::clamp<size_t>(threads, 1, environments)) {
  environments_.reserve(environments);
  for (size_t i = 0; i < environments; ++i) environments_.emplace_back(seed, i);
  for (size_t share = 1; share < shares_; ++share) {
    workers_.emplace_back([this, share] { Work(share); });
  }
}

EnvironmentPool::~EnvironmentPool() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    closing_ = true;
  }
  start_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void EnvironmentPool::Observe(float* observations) const {
  for (size_t i = 0; i < size(); ++i) {
    WriteObservation(environments_[i].state(), observations, i, size());
  }
}

void EnvironmentPool::Step(const int32_t* actions, float* observations, float* rewards,
                           EpisodeEnd* ends) {
  const StepArguments arguments = {.actions = actions,
                                   .observations = observations,
                                   .rewards = rewards,
                                   .ends = ends,
                                   .operation = gpubound_hand_over()};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    arguments_ = arguments;
    unfinished_ = workers_.size();
    ++round_;
  }
  start_.notify_all();
  StepShare(0, arguments);
  GPUBOUND_LAYER(wait);
  std::unique_lock<std::mutex> lock(mutex_);
  finish_.wait(lock, [this] { return unfinished_ == 0; });
}

void EnvironmentPool::Work(size_t share) {
  uint64_t done = 0;
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    start_.wait(lock, [&] { return closing_ || round_ != done; });
    if (closing_) return;
    done = round_;
    const StepArguments arguments = arguments_;
    lock.unlock();
    {
      const AdoptedOperation operation(arguments.operation);
      StepShare(share, arguments);
    }
    lock.lock();
    if (--unfinished_ == 0) finish_.notify_one();
  }
}

void EnvironmentPool::StepShare(size_t share, const StepArguments& arguments) {
  GPUBOUND_LAYER(simulator);
  const size_t count = size();
  const size_t end = count * (share + 1) / shares_;
  for (size_t i = count * share / shares_; i < end; ++i) {
    arguments.ends[i] = environments_[i].Step(arguments.actions[i]);
    arguments.rewards[i] = 1.0f;
    WriteObservation(environments_[i].state(), arguments.observations, i, count);
  }
}

}  // namespace gpubound::cartpole
