// SPDX-License-Identifier: Apache-2.0
//
// The network's kernels against slow and obvious computations of the same in double precision, and
// its gradients against finite differences.
#include "examples/cartpole_ppo/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "examples/cartpole_ppo/ppo_kernels.h"
#include "tests/examples/device_values.h"

namespace gpubound::cartpole {
namespace {

using testing::Contains;
using testing::Each;
using testing::FloatNear;
using testing::Gt;
using testing::Pointwise;

constexpr size_t kSamples = 16;

std::vector<float> RandomValues(uint64_t stream, size_t count, double low, double high) {
  Random random(42, stream);
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(random.Uniform(low, high)));
  return values;
}

std::vector<uint32_t> AllSamples() {
  std::vector<uint32_t> samples(kSamples);
  std::iota(samples.begin(), samples.end(), 0u);
  return samples;
}

double Mean(const std::vector<float>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// A small network with a loss on top of it.
class NetworkTest : public testing::Test {
 protected:
  Network MakeNetwork(size_t outputs) {
    return Network(stream_, {kObservations, 8, 6, outputs}, kSamples, 1.0f, Random(42, 0));
  }

  std::vector<float> Forward(Network& network, size_t outputs) {
    DeviceValues<float> result(stream_, outputs * kSamples);
    network.Forward(inputs_.get(), kSamples, result.get());
    return result.Read();
  }

  using Loss = std::function<double(Network&)>;

  // Forward and loss; leaves the derivative by the outputs in |output_gradients_|.
  double PolicyLossOf(Network& network) {
    network.Forward(inputs_.get(), kSamples, outputs_.get());
    kPolicyLoss(stream_.get(), kSamples, {.clip = 0.2f, .entropy_bonus = 0.1f}, kSamples,
                minibatch_.get(), actions_.get(), old_log_probabilities_.get(), advantages_.get(),
                outputs_.get(), losses_.get(), output_gradients_.get());
    return Mean(losses_.Read());
  }
  double ValueLossOf(Network& network) {
    network.Forward(inputs_.get(), kSamples, outputs_.get());
    kValueLoss(stream_.get(), kSamples, kSamples, minibatch_.get(), advantages_.get(),
               outputs_.get(), losses_.get(), output_gradients_.get());
    return Mean(losses_.Read());
  }

  // The derivative of |loss| by each parameter: from two values of it on either side.
  static std::vector<float> FiniteDifferences(Network& network, const Loss& loss) {
    constexpr float kStep = 4e-3f;
    const std::vector<float> parameters = network.Parameters();
    std::vector<float> result;
    for (size_t i = 0; i < parameters.size(); ++i) {
      std::vector<float> moved = parameters;
      moved[i] = parameters[i] + kStep;
      network.SetParameters(moved);
      const double above = loss(network);
      moved[i] = parameters[i] - kStep;
      network.SetParameters(moved);
      result.push_back(static_cast<float>((above - loss(network)) / (2.0 * kStep)));
    }
    network.SetParameters(parameters);
    return result;
  }

  void ExpectGradientsMatch(Network& network, const Loss& loss) {
    const std::vector<float> expected = FiniteDifferences(network, loss);
    loss(network);
    network.Backward(inputs_.get(), kSamples, output_gradients_.get());
    const std::vector<float> gradients = network.Gradients();
    EXPECT_THAT(gradients, Pointwise(FloatNear(5e-5f), expected));
    EXPECT_THAT(gradients, Contains(Gt(0.01f))) << "the tolerance hides everything";
  }

  Stream stream_;
  DeviceValues<float> inputs_{stream_, RandomValues(1, kObservations* kSamples, -1, 1)};
  DeviceValues<float> outputs_{stream_, kActions* kSamples};
  DeviceValues<float> output_gradients_{stream_, kActions* kSamples};
  DeviceValues<float> losses_{stream_, kSamples};
  DeviceValues<uint32_t> minibatch_{stream_, AllSamples()};
  DeviceValues<int32_t> actions_{stream_, {0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 0, 0, 1, 0, 1, 0}};
  DeviceValues<float> advantages_{stream_, RandomValues(2, kSamples, -2, 2)};
  DeviceValues<float> old_log_probabilities_{stream_, RandomValues(3, kSamples, -1.2, -0.3)};
};

TEST_F(NetworkTest, ForwardIsTheProductOfItsLayers) {
  Network network = MakeNetwork(2);
  // As a caller would write it down, from the parameters in their order of layers.
  std::vector<float> values = inputs_.Read();
  const std::vector<float> parameters = network.Parameters();
  const std::vector<size_t> widths = {kObservations, 8, 6, 2};
  size_t next = 0;
  for (size_t layer = 0; layer + 1 < widths.size(); ++layer) {
    std::vector<float> sums(widths[layer + 1] * kSamples);
    const size_t biases = next + widths[layer] * widths[layer + 1];
    for (size_t o = 0; o < widths[layer + 1]; ++o) {
      for (size_t s = 0; s < kSamples; ++s) {
        double sum = static_cast<double>(parameters[biases + o]);
        for (size_t i = 0; i < widths[layer]; ++i) {
          sum += static_cast<double>(parameters[next + o * widths[layer] + i]) *
                 static_cast<double>(values[i * kSamples + s]);
        }
        sums[o * kSamples + s] = static_cast<float>(layer == 2 ? sum : std::tanh(sum));
      }
    }
    values = sums;
    next = biases + widths[layer + 1];
  }
  EXPECT_THAT(Forward(network, 2), Pointwise(FloatNear(1e-5f), values));
}

TEST_F(NetworkTest, PolicyGradientsAreThoseOfFiniteDifferences) {
  Network network = MakeNetwork(kActions);
  ExpectGradientsMatch(network, [this](Network& n) { return PolicyLossOf(n); });
}

TEST_F(NetworkTest, ValueGradientsAreThoseOfFiniteDifferences) {
  Network network = MakeNetwork(1);
  ExpectGradientsMatch(network, [this](Network& n) { return ValueLossOf(n); });
}

TEST_F(NetworkTest, OptimizingLowersTheLoss) {
  Network network = MakeNetwork(1);
  const double before = ValueLossOf(network);
  for (int step = 0; step < 50; ++step) {
    ValueLossOf(network);
    network.Backward(inputs_.get(), kSamples, output_gradients_.get());
    network.Optimize({.learning_rate = 1e-2f,
                      .beta1 = 0.9f,
                      .beta2 = 0.999f,
                      .epsilon = 1e-5f,
                      .max_gradient_norm = 0.5f});
  }
  EXPECT_LT(ValueLossOf(network), 0.5 * before);
}

class AdamTest : public testing::Test {
 protected:
  static constexpr AdamSettings kSettings = {.learning_rate = 0.1f,
                                             .beta1 = 0.9f,
                                             .beta2 = 0.99f,
                                             .epsilon = 1e-5f,
                                             .max_gradient_norm = 5.0f};

  void Step(const std::vector<float>& gradients) {
    gradients_.Write(gradients);
    kSumSquares(stream_.get(), kPartialSums, gradients.size(), gradients_.get(), squares_.get());
    kAdamStep(stream_.get(), gradients.size(), kSettings, ++steps_, gradients.size(),
              squares_.get(), gradients_.get(), means_.get(), variances_.get(), parameters_.get());
  }

  Stream stream_;
  int steps_ = 0;
  DeviceValues<float> gradients_{stream_, 100};
  DeviceValues<float> squares_{stream_, kPartialSums};
  DeviceValues<float> means_{stream_, 100};
  DeviceValues<float> variances_{stream_, 100};
  DeviceValues<float> parameters_{stream_, 100};
};

TEST_F(AdamTest, TheFirstStepIsTheLearningRateAgainstTheGradientsSign) {
  std::vector<float> gradients(100, 0.25f);
  gradients[7] = -0.25f;
  Step(gradients);
  std::vector<float> expected(100, -0.1f);
  expected[7] = 0.1f;
  EXPECT_THAT(parameters_.Read(), Pointwise(FloatNear(1e-4f), expected));
}

TEST_F(AdamTest, LaterStepsFollowTheRunningMeansOfBothMoments) {
  Step(std::vector<float>(100, 0.2f));
  Step(std::vector<float>(100, 0.4f));
  const double mean = (0.1 * 0.9 * 0.2 + 0.1 * 0.4) / (1 - 0.9 * 0.9);
  const double variance = (0.01 * 0.99 * 0.04 + 0.01 * 0.16) / (1 - 0.99 * 0.99);
  const auto expected = static_cast<float>(-0.1 - 0.1 * mean / (std::sqrt(variance) + 1e-5));
  EXPECT_THAT(parameters_.Read(), Each(FloatNear(expected, 1e-4f)));
}

TEST_F(AdamTest, LongGradientsAreScaledDownToTheLimit) {
  Step(std::vector<float>(100, 4.0f));  // of norm 40, limited to 5: an eighth
  EXPECT_THAT(means_.Read(), Each(FloatNear(0.1f * 0.5f, 1e-5f)));
}

TEST_F(AdamTest, ShortGradientsAreLeftAsTheyAre) {
  Step(std::vector<float>(100, 0.25f));
  EXPECT_THAT(means_.Read(), Each(FloatNear(0.1f * 0.25f, 1e-6f)));
}

}  // namespace
}  // namespace gpubound::cartpole
