// SPDX-License-Identifier: Apache-2.0
//
// threads T N: T threads launch N kernels each, in streams of their own, and say their system
// thread ids.
#include <sys/syscall.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "tests/gpu/programs/spin.h"

namespace {

void LaunchAll(int kernels, long* tid) {
  *tid = syscall(SYS_gettid);
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreate(&stream), "cudaStreamCreate");
  for (int i = 0; i < kernels; ++i) LaunchSpin(stream, 1'000);
  Check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
  const int kernels = NumberAt(argc, argv, 2);
  std::vector<long> tids(NumberAt(argc, argv, 1));
  std::vector<std::thread> threads;
  for (long& tid : tids) threads.emplace_back(&LaunchAll, kernels, &tid);
  for (std::thread& thread : threads) thread.join();
  std::string listed;
  for (long tid : tids) listed += (listed.empty() ? "" : ", ") + std::to_string(tid);
  std::printf("{\"launched\": %d, \"tids\": [%s]}\n", kernels, listed.c_str());
  return 0;
}
