// SPDX-License-Identifier: Apache-2.0
//
// A fully connected network with tanh between its layers, on the device: parameters, gradients, the
// optimizer's state, and room for the activations of one batch.
//
// Every call enqueues kernels on the network's stream and returns; the stream is the only order
// between them. One thread uses a network at a time.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_NETWORK_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_NETWORK_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "examples/cartpole_ppo/cuda_resources.h"
#include "examples/cartpole_ppo/network_kernels.h"
#include "examples/cartpole_ppo/random.h"

namespace gpubound::cartpole {

class Network {
 public:
  // |widths| are the numbers of inputs, of each hidden layer's units, and of outputs. Weights are
  // drawn from |random|, scaled by each layer's inputs; the last layer's by |output_scale| as well.
  // |stream| outlives the network; batches hold at most |max_samples|, a multiple of kTile.
  Network(const Stream& stream, const std::vector<size_t>& widths, size_t max_samples,
          float output_scale, Random random);

  const Stream& stream() const { return stream_; }

  // Computes |outputs| of |samples| samples. |inputs| must stay as they are until Backward is done.
  void Forward(const float* inputs, size_t samples, float* outputs);

  // Computes the gradients of a loss, given its derivative by the outputs of the last Forward,
  // which was called with the same |inputs| and |samples|.
  void Backward(const float* inputs, size_t samples, const float* output_gradients);

  // Moves the parameters against the gradients.
  void Optimize(const AdamSettings& settings);

  // For tests and for a checksum of what was learnt: copies, after everything enqueued is done.
  std::vector<float> Parameters() const;
  std::vector<float> Gradients() const;
  void SetParameters(const std::vector<float>& parameters);

 private:
  struct Layer {
    LayerShape shape;
    size_t weights;  // where they begin among the parameters; the biases follow
    size_t biases;
    std::unique_ptr<DeviceBuffer<float>> activations;  // none for the last layer
    std::unique_ptr<DeviceBuffer<float>> gradients;    // of the sums before the activation
  };

  std::vector<float> Download(const DeviceBuffer<float>& buffer) const;

  const Stream& stream_;
  std::vector<Layer> layers_;
  std::unique_ptr<DeviceBuffer<float>> parameters_;
  std::unique_ptr<DeviceBuffer<float>> gradients_;
  std::unique_ptr<DeviceBuffer<float>> means_;
  std::unique_ptr<DeviceBuffer<float>> variances_;
  DeviceBuffer<float> squares_{kPartialSums};
  int steps_ = 0;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_NETWORK_H_
