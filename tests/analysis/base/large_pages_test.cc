// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/large_pages.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace gpubound {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kOwnMalloc = false;  // the sanitizers bring one
#else
constexpr bool kOwnMalloc = true;
#endif

// Whether the kernel is asked for large pages where |address| lies.
bool IsAdvised(const void* address) {
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    uintptr_t begin = 0;
    uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      const auto at = reinterpret_cast<uintptr_t>(address);
      inside = begin <= at && at < end;
    }
    if (inside && line.rfind("VmFlags:", 0) == 0) return line.find(" hg") != std::string::npos;
  }
  return false;
}

// What a program does that begins so; its exit status says what was wrong.
[[noreturn]] void AnalyseSo() {
  AllocateFromLargePages();
  const void* const end = sbrk(0);
  AllocateFromLargePages();
  if (sbrk(0) != end) std::_Exit(4);
  const std::vector<char> own(3 << 20);
  if (!IsAdvised(&own.back())) std::_Exit(1);
  std::unique_ptr<std::vector<char>> of_thread;
  std::thread([&] {
    const LargePagesOfThread memory;
    of_thread = std::make_unique<std::vector<char>>(3 << 20);
  }).join();
  if (!IsAdvised(&of_thread->back())) std::_Exit(2);
  // More than the region holds.
  std::vector<std::vector<char>> blocks;
  for (int i = 0; i < 100; ++i) blocks.emplace_back(1 << 20, 'x');
  std::_Exit(IsAdvised(blocks.back().data()) ? 3 : 0);
}

TEST(LargePagesDeathTest, WhatIsAllocatedLiesInThemUntilTheRegionIsFull) {
  if (!std::filesystem::exists("/sys/kernel/mm/transparent_hugepage")) {
    GTEST_SKIP() << "this kernel has no large pages to give";
  }
  if (!kOwnMalloc) GTEST_SKIP() << "malloc is the sanitizer's";
  EXPECT_EXIT(AnalyseSo(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace gpubound
