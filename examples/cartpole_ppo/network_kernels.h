// SPDX-License-Identifier: Apache-2.0
//
// Kernels of a fully connected network and of its optimizer. How they are launched: launch.h.
//
// Matrices of samples hold feature 0 of every sample, then feature 1, and so on: neighbouring
// threads, and neighbouring lanes, then read neighbouring samples. Weights are one row of inputs
// for each output. Sample counts are multiples of kTile. Pointers are device memory; none may
// overlap.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_NETWORK_KERNELS_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_NETWORK_KERNELS_H_

#include <cstddef>

#include "examples/cartpole_ppo/launch.h"

namespace gpubound::cartpole {

enum class Activation : int { kNone, kTanh };

struct LayerShape {
  size_t inputs;
  size_t outputs;
};

struct AdamSettings {
  float learning_rate;
  float beta1;
  float beta2;
  float epsilon;
  float max_gradient_norm;  // longer gradients are scaled down to it
};

// outputs = activation(weights * inputs + biases). Items: outputs * samples / kTile.
CARTPOLE_KERNEL void DenseForward(LayerShape shape, Activation activation, size_t samples,
                                  const float* weights, const float* biases, const float* inputs,
                                  float* outputs);

// The loss's derivative by the layer's inputs' own sums, from that by its outputs' sums. |inputs|
// are the tanh of those sums, so the derivative of tanh follows from them. Items:
// inputs * samples / kTile.
CARTPOLE_KERNEL void DenseBackwardInputs(LayerShape shape, size_t samples, const float* weights,
                                         const float* inputs, const float* output_gradients,
                                         float* input_gradients);

// The loss's derivative by weights and biases, summed over the samples. Items:
// outputs * (inputs + 1).
CARTPOLE_KERNEL void DenseBackwardWeights(LayerShape shape, size_t samples, const float* inputs,
                                          const float* output_gradients, float* weight_gradients,
                                          float* bias_gradients);

// Partial sums of the squares of |gradients|. Items: kPartialSums.
CARTPOLE_KERNEL void SumSquares(size_t count, const float* gradients, float* partial_sums);

// One step of Adam (Kingma and Ba, 2015), number |step| from 1, with the norm of the gradient,
// whose square is the sum of |partial_sums|, limited first. Items: count.
CARTPOLE_KERNEL void AdamStep(AdamSettings settings, int step, size_t count,
                              const float* partial_sums, const float* gradients, float* means,
                              float* variances, float* parameters);

inline constexpr Kernel<DenseForward> kDenseForward{"DenseForward"};
inline constexpr Kernel<DenseBackwardInputs> kDenseBackwardInputs{"DenseBackwardInputs"};
inline constexpr Kernel<DenseBackwardWeights> kDenseBackwardWeights{"DenseBackwardWeights"};
inline constexpr Kernel<SumSquares> kSumSquares{"SumSquares"};
inline constexpr Kernel<AdamStep> kAdamStep{"AdamStep"};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_NETWORK_KERNELS_H_
