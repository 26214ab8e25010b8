// SPDX-License-Identifier: Apache-2.0
//
// Asks the processor and the kernel. No state.
#include "proto/invariant_tsc.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

namespace gpubound {

#if defined(__x86_64__)
namespace {

constexpr unsigned kInvariantTscLeaf = 0x80000007;
constexpr unsigned kInvariantTscBit = 1u << 8;

// A kernel that runs on another clock source although the CPU claims an invariant TSC has found it
// unstable (unsynchronised sockets, a careless hypervisor). Where sysfs cannot be read, the CPU's
// word stands.
bool KernelDistrustsTsc() {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char names[256] = {};
  const ssize_t length = read(fd, names, sizeof(names) - 1);
  close(fd);
  return length > 0 && std::strstr(names, "tsc") == nullptr;
}

}  // namespace
#endif

bool TscIsInvariant() noexcept {
#if defined(__x86_64__)
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(kInvariantTscLeaf, &eax, &ebx, &ecx, &edx) == 0) return false;
  return (edx & kInvariantTscBit) != 0 && !KernelDistrustsTsc();
#else
  return false;
#endif
}

}  // namespace gpubound
