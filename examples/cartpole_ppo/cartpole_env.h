// SPDX-License-Identifier: Apache-2.0
//
// CartPole-v1: a pole on a cart, balanced by pushing the cart left or right. The dynamics of Barto,
// Sutton and Anderson (1983) in the corrected form of Florian (2007), without friction, integrated
// by Euler's method with Gymnasium's constants and limits.
//
// An environment may be used by one thread at a time.
#ifndef GPUBOUND_EXAMPLES_CARTPOLE_PPO_CARTPOLE_ENV_H_
#define GPUBOUND_EXAMPLES_CARTPOLE_PPO_CARTPOLE_ENV_H_

#include <cstddef>
#include <cstdint>

#include "examples/cartpole_ppo/random.h"

namespace gpubound::cartpole {

constexpr size_t kObservations = 4;  // position, velocity, angle, angular velocity
constexpr size_t kActions = 2;       // push left, push right
constexpr int kMaxEpisodeSteps = 500;

constexpr double kGravity = 9.8;
constexpr double kCartMass = 1.0;
constexpr double kPoleMass = 0.1;
constexpr double kPoleHalfLength = 0.5;
constexpr double kPushForce = 10.0;
constexpr double kTimeStep_s = 0.02;
constexpr double kMaxPosition = 2.4;
constexpr double kMaxAngle = 12.0 * std::numbers::pi / 180.0;

struct CartPoleState {
  double position = 0;          // m
  double velocity = 0;          // m/s
  double angle = 0;             // rad from upright
  double angular_velocity = 0;  // rad/s
};

struct Accelerations {
  double cart = 0;  // m/s^2
  double pole = 0;  // rad/s^2
};

// What |force| (N, to the right) does to the cart and the pole at |state|.
Accelerations CartPoleAccelerations(const CartPoleState& state, double force);

// How a step left the episode. A truncated one ran into the limit of 500 steps, not into a failure.
enum class EpisodeEnd : uint8_t { kNone = 0, kTerminated = 1, kTruncated = 2 };

class CartPole {
 public:
  // Environments of one seed differ by |index|. Starts in a random state.
  CartPole(uint64_t seed, uint64_t index);

  // Pushes left (0) or right (1) for one time step; the reward is always 1. An episode that ends
  // starts anew at once: state() is then the first of the next one.
  EpisodeEnd Step(int action);

  const CartPoleState& state() const { return state_; }
  void set_state(const CartPoleState& state) { state_ = state; }
  // Steps of the episode that ended last, which is also its return.
  int last_episode_steps() const { return last_episode_steps_; }

 private:
  void Reset();

  Random random_;
  CartPoleState state_;
  int steps_ = 0;
  int last_episode_steps_ = 0;
};

}  // namespace gpubound::cartpole

#endif  // GPUBOUND_EXAMPLES_CARTPOLE_PPO_CARTPOLE_ENV_H_
