// SPDX-License-Identifier: Apache-2.0
//
// threads T N [HOW]: T threads launch N kernels each and say their system thread ids. HOW:
//   streams  all at once, in streams of their own; the default
//   brief    a few at a time, each ends once its kernels are launched
//   held     all at once; none ends before all have launched
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/gpu/programs/spin.h"

namespace {

constexpr size_t kBriefAtOnce = 8;

void LaunchAll(int kernels, long* tid, bool own_stream, pthread_barrier_t* launched) {
  *tid = syscall(SYS_gettid);
  cudaStream_t stream = nullptr;
  if (own_stream) Check(cudaStreamCreate(&stream), "cudaStreamCreate");
  for (int i = 0; i < kernels; ++i) LaunchSpin(stream, 1'000);
  if (own_stream) Check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  if (launched != nullptr) pthread_barrier_wait(launched);
}

}  // namespace

int main(int argc, char** argv) {
  const int kernels = NumberAt(argc, argv, 2);
  std::vector<long> tids(NumberAt(argc, argv, 1));
  const char* how = argc > 3 ? argv[3] : "streams";
  const bool brief = std::strcmp(how, "brief") == 0;
  const bool held = std::strcmp(how, "held") == 0;
  pthread_barrier_t launched;
  if (held) pthread_barrier_init(&launched, nullptr, static_cast<unsigned>(tids.size()));
  const size_t at_once = brief ? kBriefAtOnce : tids.size();
  for (size_t first = 0; first < tids.size(); first += at_once) {
    std::vector<std::thread> threads;
    for (size_t i = first; i < std::min(first + at_once, tids.size()); ++i) {
      threads.emplace_back(&LaunchAll, kernels, &tids[i], !brief && !held,
                           held ? &launched : nullptr);
    }
    for (std::thread& thread : threads) thread.join();
  }
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  std::string listed;
  for (long tid : tids) listed += (listed.empty() ? "" : ", ") + std::to_string(tid);
  std::printf("{\"launched\": %d, \"tids\": [%s]}\n", kernels, listed.c_str());
  return 0;
}
