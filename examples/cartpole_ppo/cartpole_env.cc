// SPDX-License-Identifier: Apache-2.0
#include "examples/cartpole_ppo/cartpole_env.h"

#include <cmath>

namespace gpubound::cartpole {

Accelerations CartPoleAccelerations(const CartPoleState& state, double force) {
  constexpr double kTotalMass = kCartMass + kPoleMass;
  constexpr double kPoleMoment = kPoleMass * kPoleHalfLength;
  const double sine = std::sin(state.angle);
  const double cosine = std::cos(state.angle);
  const double push =
      (force + kPoleMoment * state.angular_velocity * state.angular_velocity * sine) / kTotalMass;
  const double pole = (kGravity * sine - cosine * push) /
                      (kPoleHalfLength * (4.0 / 3.0 - kPoleMass * cosine * cosine / kTotalMass));
  return {.cart = push - kPoleMoment * pole * cosine / kTotalMass, .pole = pole};
}

CartPole::CartPole(uint64_t seed, uint64_t index) : random_(seed, index) { Reset(); }

void CartPole::Reset() {
  const auto start = [this] { return random_.Uniform(-0.05, 0.05); };
  state_.position = start();
  state_.velocity = start();
  state_.angle = start();
  state_.angular_velocity = start();
  steps_ = 0;
}

EpisodeEnd CartPole::Step(int action) {
  const Accelerations acceleration =
      CartPoleAccelerations(state_, action == 1 ? kPushForce : -kPushForce);
  // Explicit Euler: positions move by the velocities of before the step.
  state_.position += kTimeStep_s * state_.velocity;
  state_.velocity += kTimeStep_s * acceleration.cart;
  state_.angle += kTimeStep_s * state_.angular_velocity;
  state_.angular_velocity += kTimeStep_s * acceleration.pole;
  ++steps_;

  auto end = EpisodeEnd::kNone;
  if (std::abs(state_.position) > kMaxPosition || std::abs(state_.angle) > kMaxAngle) {
    end = EpisodeEnd::kTerminated;
  } else if (steps_ >= kMaxEpisodeSteps) {
    end = EpisodeEnd::kTruncated;
  }
  if (end != EpisodeEnd::kNone) {
    last_episode_steps_ = steps_;
    Reset();
  }
  return end;
}

}  // namespace gpubound::cartpole
