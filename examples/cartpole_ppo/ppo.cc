// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/ppo.h"

#include <gpubound/annotate.h>

#include <cstring>
#include <numeric>
#include <utility>

namespace gpubound::cartpole {
namespace {

// Streams of random numbers; environments have those from 0 on.
enum RandomStream : uint64_t {
  kPolicyParameters = uint64_t{1} << 32,
  kValueParameters,
  kActionDraws,
  kMinibatches,
};

float Mean(const PinnedBuffer<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0f) / static_cast<float>(values.size());
}

}  // namespace

PpoTrainer::Learner::Learner(const PpoSettings& settings, size_t output_count, float output_scale,
                             uint64_t random_stream)
    : network(stream, {kObservations, settings.hidden_units, settings.hidden_units, output_count},
              std::max(settings.minibatch, settings.environments), output_scale,
              Random(settings.seed, random_stream)),
      observations(kObservations * settings.minibatch),
      outputs(output_count * settings.minibatch),
      output_gradients(output_count * settings.minibatch),
      losses(settings.minibatch),
      host_losses(settings.minibatch) {}

PpoTrainer::PpoTrainer(const PpoSettings& settings)
    : settings_(settings),
      environments_(settings.seed, settings.environments, settings.threads),
      // A policy that starts out nearly indifferent explores both actions.
      policy_(settings, kActions, 0.01f, kPolicyParameters),
      value_(settings, 1, 1.0f, kValueParameters),
      rollout_({.horizon = settings.horizon, .environments = settings.environments}),
      shuffle_(settings.seed, kMinibatches),
      host_order_(settings.epochs * rollout_.samples()),
      order_(host_order_.size()) {}

IterationResult PpoTrainer::Iterate() {
  IterationResult result;
  GPUBOUND_PHASE("rollout");
  rollout_.Collect(policy_.network, value_.network, environments_,
                   Random(settings_.seed, kActionDraws).Bits(), result.returns);
  GPUBOUND_PHASE("update");
  Learn();
  result.policy_loss = Mean(policy_.host_losses);
  result.value_loss = Mean(value_.host_losses);
  return result;
}

void PpoTrainer::Learn() {
  {
    GPUBOUND_OPERATION("backpropagation");
    rollout_.EstimateAdvantages(value_.network, settings_.discount, settings_.lambda);
    DrawMinibatches();
    advantages_ready_.Order(value_.stream, policy_.stream);
  }
  for (size_t first = 0; first < order_.size(); first += settings_.minibatch) {
    {
      GPUBOUND_OPERATION("backpropagation");
      BackpropagatePolicy(order_.get() + first);
      BackpropagateValue(order_.get() + first);
    }
    GPUBOUND_OPERATION("optimizer");
    policy_.network.Optimize(settings_.adam);
    value_.network.Optimize(settings_.adam);
  }
  // Until here the host only enqueued; the next rollout overwrites what the device still reads.
  GPUBOUND_OPERATION("backpropagation");
  for (Learner* learner : {&policy_, &value_}) {
    CopyToHost(learner->stream, learner->host_losses.get(), learner->losses.get(),
               learner->losses.size());
  }
  policy_.stream.Synchronize();
  value_.stream.Synchronize();
}

void PpoTrainer::DrawMinibatches() {
  const auto samples = static_cast<uint32_t>(rollout_.samples());
  for (size_t epoch = 0; epoch < settings_.epochs; ++epoch) {
    uint32_t* order = &host_order_[epoch * samples];
    std::iota(order, order + samples, 0u);
    for (uint32_t i = samples; i > 1; --i) std::swap(order[i - 1], order[shuffle_.Below(i)]);
  }
  CopyToDevice(value_.stream, order_.get(), host_order_.get(), order_.size());
}

void PpoTrainer::Forward(Learner& learner, const uint32_t* minibatch) {
  kGatherObservations(learner.stream.get(), settings_.minibatch, settings_.environments,
                      settings_.minibatch, minibatch, rollout_.observations(),
                      learner.observations.get());
  learner.network.Forward(learner.observations.get(), settings_.minibatch, learner.outputs.get());
}

void PpoTrainer::BackpropagatePolicy(const uint32_t* minibatch) {
  Forward(policy_, minibatch);
  kPolicyLoss(policy_.stream.get(), settings_.minibatch, settings_.policy_loss, settings_.minibatch,
              minibatch, rollout_.actions(), rollout_.log_probabilities(), rollout_.advantages(),
              policy_.outputs.get(), policy_.losses.get(), policy_.output_gradients.get());
  policy_.network.Backward(policy_.observations.get(), settings_.minibatch,
                           policy_.output_gradients.get());
}

void PpoTrainer::BackpropagateValue(const uint32_t* minibatch) {
  Forward(value_, minibatch);
  kValueLoss(value_.stream.get(), settings_.minibatch, settings_.minibatch, minibatch,
             rollout_.returns(), value_.outputs.get(), value_.losses.get(),
             value_.output_gradients.get());
  value_.network.Backward(value_.observations.get(), settings_.minibatch,
                          value_.output_gradients.get());
}

uint64_t PpoTrainer::Checksum() const {
  uint64_t checksum = 0;
  for (const Network* network : {&policy_.network, &value_.network}) {
    for (const float parameter : network->Parameters()) {
      uint32_t bits = 0;
      std::memcpy(&bits, &parameter, sizeof(bits));
      checksum = MixBits(checksum ^ bits);
    }
  }
  return checksum;
}

}  // namespace gpubound::cartpole
