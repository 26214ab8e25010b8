// SPDX-License-Identifier: Apache-2.0
//
// Experience: a policy acts in all environments for a number of steps, and what happened is kept in
// device memory, with the advantage of each action over what the value network expected.
//
// Per step the host sends observations and receives actions. Both networks look at the observations
// at the same time, each on its own stream; the host waits for the policy's only, so that the value
// network computes while the environments are stepped.
//
// Used by one thread.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_ROLLOUT_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_ROLLOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/cartpole_ppo/cuda_resources.h"
#include "examples/cartpole_ppo/environment_pool.h"
#include "examples/cartpole_ppo/network.h"
#include "examples/cartpole_ppo/ppo_kernels.h"

namespace gpubound::cartpole {

class Rollout {
 public:
  explicit Rollout(RolloutShape shape);

  // Plays shape.horizon steps from where the environments are. Random numbers of |policy_seed|
  // decide the actions. Appends the return of every episode that ended to |returns|, in an order
  // that depends on nothing but the experience.
  void Collect(Network& policy, Network& value, EnvironmentPool& environments, uint64_t policy_seed,
               std::vector<int>& returns);

  // Enqueues the advantages, normalised, and the returns on |value|'s stream.
  void EstimateAdvantages(Network& value, float discount, float lambda);

  const RolloutShape& shape() const { return shape_; }
  size_t samples() const { return shape_.horizon * shape_.environments; }

  // Device memory, indexed by sample, but the observations by step, observation and environment.
  const float* observations() const { return observations_.get(); }
  const int32_t* actions() const { return actions_.get(); }
  const float* log_probabilities() const { return log_probabilities_.get(); }
  const float* advantages() const { return advantages_.get(); }
  const float* returns() const { return returns_.get(); }

 private:
  // Sends the observations of |step| and computes their values; the policy's stream has them first.
  void Observe(size_t step, Network& policy, Network& value);
  // Chooses the actions of |step| and waits for them.
  void Act(size_t step, Network& policy, uint64_t policy_seed);
  float* ObservationsOf(size_t step) const {
    return observations_.get() + step * kObservations * shape_.environments;
  }

  const RolloutShape shape_;
  uint64_t draws_ = 0;  // random numbers used
  Event observed_;

  DeviceBuffer<float> observations_;
  DeviceBuffer<float> values_;
  DeviceBuffer<float> logits_;
  DeviceBuffer<int32_t> actions_;
  DeviceBuffer<float> log_probabilities_;
  DeviceBuffer<float> rewards_;
  DeviceBuffer<EpisodeEnd> ends_;
  DeviceBuffer<float> advantages_;
  DeviceBuffer<float> returns_;
  DeviceBuffer<float> moments_{2 * kPartialSums};

  // The host's side: observations and actions of one step, the rest of the whole rollout.
  PinnedBuffer<float> host_observations_;
  PinnedBuffer<int32_t> host_actions_;
  PinnedBuffer<float> host_rewards_;
  PinnedBuffer<EpisodeEnd> host_ends_;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_ROLLOUT_H_
