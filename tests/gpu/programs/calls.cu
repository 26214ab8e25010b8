// SPDX-License-Identifier: Apache-2.0
//
// calls N: N times what an eager framework does to run one short kernel, which is more asking than
// launching; says what a turn took. The device keeps up, so the time is the CPU's. One thread.
#include <chrono>

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

}  // namespace

int main(int argc, char** argv) {
  const int turns = NumberAt(argc, argv, 1);
  cudaEvent_t event = nullptr;
  Check(cudaEventCreate(&event), "cudaEventCreate");
  for (int i = 0; i < kTurnsBetweenWaits; ++i) Turn(event);
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::chrono::duration<double, std::nano> took(0);
  for (int done = 0; done < turns; done += kTurnsBetweenWaits) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < kTurnsBetweenWaits; ++i) Turn(event);
    took += std::chrono::steady_clock::now() - begin;
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  std::printf("{\"turns\": %d, \"ns_per_turn\": %.1f}\n", turns, took.count() / turns);
  return 0;
}
