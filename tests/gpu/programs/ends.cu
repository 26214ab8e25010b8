// SPDX-License-Identifier: Apache-2.0
//
// ends HOW N: launches N kernels and ends as HOW says, so that what was delivered until then can be
// counted. `busy` leaves without waiting for the device; the others wait first. One thread.
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "tests/gpu/programs/spin.h"

int main(int argc, char** argv) {
  constexpr long long kKernelNs = 20'000;
  const char* how = argc > 1 ? argv[1] : "";
  const int kernels = NumberAt(argc, argv, 2);
  for (int i = 0; i < kernels; ++i) LaunchSpin(nullptr, kKernelNs);
  std::printf("{\"launched\": %d}\n", kernels);
  std::fflush(stdout);
  if (std::strcmp(how, "busy") == 0) return 0;
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  if (std::strcmp(how, "return") == 0) return 0;
  if (std::strcmp(how, "exit") == 0) std::exit(3);
  if (std::strcmp(how, "_exit") == 0) _exit(4);
  if (std::strcmp(how, "exception") == 0) throw std::runtime_error("as asked");
  if (std::strcmp(how, "sigterm") == 0) return kill(getpid(), SIGTERM) == 0 ? pause() : 1;
  std::fprintf(stderr, "ends: what is '%s'?\n", how);
  return 23;
}
