// SPDX-License-Identifier: Apache-2.0
//
// Programs that number their operations ("episode 17"), and whose kernels have a name each. A table
// of all pairs of these would take 3.6 GB.
#include "analysis/sweep/kernel_book.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdint>
#include <string>
#include <vector>

namespace gpubound {
namespace {

constexpr uint32_t kMany = 30'000;

int64_t PeakBytes() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return int64_t{used.ru_maxrss} * 1024;
}

TEST(KernelBook, TakesAsMuchMemoryAsThereAreAccounts) {
  ProcessTrace process;
  process.span_end_ns = kMany;
  for (uint32_t i = 0; i < kMany; ++i) {
    process.works.emplace_back().name = "kernel " + std::to_string(i);
  }
  const int64_t before = PeakBytes();
  KernelBook book(process, {0, kMany});
  for (uint32_t i = 0; i < kMany; ++i) {
    GpuItem item{};
    item.begin_ns = i;
    item.end_ns = i + 1;
    item.work = WorkId{i};
    book.Add(item, i + 1);
    book.Add(item, i + 1);
    book.Add(item, kNoOperationIndex);
  }
  const std::vector<KernelTime> times = book.Take();
  EXPECT_LT(PeakBytes() - before, int64_t{256} << 20);
  ASSERT_EQ(times.size(), 2 * kMany);
  EXPECT_EQ(times[0].operation, kNoOperationIndex);
  EXPECT_EQ(times[0].lengths.count(), 1u);
  EXPECT_EQ(times[kMany].operation, 1u);
  EXPECT_EQ(times[kMany].name, "kernel 0");
  EXPECT_EQ(times[kMany].lengths.count(), 2u);
}

}  // namespace
}  // namespace gpubound
