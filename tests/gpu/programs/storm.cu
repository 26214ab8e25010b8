// SPDX-License-Identifier: Apache-2.0
//
// storm N: launches N of the shortest kernels as fast as it can, and says how long that took and
// how much memory the process had after a quarter of them and at the end. One thread.
#include <unistd.h>

#include <chrono>

#include "tests/gpu/programs/spin.h"

namespace {

long ResidentKib() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1) std::exit(24);
  std::fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

long DeviceKib() {
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  Check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  return static_cast<long>((total_bytes - free_bytes) / 1024);
}

void LaunchAll(int kernels) {
  for (int i = 0; i < kernels; ++i) LaunchSpin(nullptr, 0);
}

}  // namespace

int main(int argc, char** argv) {
  const int kernels = NumberAt(argc, argv, 1);
  const auto begin = std::chrono::steady_clock::now();
  LaunchAll(kernels / 4);
  const long early_kib = ResidentKib();
  const long early_device_kib = DeviceKib();
  LaunchAll(kernels - kernels / 4);
  Check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf(
      "{\"launched\": %d, \"seconds\": %.3f, \"early_kib\": %ld, \"late_kib\": %ld, "
      "\"early_device_kib\": %ld, \"late_device_kib\": %ld}\n",
      kernels, took.count(), early_kib, ResidentKib(), early_device_kib, DeviceKib());
  return 0;
}
