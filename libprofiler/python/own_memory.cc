// SPDX-License-Identifier: Apache-2.0
//
// Asks the kernel.
#include "libprofiler/python/own_memory.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace gpubound {
namespace {

void* PointerTo(Address address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));  // NOLINT: the kernel reads it
}

}  // namespace

OwnMemory::OwnMemory() : pid_(getpid()) {}

bool OwnMemory::Read(Address from, void* to, size_t bytes) const {
  const iovec local = {to, bytes};
  const iovec remote = {PointerTo(from), bytes};
  return process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool OwnMemory::ReadEach(std::span<const Address> from, size_t bytes, std::byte* to) const {
  constexpr size_t kAtOnce = 64;
  while (!from.empty()) {
    const size_t count = std::min(from.size(), kAtOnce);
    iovec remote[kAtOnce];
    for (size_t i = 0; i < count; ++i) remote[i] = {PointerTo(from[i]), bytes};
    const iovec local = {to, count * bytes};
    const ssize_t expected = static_cast<ssize_t>(local.iov_len);
    if (process_vm_readv(pid_, &local, 1, remote, count, 0) != expected) return false;
    to += local.iov_len;
    from = from.subspan(count);
  }
  return true;
}

bool OwnMemory::IsAllowed() const {
  const uint64_t known = 0;
  uint64_t read = 0;
  return Read(reinterpret_cast<uintptr_t>(&known), &read);
}

}  // namespace gpubound
