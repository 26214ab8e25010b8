// SPDX-License-Identifier: Apache-2.0
//
// steady S: for S seconds, every few milliseconds, one short kernel and a wait for it. What the
// clocks of CPU and GPU say of each turn can then be compared over time. One thread.
#include <time.h>

#include <chrono>

#include "tests/gpu/programs/spin.h"

int main(int argc, char** argv) {
  const auto until =
      std::chrono::steady_clock::now() + std::chrono::seconds(NumberAt(argc, argv, 1));
  constexpr timespec kBetween = {0, 2'000'000};
  int turns = 0;
  for (; std::chrono::steady_clock::now() < until; ++turns) {
    LaunchSpin(nullptr, 5'000);
    Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    nanosleep(&kBetween, nullptr);
  }
  std::printf("{\"launched\": %d}\n", turns);
  return 0;
}
