// SPDX-License-Identifier: Apache-2.0
//
// Many small functions, called in random order, each of which reads and writes a place of its own
// in a large array and takes a branch by what it finds there.
#include "tools/calibration/other_work.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpubound::calibration {
namespace {

constexpr int kCalls = 1000;  // some 30 us
constexpr size_t kFunctions = 8192;
constexpr size_t kWords = size_t{1} << 20;
constexpr size_t kWordsOfLine = 16;

uint32_t Next(uint32_t* random) {  // G. Marsaglia, Xorshift RNGs
  *random ^= *random << 13;
  *random ^= *random >> 17;
  *random ^= *random << 5;
  return *random;
}

}  // namespace

// 128 bytes each, one behind the other.
#ifdef __x86_64__
asm(".text\n"
    ".p2align 7\n"
    "gpubound_other_work:\n"
    ".rept 8192\n"
    "  movl (%rdi), %eax\n"
    "  testl $1, %eax\n"
    "  jz 1f\n"
    "  addl $5, %eax\n"
    "1:\n"
    "  addl $3, %eax\n"
    "  movl %eax, (%rdi)\n"
    "  ret\n"
    "  .p2align 7\n"
    ".endr\n");
#elif defined(__aarch64__)
asm(".text\n"
    ".p2align 7\n"
    "gpubound_other_work:\n"
    ".rept 8192\n"
    "  ldr w1, [x0]\n"
    "  tbz w1, #0, 1f\n"
    "  add w1, w1, #5\n"
    "1:\n"
    "  add w1, w1, #3\n"
    "  str w1, [x0]\n"
    "  ret\n"
    "  .p2align 7\n"
    ".endr\n");
#else
#error "other work is written for x86-64 and 64-bit Arm"
#endif

extern "C" const char gpubound_other_work[];

void DoOtherWork() {
  constexpr size_t kBytesOfFunction = 128;
  using Function = void (*)(uint32_t*);
  static uint32_t random = 2'463'534'242;
  static std::vector<uint32_t> words = [] {
    std::vector<uint32_t> filled(kWords);
    for (uint32_t& word : filled) word = Next(&random);
    return filled;
  }();
  for (int i = 0; i < kCalls; ++i) {
    const uint32_t chosen = Next(&random);
    const size_t place = (chosen >> 13) % (kWords / kWordsOfLine) * kWordsOfLine;
    const char* code = gpubound_other_work + chosen % kFunctions * kBytesOfFunction;
    reinterpret_cast<Function>(reinterpret_cast<uintptr_t>(code))(&words[place]);
  }
}

}  // namespace gpubound::calibration
