// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/cartpole_env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "examples/cartpole_ppo/environment_pool.h"

namespace gpubound::cartpole {
namespace {

using testing::Each;

const std::vector<CartPoleState>& SomeStates() {
  static const std::vector<CartPoleState> states = {
      {},
      {.position = 1.0, .velocity = -0.5, .angle = 0.1, .angular_velocity = 0.7},
      {.position = -2.3, .velocity = 2.0, .angle = -0.2, .angular_velocity = -1.9},
      {.position = 0.0, .velocity = 0.0, .angle = 1.4, .angular_velocity = 3.0},
  };
  return states;
}

// Both equations of motion as Lagrange's method gives them, before anybody solved them for the
// accelerations: what is left over must be nothing.
void ExpectEquationsOfMotion(const CartPoleState& state, double force) {
  const Accelerations a = CartPoleAccelerations(state, force);
  const double sine = std::sin(state.angle);
  const double cosine = std::cos(state.angle);
  const double spin = state.angular_velocity * state.angular_velocity;
  const double moment = kPoleMass * kPoleHalfLength;
  EXPECT_NEAR((kCartMass + kPoleMass) * a.cart + moment * (a.pole * cosine - spin * sine), force,
              1e-12);
  EXPECT_NEAR(4.0 / 3.0 * kPoleHalfLength * a.pole + a.cart * cosine, kGravity * sine, 1e-12);
}

TEST(CartPoleDynamics, SolveTheEquationsOfMotion) {
  for (const CartPoleState& state : SomeStates()) {
    for (const double force : {-kPushForce, 0.0, kPushForce}) ExpectEquationsOfMotion(state, force);
  }
}

TEST(CartPoleDynamics, PushingAtRestMatchesTheHandCalculation) {
  // (m + M) x'' + m l t'' = F and 4/3 l t'' + x'' = 0 give t'' = -F / (l (4/3 (m + M) - m)).
  const Accelerations a = CartPoleAccelerations({}, kPushForce);
  EXPECT_NEAR(a.pole, -10.0 / (0.5 * (4.0 / 3.0 * 1.1 - 0.1)), 1e-12);
  EXPECT_NEAR(a.cart, -2.0 / 3.0 * a.pole, 1e-12);
}

TEST(CartPole, StepMovesByTheVelocitiesOfBeforeTheStep) {
  CartPole environment(1, 0);
  const CartPoleState before = SomeStates()[1];
  environment.set_state(before);
  ASSERT_EQ(environment.Step(0), EpisodeEnd::kNone);
  const Accelerations a = CartPoleAccelerations(before, -kPushForce);
  const CartPoleState& after = environment.state();
  EXPECT_DOUBLE_EQ(after.position, before.position + 0.02 * before.velocity);
  EXPECT_DOUBLE_EQ(after.velocity, before.velocity + 0.02 * a.cart);
  EXPECT_DOUBLE_EQ(after.angle, before.angle + 0.02 * before.angular_velocity);
  EXPECT_DOUBLE_EQ(after.angular_velocity, before.angular_velocity + 0.02 * a.pole);
}

TEST(CartPole, ActionOnePushesRight) {
  CartPole environment(1, 0);
  environment.set_state({});
  environment.Step(1);
  EXPECT_GT(environment.state().velocity, 0);
}

EpisodeEnd StepFrom(const CartPoleState& state) {
  CartPole environment(1, 0);
  environment.set_state(state);
  return environment.Step(1);
}

TEST(CartPole, EndsBeyondTwelveDegreesAndNotBefore) {
  const double limit = 12.0 * std::acos(-1.0) / 180.0;
  EXPECT_EQ(StepFrom({.angle = limit + 1e-9}), EpisodeEnd::kTerminated);
  EXPECT_EQ(StepFrom({.angle = -limit - 1e-9}), EpisodeEnd::kTerminated);
  EXPECT_EQ(StepFrom({.angle = limit - 1e-9}), EpisodeEnd::kNone);
}

TEST(CartPole, EndsBeyondTheTrackAndNotBefore) {
  EXPECT_EQ(StepFrom({.position = 2.4 + 1e-9}), EpisodeEnd::kTerminated);
  EXPECT_EQ(StepFrom({.position = -2.4 - 1e-9}), EpisodeEnd::kTerminated);
  EXPECT_EQ(StepFrom({.position = 2.4 - 1e-9}), EpisodeEnd::kNone);
}

TEST(CartPole, IsCutOffAfterFiveHundredStepsAndStartsAnew) {
  CartPole environment(1, 0);
  for (int step = 1; step < 500; ++step) {
    environment.set_state({});
    ASSERT_EQ(environment.Step(step % 2), EpisodeEnd::kNone) << step;
  }
  environment.set_state({});
  EXPECT_EQ(environment.Step(0), EpisodeEnd::kTruncated);
  EXPECT_EQ(environment.last_episode_steps(), 500);
  environment.set_state({.angle = 1.0});
  EXPECT_EQ(environment.Step(0), EpisodeEnd::kTerminated);
  EXPECT_EQ(environment.last_episode_steps(), 1);
}

TEST(CartPole, StartsNearTheMiddleAndDifferentlyByIndexAndSeed) {
  const CartPoleState first = CartPole(1, 0).state();
  for (double value : {first.position, first.velocity, first.angle, first.angular_velocity}) {
    EXPECT_LE(std::abs(value), 0.05);
  }
  EXPECT_NE(first.position, CartPole(1, 1).state().position);
  EXPECT_NE(first.position, CartPole(2, 0).state().position);
  EXPECT_EQ(first.position, CartPole(1, 0).state().position);
}

// Everything that a pool of eleven says in 200 steps of actions that depend on what it said.
std::vector<float> Experience(size_t threads) {
  constexpr size_t kCount = 11;
  EnvironmentPool pool(5, kCount, threads);
  std::vector<float> observations(kObservations * kCount);
  std::vector<float> rewards(kCount);
  std::vector<EpisodeEnd> ends(kCount);
  std::vector<int32_t> actions(kCount);
  std::vector<float> all;
  pool.Observe(observations.data());
  for (int step = 0; step < 200; ++step) {
    for (size_t i = 0; i < kCount; ++i) actions[i] = observations[2 * kCount + i] > 0 ? 1 : 0;
    pool.Step(actions.data(), observations.data(), rewards.data(), ends.data());
    all.insert(all.end(), observations.begin(), observations.end());
    for (size_t i = 0; i < kCount; ++i) {
      all.push_back(static_cast<float>(ends[i]));
      all.push_back(static_cast<float>(pool.last_episode_steps(i)));
    }
    EXPECT_THAT(rewards, Each(1.0f));
  }
  return all;
}

TEST(EnvironmentPool, GivesTheSameExperienceOnAnyNumberOfThreads) {
  const std::vector<float> one = Experience(1);
  EXPECT_EQ(Experience(2), one);
  EXPECT_EQ(Experience(4), one);
  EXPECT_EQ(Experience(64), one);
}

TEST(EnvironmentPool, StepsEachEnvironmentAsItWouldAlone) {
  EnvironmentPool pool(9, 3, 2);
  CartPole alone(9, 2);
  const std::vector<int32_t> actions = {0, 1, 1};
  std::vector<float> observations(kObservations * 3);
  std::vector<float> rewards(3);
  std::vector<EpisodeEnd> ends(3);
  pool.Step(actions.data(), observations.data(), rewards.data(), ends.data());
  alone.Step(1);
  EXPECT_EQ(observations[0 * 3 + 2], static_cast<float>(alone.state().position));
  EXPECT_EQ(observations[1 * 3 + 2], static_cast<float>(alone.state().velocity));
  EXPECT_EQ(observations[2 * 3 + 2], static_cast<float>(alone.state().angle));
  EXPECT_EQ(observations[3 * 3 + 2], static_cast<float>(alone.state().angular_velocity));
}

}  // namespace
}  // namespace gpubound::cartpole
