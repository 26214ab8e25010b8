// SPDX-License-Identifier: Apache-2.0
//
// A program that was built with a sanitizer of its own: threads annotate, and it ends with 0 unless
// the sanitizer finds fault. It keeps the account that $VICTIM_PROGRESS names.
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/programs/victim.h"

namespace gpubound {

ProgressFile* Progress() {
  static ProgressFile* progress = MapProgress(std::getenv("VICTIM_PROGRESS"));
  return progress;
}

}  // namespace gpubound

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] { gpubound::Worker().Scopes(20'000); });
  }
  for (std::thread& thread : threads) thread.join();
}
