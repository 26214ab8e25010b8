// SPDX-License-Identifier: Apache-2.0
//
// ends HOW N: launches N kernels and ends as HOW says, so that what was delivered until then can be
// counted. `busy` leaves without waiting for the device; the others wait first. `late` has the
// driver a second before its first kernel, and returns. `killed` is killed while another kernel
// runs, after what went before was delivered. One thread.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "tests/gpu/programs/spin.h"

namespace {

void WaitMs(long ms) {
  const timespec wait = {ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&wait, nullptr);
}

void InitializeAndWait() {
  int devices = 0;
  Check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  WaitMs(1'000);
}

int GetKilledAtWork() {
  WaitMs(2'000);
  LaunchSpin(nullptr, 5'000'000'000);
  WaitMs(600);
  return kill(getpid(), SIGKILL) == 0 ? pause() : 1;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr long long kKernelNs = 20'000;
  const char* how = argc > 1 ? argv[1] : "";
  const int kernels = NumberAt(argc, argv, 2);
  if (std::strcmp(how, "late") == 0) InitializeAndWait();
  for (int i = 0; i < kernels; ++i) LaunchSpin(nullptr, kKernelNs);
  std::printf("{\"launched\": %d}\n", kernels);
  std::fflush(stdout);
  if (std::strcmp(how, "busy") == 0) return 0;
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (std::strcmp(how, "return") == 0 || std::strcmp(how, "late") == 0) return 0;
  if (std::strcmp(how, "exit") == 0) std::exit(3);
  if (std::strcmp(how, "_exit") == 0) _exit(4);
  if (std::strcmp(how, "exception") == 0) throw std::runtime_error("as asked");
  if (std::strcmp(how, "sigterm") == 0) return kill(getpid(), SIGTERM) == 0 ? pause() : 1;
  if (std::strcmp(how, "killed") == 0) return GetKilledAtWork();
  std::fprintf(stderr, "ends: what is '%s'?\n", how);
  return 23;
}
