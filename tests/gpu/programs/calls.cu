// SPDX-License-Identifier: Apache-2.0
//
// calls N: N times what an eager framework does to run one short kernel, which is more asking than
// launching; says what a turn took. calls for S: does so for S seconds and says for each slice of
// it when it was and what a turn took. calls ask N: asks N times for the current device, and says
// what that took. The device keeps up, so the time is the CPU's. One thread.
#include <chrono>
#include <cstring>

#include "tests/gpu/programs/spin.h"

namespace {

constexpr int kTurnsBetweenWaits = 200;

// As often as torch asks in an eager operation.
void Turn(cudaEvent_t event) {
  int device = 0;
  for (int i = 0; i < 4; ++i) Check(cudaGetDevice(&device), "cudaGetDevice");
  LaunchSpin(nullptr, 0);
  Check(cudaGetLastError(), "cudaGetLastError");
  Check(cudaPeekAtLastError(), "cudaPeekAtLastError");
  static_cast<void>(cudaEventQuery(event));
}

using Clock = std::chrono::steady_clock;

// The time that a turn took, of |turns|, ns.
double TimeTurns(cudaEvent_t event, int turns) {
  std::chrono::duration<double, std::nano> took(0);
  for (int done = 0; done < turns; done += kTurnsBetweenWaits) {
    const auto begin = Clock::now();
    for (int i = 0; i < kTurnsBetweenWaits; ++i) Turn(event);
    took += Clock::now() - begin;
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  return took.count() / turns;
}

// The time that a query took, of |times|, ns.
double TimeQueries(int times) {
  int device = 0;
  const auto begin = Clock::now();
  for (int i = 0; i < times; ++i) Check(cudaGetDevice(&device), "cudaGetDevice");
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / times;
}

void SaySlices(cudaEvent_t event, int seconds) {
  constexpr int kTurnsOfSlice = 20 * kTurnsBetweenWaits;
  const auto began = Clock::now();
  for (double at = 0; at < seconds;) {
    const double turn_ns = TimeTurns(event, kTurnsOfSlice);
    at = std::chrono::duration<double>(Clock::now() - began).count();
    std::printf("slice %.3f %.1f\n", at, turn_ns);
  }
}

}  // namespace

int main(int argc, char** argv) {
  cudaEvent_t event = nullptr;
  Check(cudaEventCreate(&event), "cudaEventCreate");
  TimeTurns(event, kTurnsBetweenWaits);
  if (argc > 2 && std::strcmp(argv[1], "for") == 0) {
    SaySlices(event, NumberAt(argc, argv, 2));
    return 0;
  }
  if (argc > 2 && std::strcmp(argv[1], "ask") == 0) {
    const int times = NumberAt(argc, argv, 2);
    std::printf("{\"queries\": %d, \"ns_per_query\": %.1f}\n", times, TimeQueries(times));
    return 0;
  }
  const int turns = NumberAt(argc, argv, 1);
  std::printf("{\"turns\": %d, \"ns_per_turn\": %.1f}\n", turns, TimeTurns(event, turns));
  return 0;
}
