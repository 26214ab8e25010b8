// SPDX-License-Identifier: Apache-2.0
//
// Memory of this process that other threads change and may unmap meanwhile, read by the kernel
// (process_vm_readv): an address that is not there is an answer and not a fault. A read takes some
// 0.5 us, however little it reads. Any thread.
#ifndef GPUBOUND_LIBPROFILER_PYTHON_OWN_MEMORY_H_
#define GPUBOUND_LIBPROFILER_PYTHON_OWN_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace gpubound {

// An address of the program's, as it was found there.
using Address = uint64_t;

class OwnMemory {
 public:
  OwnMemory();

  // All of |bytes| from |from| on. False: not all of it is there.
  bool Read(Address from, void* to, size_t bytes) const;

  template <typename Value>
  bool Read(Address from, Value* value) const {
    return Read(from, value, sizeof(Value));
  }

  // |bytes| from each of |from|, one after the other. False: not all of them are there.
  bool ReadEach(std::span<const Address> from, size_t bytes, std::byte* to) const;

  // Whether the kernel lets a process read its own memory this way.
  bool IsAllowed() const;

 private:
  const pid_t pid_;
};

// What was read of a structure: a value at an offset within it.
template <typename Value>
Value ValueAt(const std::byte* structure, size_t offset) {
  Value value;
  std::memcpy(&value, structure + offset, sizeof(value));
  return value;
}

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PYTHON_OWN_MEMORY_H_
