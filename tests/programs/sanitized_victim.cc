// SPDX-License-Identifier: Apache-2.0
//
// A program that was built with a sanitizer of its own: threads annotate, and it ends with 0 unless
// the sanitizer finds fault.
#include <gpubound/annotate.h>

#include <thread>
#include <vector>

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 20'000; ++i) {
        GPUBOUND_OPERATION("work");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
