// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/rollout.h"

#include <gpubound/annotate.h>

namespace gpubound::cartpole {

Rollout::Rollout(RolloutShape shape)
    : shape_(shape),
      // One step more than is played: the value of where it ended stands for all that follows.
      observations_((shape.horizon + 1) * kObservations * shape.environments),
      values_((shape.horizon + 1) * shape.environments),
      logits_(kActions * shape.environments),
      actions_(samples()),
      log_probabilities_(samples()),
      rewards_(samples()),
      ends_(samples()),
      advantages_(samples()),
      returns_(samples()),
      host_observations_(kObservations * shape.environments),
      host_actions_(shape.environments),
      host_rewards_(samples()),
      host_ends_(samples()) {}

void Rollout::Collect(Network& policy, Network& value, EnvironmentPool& environments,
                      uint64_t policy_seed, std::vector<int>& returns) {
  environments.Observe(host_observations_.get());
  for (size_t step = 0; step < shape_.horizon; ++step) {
    const size_t first_sample = step * shape_.environments;
    {
      GPUBOUND_OPERATION("inference");
      Observe(step, policy, value);
      Act(step, policy, policy_seed);
    }
    GPUBOUND_OPERATION("simulation");
    const EpisodeEnd* ends = &host_ends_[first_sample];
    environments.Step(host_actions_.get(), host_observations_.get(), &host_rewards_[first_sample],
                      &host_ends_[first_sample]);
    for (size_t i = 0; i < shape_.environments; ++i) {
      if (ends[i] != EpisodeEnd::kNone) returns.push_back(environments.last_episode_steps(i));
    }
  }
  GPUBOUND_OPERATION("inference");
  Observe(shape_.horizon, policy, value);
}

void Rollout::Observe(size_t step, Network& policy, Network& value) {
  float* observations = ObservationsOf(step);
  CopyToDevice(policy.stream(), observations, host_observations_.get(), host_observations_.size());
  observed_.Order(policy.stream(), value.stream());
  value.Forward(observations, shape_.environments, values_.get() + step * shape_.environments);
}

void Rollout::Act(size_t step, Network& policy, uint64_t policy_seed) {
  const size_t environments = shape_.environments;
  int32_t* actions = actions_.get() + step * environments;
  policy.Forward(ObservationsOf(step), environments, logits_.get());
  kSampleActions(policy.stream().get(), environments, environments, policy_seed, draws_,
                 logits_.get(), actions, log_probabilities_.get() + step * environments);
  draws_ += environments;
  CopyToHost(policy.stream(), host_actions_.get(), actions, environments);
  policy.stream().Synchronize();
}

void Rollout::EstimateAdvantages(Network& value, float discount, float lambda) {
  const cudaStream_t stream = value.stream().get();
  CopyToDevice(value.stream(), rewards_.get(), host_rewards_.get(), samples());
  CopyToDevice(value.stream(), ends_.get(), host_ends_.get(), samples());
  kEstimateAdvantages(stream, shape_.environments, shape_, discount, lambda, rewards_.get(),
                      ends_.get(), values_.get(), advantages_.get(), returns_.get());
  kSumMoments(stream, kPartialSums, samples(), advantages_.get(), moments_.get());
  kNormalize(stream, samples(), samples(), moments_.get(), advantages_.get());
}

}  // namespace gpubound::cartpole
