// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/network_kernels.h"

#include <cmath>

namespace gpubound::cartpole {
namespace {

// kTile sums side by side: one chain of additions would wait for each to finish.
CARTPOLE_DEVICE float SumLanes(const float* lanes) {
  float sum = 0;
  for (size_t lane = 0; lane < kTile; ++lane) sum += lanes[lane];
  return sum;
}

CARTPOLE_DEVICE float DotProduct(const float* left, const float* right, size_t count) {
  float lanes[kTile] = {};
  for (size_t i = 0; i < count; i += kTile) {
    for (size_t lane = 0; lane < kTile; ++lane) lanes[lane] += left[i + lane] * right[i + lane];
  }
  return SumLanes(lanes);
}

CARTPOLE_DEVICE float Sum(const float* values, size_t count) {
  float lanes[kTile] = {};
  for (size_t i = 0; i < count; i += kTile) {
    for (size_t lane = 0; lane < kTile; ++lane) lanes[lane] += values[i + lane];
  }
  return SumLanes(lanes);
}

}  // namespace

CARTPOLE_KERNEL void DenseForward(LayerShape shape, Activation activation, size_t samples,
                                  const float* weights, const float* biases, const float* inputs,
                                  float* outputs) {
  const size_t tiles = samples / kTile;
  for (size_t item = FirstItem(); item < shape.outputs * tiles; item += ItemStride()) {
    const size_t output = item / tiles;
    const size_t first = item % tiles * kTile;
    const float* row = weights + output * shape.inputs;
    float sums[kTile];
    for (size_t lane = 0; lane < kTile; ++lane) sums[lane] = biases[output];
    for (size_t input = 0; input < shape.inputs; ++input) {
      const float* column = inputs + input * samples + first;
      for (size_t lane = 0; lane < kTile; ++lane) sums[lane] += row[input] * column[lane];
    }
    float* result = outputs + output * samples + first;
    for (size_t lane = 0; lane < kTile; ++lane) {
      result[lane] = activation == Activation::kTanh ? std::tanh(sums[lane]) : sums[lane];
    }
  }
}

CARTPOLE_KERNEL void DenseBackwardInputs(LayerShape shape, size_t samples, const float* weights,
                                         const float* inputs, const float* output_gradients,
                                         float* input_gradients) {
  const size_t tiles = samples / kTile;
  for (size_t item = FirstItem(); item < shape.inputs * tiles; item += ItemStride()) {
    const size_t input = item / tiles;
    const size_t first = item % tiles * kTile;
    float sums[kTile] = {};
    for (size_t output = 0; output < shape.outputs; ++output) {
      const float weight = weights[output * shape.inputs + input];
      const float* gradients = output_gradients + output * samples + first;
      for (size_t lane = 0; lane < kTile; ++lane) sums[lane] += weight * gradients[lane];
    }
    const float* tanhs = inputs + input * samples + first;
    float* result = input_gradients + input * samples + first;
    for (size_t lane = 0; lane < kTile; ++lane) {
      result[lane] = sums[lane] * (1.0f - tanhs[lane] * tanhs[lane]);
    }
  }
}

CARTPOLE_KERNEL void DenseBackwardWeights(LayerShape shape, size_t samples, const float* inputs,
                                          const float* output_gradients, float* weight_gradients,
                                          float* bias_gradients) {
  // Each output has an item for every weight and one more for its bias.
  const size_t items_per_output = shape.inputs + 1;
  for (size_t item = FirstItem(); item < shape.outputs * items_per_output; item += ItemStride()) {
    const size_t output = item / items_per_output;
    const size_t input = item % items_per_output;
    const float* gradients = output_gradients + output * samples;
    if (input == shape.inputs) {
      bias_gradients[output] = Sum(gradients, samples);
    } else {
      weight_gradients[output * shape.inputs + input] =
          DotProduct(gradients, inputs + input * samples, samples);
    }
  }
}

CARTPOLE_KERNEL void SumSquares(size_t count, const float* gradients, float* partial_sums) {
  for (size_t item = FirstItem(); item < kPartialSums; item += ItemStride()) {
    float sum = 0;
    for (size_t i = item; i < count; i += kPartialSums) sum += gradients[i] * gradients[i];
    partial_sums[item] = sum;
  }
}

CARTPOLE_KERNEL void AdamStep(AdamSettings settings, int step, size_t count,
                              const float* partial_sums, const float* gradients, float* means,
                              float* variances, float* parameters) {
  // Every item adds up the partial sums for itself: cheaper than one more launch that all wait for.
  const float norm = std::sqrt(Sum(partial_sums, kPartialSums));
  const float scale = norm > settings.max_gradient_norm ? settings.max_gradient_norm / norm : 1.0f;
  // Means and variances start at zero; these make up for it.
  const float exponent = static_cast<float>(step);
  const float mean_scale = 1.0f / (1.0f - std::pow(settings.beta1, exponent));
  const float variance_scale = 1.0f / (1.0f - std::pow(settings.beta2, exponent));
  for (size_t item = FirstItem(); item < count; item += ItemStride()) {
    const float gradient = gradients[item] * scale;
    means[item] = settings.beta1 * means[item] + (1.0f - settings.beta1) * gradient;
    variances[item] =
        settings.beta2 * variances[item] + (1.0f - settings.beta2) * gradient * gradient;
    parameters[item] -= settings.learning_rate * means[item] * mean_scale /
                        (std::sqrt(variances[item] * variance_scale) + settings.epsilon);
  }
}

}  // namespace gpubound::cartpole
