// SPDX-License-Identifier: Apache-2.0
//
// Kernels of proximal policy optimization (Schulman et al., 2017): acting, advantages, losses. How
// they are launched: launch.h. Layout of matrices: network_kernels.h.
//
// A rollout is |horizon| steps of |environments| environments; sample s is step s / environments of
// environment s % environments. A minibatch is a list of samples. Pointers are device memory; none
// may overlap.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_PPO_KERNELS_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_PPO_KERNELS_H_

#include <cstddef>
#include <cstdint>

#include "examples/cartpole_ppo/cartpole_env.h"
#include "examples/cartpole_ppo/launch.h"

namespace gpubound::cartpole {

struct RolloutShape {
  size_t horizon;
  size_t environments;
};

struct PolicyLossSettings {
  float clip;  // how far the probability of an action may move, as a ratio, and still count
  float entropy_bonus;  // what keeps the policy from settling too early
};

// Draws an action for each environment from its logits. Random numbers are |seed|'s from
// |first_draw| on, one for each environment. Items: environments.
CARTPOLE_KERNEL void SampleActions(size_t environments, uint64_t seed, uint64_t first_draw,
                                   const float* logits, int32_t* actions, float* log_probabilities);

// Generalized advantage estimation (Schulman et al., 2016), and the returns that the value network
// is to predict. |values| has one more step than the rest. Items: environments.
CARTPOLE_KERNEL void EstimateAdvantages(RolloutShape shape, float discount, float lambda,
                                        const float* rewards, const EpisodeEnd* ends,
                                        const float* values, float* advantages, float* returns);

// Partial sums of |values| and of their squares: kPartialSums of each. Items: kPartialSums.
CARTPOLE_KERNEL void SumMoments(size_t count, const float* values, float* partial_sums);

// Brings |values| to mean 0 and variance 1, from their partial sums. Items: count.
CARTPOLE_KERNEL void Normalize(size_t count, const float* partial_sums, float* values);

// Collects the observations of a minibatch into a matrix. Items: samples.
CARTPOLE_KERNEL void GatherObservations(size_t environments, size_t samples,
                                        const uint32_t* minibatch, const float* observations,
                                        float* gathered);

// The clipped surrogate loss with entropy bonus of each sample of a minibatch, and the derivative
// of their mean by the logits. The other pointers are indexed by the rollout's samples. Items:
// samples.
CARTPOLE_KERNEL void PolicyLoss(PolicyLossSettings settings, size_t samples,
                                const uint32_t* minibatch, const int32_t* actions,
                                const float* old_log_probabilities, const float* advantages,
                                const float* logits, float* losses, float* logit_gradients);

// Half the squared error of the predicted return of each sample of a minibatch, and the derivative
// of their mean by the prediction. Items: samples.
CARTPOLE_KERNEL void ValueLoss(size_t samples, const uint32_t* minibatch, const float* returns,
                               const float* values, float* losses, float* value_gradients);

inline constexpr Kernel<SampleActions> kSampleActions{"SampleActions"};
inline constexpr Kernel<EstimateAdvantages> kEstimateAdvantages{"EstimateAdvantages"};
inline constexpr Kernel<SumMoments> kSumMoments{"SumMoments"};
inline constexpr Kernel<Normalize> kNormalize{"Normalize"};
inline constexpr Kernel<GatherObservations> kGatherObservations{"GatherObservations"};
inline constexpr Kernel<PolicyLoss> kPolicyLoss{"PolicyLoss"};
inline constexpr Kernel<ValueLoss> kValueLoss{"ValueLoss"};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_PPO_KERNELS_H_
