// SPDX-License-Identifier: Apache-2.0
//
// Proximal policy optimization: collect a rollout, then go over it a few times in minibatches, each
// moving the policy a little towards the actions that turned out better than expected.
//
// The policy and the value network share nothing but the experience, so each has a stream and the
// device may work on both at once. Used by one thread.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_PPO_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_PPO_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "examples/cartpole_ppo/environment_pool.h"
#include "examples/cartpole_ppo/network.h"
#include "examples/cartpole_ppo/random.h"
#include "examples/cartpole_ppo/rollout.h"

namespace gpubound::cartpole {

struct PpoSettings {
  uint64_t seed = 1;
  size_t environments = 32;  // a multiple of kTile
  size_t threads = 2;
  size_t horizon = 128;    // steps per environment and iteration
  size_t minibatch = 512;  // samples; a multiple of kTile that divides horizon * environments
  size_t epochs = 6;
  size_t hidden_units = 64;  // in each of two layers
  float discount = 0.99f;
  float lambda = 0.95f;
  PolicyLossSettings policy_loss = {.clip = 0.2f, .entropy_bonus = 0.005f};
  AdamSettings adam = {.learning_rate = 1e-3f,
                       .beta1 = 0.9f,
                       .beta2 = 0.999f,
                       .epsilon = 1e-5f,
                       .max_gradient_norm = 0.5f};
};

// What one iteration did.
struct IterationResult {
  std::vector<int> returns;  // of the episodes that ended
  float policy_loss = 0;     // mean over the last minibatch
  float value_loss = 0;
};

class PpoTrainer {
 public:
  explicit PpoTrainer(const PpoSettings& settings);

  IterationResult Iterate();

  size_t steps_per_iteration() const { return rollout_.samples(); }
  // Of all parameters' bits: equal when two runs learnt the same.
  uint64_t Checksum() const;

 private:
  // A network with what training needs of its own: neither waits for the other's buffers.
  struct Learner {
    Learner(const PpoSettings& settings, size_t outputs, float output_scale,
            uint64_t random_stream);

    Stream stream;
    Network network;
    DeviceBuffer<float> observations;
    DeviceBuffer<float> outputs;
    DeviceBuffer<float> output_gradients;
    DeviceBuffer<float> losses;
    PinnedBuffer<float> host_losses;
  };

  // Shuffles all samples once per epoch and sends the order to the device.
  void DrawMinibatches();
  void Learn();
  void BackpropagatePolicy(const uint32_t* minibatch);
  void BackpropagateValue(const uint32_t* minibatch);
  void Forward(Learner& learner, const uint32_t* minibatch);

  const PpoSettings settings_;
  EnvironmentPool environments_;
  Learner policy_;
  Learner value_;
  Rollout rollout_;
  Event advantages_ready_;
  Random shuffle_;
  PinnedBuffer<uint32_t> host_order_;  // samples, epoch after epoch
  DeviceBuffer<uint32_t> order_;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_PPO_H_
