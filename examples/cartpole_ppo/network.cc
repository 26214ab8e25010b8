// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/network.h"

#include <algorithm>
#include <cmath>

namespace gpubound::cartpole {

Network::Network(const Stream& stream, const std::vector<size_t>& widths, size_t max_samples,
                 float output_scale, Random random)
    : stream_(stream) {
  std::vector<float> initial;
  for (size_t i = 0; i + 1 < widths.size(); ++i) {
    const bool last = i + 2 == widths.size();
    Layer layer = {.shape = {.inputs = widths[i], .outputs = widths[i + 1]},
                   .weights = initial.size(),
                   .biases = initial.size() + widths[i] * widths[i + 1],
                   .activations = nullptr,
                   .gradients = nullptr};
    if (!last) {
      const size_t values = widths[i + 1] * max_samples;
      layer.activations = std::make_unique<DeviceBuffer<float>>(values);
      layer.gradients = std::make_unique<DeviceBuffer<float>>(values);
    }
    // Sums of this many inputs then vary about as much as one input does.
    const double scale = (last ? output_scale : 1.0f) / std::sqrt(static_cast<double>(widths[i]));
    for (size_t w = 0; w < widths[i] * widths[i + 1]; ++w) {
      initial.push_back(static_cast<float>(scale * random.Normal()));
    }
    initial.insert(initial.end(), widths[i + 1], 0.0f);
    layers_.push_back(std::move(layer));
  }
  parameters_ = std::make_unique<DeviceBuffer<float>>(initial.size());
  gradients_ = std::make_unique<DeviceBuffer<float>>(initial.size());
  means_ = std::make_unique<DeviceBuffer<float>>(initial.size());
  variances_ = std::make_unique<DeviceBuffer<float>>(initial.size());
  SetParameters(initial);
}

void Network::Forward(const float* inputs, size_t samples, float* outputs) {
  for (const Layer& layer : layers_) {
    const bool last = layer.activations == nullptr;
    float* result = last ? outputs : layer.activations->get();
    kDenseForward(stream_.get(), layer.shape.outputs * samples / kTile, layer.shape,
                  last ? Activation::kNone : Activation::kTanh, samples,
                  parameters_->get() + layer.weights, parameters_->get() + layer.biases, inputs,
                  result);
    inputs = result;
  }
}

void Network::Backward(const float* inputs, size_t samples, const float* output_gradients) {
  for (size_t i = layers_.size(); i-- > 0;) {
    const Layer& layer = layers_[i];
    const float* layer_inputs = i == 0 ? inputs : layers_[i - 1].activations->get();
    kDenseBackwardWeights(stream_.get(), layer.shape.outputs * (layer.shape.inputs + 1),
                          layer.shape, samples, layer_inputs, output_gradients,
                          gradients_->get() + layer.weights, gradients_->get() + layer.biases);
    if (i == 0) break;
    float* input_gradients = layers_[i - 1].gradients->get();
    kDenseBackwardInputs(stream_.get(), layer.shape.inputs * samples / kTile, layer.shape, samples,
                         parameters_->get() + layer.weights, layer_inputs, output_gradients,
                         input_gradients);
    output_gradients = input_gradients;
  }
}

void Network::Optimize(const AdamSettings& settings) {
  const size_t count = parameters_->size();
  kSumSquares(stream_.get(), kPartialSums, count, gradients_->get(), squares_.get());
  kAdamStep(stream_.get(), count, settings, ++steps_, count, squares_.get(), gradients_->get(),
            means_->get(), variances_->get(), parameters_->get());
}

std::vector<float> Network::Parameters() const { return Download(*parameters_); }

std::vector<float> Network::Gradients() const { return Download(*gradients_); }

void Network::SetParameters(const std::vector<float>& parameters) {
  const PinnedBuffer<float> staging(parameters_->size());
  std::copy(parameters.begin(), parameters.end(), staging.begin());
  CopyToDevice(stream_, parameters_->get(), staging.get(), staging.size());
  stream_.Synchronize();
}

std::vector<float> Network::Download(const DeviceBuffer<float>& buffer) const {
  const PinnedBuffer<float> staging(buffer.size());
  CopyToHost(stream_, staging.get(), buffer.get(), buffer.size());
  stream_.Synchronize();
  return {staging.begin(), staging.end()};
}

}  // namespace gpubound::cartpole
