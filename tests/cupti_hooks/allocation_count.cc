// SPDX-License-Identifier: Apache-2.0
//
// The test program's own operator new, which counts.
#include "tests/cupti_hooks/allocation_count.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
constinit thread_local uint64_t t_allocations = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++t_allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace gpubound {

uint64_t AllocationsOfThisThread() { return t_allocations; }

}  // namespace gpubound
