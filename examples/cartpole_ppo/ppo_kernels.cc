// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/ppo_kernels.h"

#include <cmath>

#include "examples/cartpole_ppo/random.h"

namespace gpubound::cartpole {
namespace {

static_assert(kActions == 2, "the policy's softmax is written for two actions");

// Logarithms of the probabilities of both actions.
struct LogSoftmax {
  float of[kActions];
};

CARTPOLE_DEVICE LogSoftmax ComputeLogSoftmax(float first, float second) {
  // Relative to the larger logit, so that no exponential overflows.
  const float larger = first > second ? first : second;
  const float log_sum = larger + std::log(std::exp(first - larger) + std::exp(second - larger));
  return {{first - log_sum, second - log_sum}};
}

}  // namespace

CARTPOLE_KERNEL void SampleActions(size_t environments, uint64_t seed, uint64_t first_draw,
                                   const float* logits, int32_t* actions,
                                   float* log_probabilities) {
  for (size_t item = FirstItem(); item < environments; item += ItemStride()) {
    const LogSoftmax log = ComputeLogSoftmax(logits[item], logits[environments + item]);
    const float draw = UnitInterval(MixBits(seed + first_draw + item));
    const int32_t action = draw < std::exp(log.of[0]) ? 0 : 1;
    actions[item] = action;
    log_probabilities[item] = log.of[action];
  }
}

CARTPOLE_KERNEL void EstimateAdvantages(RolloutShape shape, float discount, float lambda,
                                        const float* rewards, const EpisodeEnd* ends,
                                        const float* values, float* advantages, float* returns) {
  for (size_t item = FirstItem(); item < shape.environments; item += ItemStride()) {
    float advantage = 0;
    for (size_t step = shape.horizon; step-- > 0;) {
      const size_t sample = step * shape.environments + item;
      float next_value = values[sample + shape.environments];
      if (ends[sample] != EpisodeEnd::kNone) {
        // values[next] belongs to the next episode. A terminated one is worth nothing more; one
        // that was cut off would have gone on about as the state before promised.
        next_value = ends[sample] == EpisodeEnd::kTruncated ? values[sample] : 0.0f;
        advantage = 0;
      }
      const float surprise = rewards[sample] + discount * next_value - values[sample];
      advantage = surprise + discount * lambda * advantage;
      advantages[sample] = advantage;
      returns[sample] = advantage + values[sample];
    }
  }
}

CARTPOLE_KERNEL void SumMoments(size_t count, const float* values, float* partial_sums) {
  for (size_t item = FirstItem(); item < kPartialSums; item += ItemStride()) {
    float sum = 0;
    float squares = 0;
    for (size_t i = item; i < count; i += kPartialSums) {
      sum += values[i];
      squares += values[i] * values[i];
    }
    partial_sums[item] = sum;
    partial_sums[kPartialSums + item] = squares;
  }
}

CARTPOLE_KERNEL void Normalize(size_t count, const float* partial_sums, float* values) {
  float sum = 0;
  float squares = 0;
  for (size_t i = 0; i < kPartialSums; ++i) {
    sum += partial_sums[i];
    squares += partial_sums[kPartialSums + i];
  }
  const float mean = sum / static_cast<float>(count);
  const float variance = squares / static_cast<float>(count) - mean * mean;
  const float scale = 1.0f / (std::sqrt(variance > 0 ? variance : 0.0f) + 1e-8f);
  for (size_t item = FirstItem(); item < count; item += ItemStride()) {
    values[item] = (values[item] - mean) * scale;
  }
}

CARTPOLE_KERNEL void GatherObservations(size_t environments, size_t samples,
                                        const uint32_t* minibatch, const float* observations,
                                        float* gathered) {
  for (size_t item = FirstItem(); item < samples; item += ItemStride()) {
    const size_t step = minibatch[item] / environments;
    const float* source =
        observations + step * kObservations * environments + minibatch[item] % environments;
    for (size_t k = 0; k < kObservations; ++k) {
      gathered[k * samples + item] = source[k * environments];
    }
  }
}

CARTPOLE_KERNEL void PolicyLoss(PolicyLossSettings settings, size_t samples,
                                const uint32_t* minibatch, const int32_t* actions,
                                const float* old_log_probabilities, const float* advantages,
                                const float* logits, float* losses, float* logit_gradients) {
  for (size_t item = FirstItem(); item < samples; item += ItemStride()) {
    const uint32_t sample = minibatch[item];
    const LogSoftmax log = ComputeLogSoftmax(logits[item], logits[samples + item]);
    const float advantage = advantages[sample];
    const float ratio = std::exp(log.of[actions[sample]] - old_log_probabilities[sample]);
    const float limit = advantage > 0 ? 1.0f + settings.clip : 1.0f - settings.clip;
    // Beyond the limit the loss is flat: there is nothing to gain from moving further.
    const bool clipped = advantage > 0 ? ratio > limit : ratio < limit;
    const float surrogate = (clipped ? limit : ratio) * advantage;
    const float surrogate_slope = clipped ? 0.0f : ratio * advantage;

    float entropy = 0;
    for (size_t k = 0; k < kActions; ++k) entropy -= std::exp(log.of[k]) * log.of[k];
    losses[item] = -surrogate - settings.entropy_bonus * entropy;

    for (size_t k = 0; k < kActions; ++k) {
      const float probability = std::exp(log.of[k]);
      const float chosen = static_cast<int32_t>(k) == actions[sample] ? 1.0f : 0.0f;
      const float surrogate_gradient = surrogate_slope * (chosen - probability);
      const float entropy_gradient = -probability * (log.of[k] + entropy);
      logit_gradients[k * samples + item] =
          (-surrogate_gradient - settings.entropy_bonus * entropy_gradient) /
          static_cast<float>(samples);
    }
  }
}

CARTPOLE_KERNEL void ValueLoss(size_t samples, const uint32_t* minibatch, const float* returns,
                               const float* values, float* losses, float* value_gradients) {
  for (size_t item = FirstItem(); item < samples; item += ItemStride()) {
    const float error = values[item] - returns[minibatch[item]];
    losses[item] = 0.5f * error * error;
    value_gradients[item] = error / static_cast<float>(samples);
  }
}

}  // namespace gpubound::cartpole
