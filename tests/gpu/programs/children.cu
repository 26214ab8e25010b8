// SPDX-License-Identifier: Apache-2.0
//
// children N: forks before CUDA, a child that launches N kernels of its own, then launches N
// itself, then forks children that find CUDA unusable and leave by exit and by _exit. Says the
// pids.
#include <sys/wait.h>
#include <unistd.h>

#include "tests/gpu/programs/spin.h"

namespace {

void LaunchAll(int kernels) {
  for (int i = 0; i < kernels; ++i) LaunchSpin(nullptr, 2'000);
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

int StatusOf(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int main(int argc, char** argv) {
  const int kernels = NumberAt(argc, argv, 1);
  const pid_t early = fork();
  LaunchAll(kernels);
  if (early == 0) return 0;
  const int early_status = StatusOf(early);
  const pid_t by_exit = fork();
  if (by_exit == 0) std::exit(5);
  const pid_t by_underscore_exit = fork();
  if (by_underscore_exit == 0) _exit(6);
  const int first = StatusOf(by_exit);
  const int second = StatusOf(by_underscore_exit);
  std::printf("{\"launched\": %d, \"parent\": %d, \"child\": %d, \"statuses\": [%d, %d, %d]}\n",
              kernels, static_cast<int>(getpid()), static_cast<int>(early), early_status, first,
              second);
  return 0;
}
