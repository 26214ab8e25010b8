// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/profiler_code.h"

#include <array>
#include <cstddef>

// Some 4 ns of arithmetic, of which each step needs the one before.
#ifdef __x86_64__
asm(".text\n"
    ".p2align 7\n"
    "gpubound_sim_profiler_code:\n"
    ".rept 2048\n"
    "  movl (%rdi), %eax\n"
    "  testl $1, %eax\n"
    "  jz 1f\n"
    "  imull $5, %eax, %eax\n"
    "1:\n"
    "  imull $7, %eax, %eax\n"
    "  imull $9, %eax, %eax\n"
    "  imull $3, %eax, %eax\n"
    "  movl %eax, 4(%rdi)\n"
    "  ret\n"
    "  .p2align 7\n"
    ".endr\n");
#elif defined(__aarch64__)
asm(".text\n"
    ".p2align 7\n"
    "gpubound_sim_profiler_code:\n"
    ".rept 2048\n"
    "  ldr w1, [x0]\n"
    "  mov w2, #7\n"
    "  tbz w1, #0, 1f\n"
    "  mul w1, w1, w2\n"
    "1:\n"
    "  mul w1, w1, w2\n"
    "  mul w1, w1, w2\n"
    "  mul w1, w1, w2\n"
    "  str w1, [x0, #4]\n"
    "  ret\n"
    "  .p2align 7\n"
    ".endr\n");
#else
#error "the profiler's code is written for x86-64 and 64-bit Arm"
#endif

extern "C" const char gpubound_sim_profiler_code[];

namespace gpubound::sim {
namespace {

constexpr size_t kBytesOfFunction = 128;

struct alignas(64) Place {
  uint32_t decides = 0;  // whether the function's branch is taken
  uint32_t told = 0;
};

std::array<Place, kProfilerFunctions> Places() {
  std::array<Place, kProfilerFunctions> places;
  for (uint32_t i = 0; i < kProfilerFunctions; ++i) {
    places[i].decides = (i * 2'654'435'761U) >> 16;  // D. Knuth, multiplicative hashing
  }
  return places;
}

}  // namespace

void ExecuteProfilerCode(uint32_t first, uint32_t count) {
  using Function = void (*)(Place*);
  static std::array<Place, kProfilerFunctions> places = Places();
  for (uint32_t i = first; i != first + count; ++i) {
    const uint32_t chosen = i % kProfilerFunctions;
    const char* const code = gpubound_sim_profiler_code + chosen * kBytesOfFunction;
    reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(code))(&places[chosen]);
  }
}

}  // namespace gpubound::sim
