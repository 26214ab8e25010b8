// SPDX-License-Identifier: Apache-2.0
//
// Where records go when memory is short, and that they come back from there.
#include "analysis/base/record_log.h"

#include <gtest/gtest.h>

#include <optional>

#include "analysis/base/log_memory.h"

namespace gpubound {
namespace {

constexpr size_t kBlockBytes = RecordLog<uint64_t>::kBlock * sizeof(uint64_t);

void Fill(RecordLog<uint64_t>* log, size_t blocks) {
  for (uint64_t i = 0; i < blocks * RecordLog<uint64_t>::kBlock; ++i) {
    log->open_block().push_back(i);
    if (log->full()) log->Seal();
  }
}

void ExpectAll(const RecordLog<uint64_t>& log) {
  std::vector<uint64_t> buffer;
  uint64_t next = 0;
  for (size_t block = 0; block < log.blocks(); ++block) {
    for (const uint64_t record : log.Read(block, &buffer)) ASSERT_EQ(record, next++);
  }
  EXPECT_EQ(next, log.blocks() * RecordLog<uint64_t>::kBlock);
}

TEST(RecordLogTest, LogsOfSeveralSpacesShareOneMemoryAndGiveItBack) {
  LogMemory memory(3 * kBlockBytes);
  std::optional<LogSpace> first(std::in_place, SpillFolder(), 10 * kBlockBytes, &memory);
  RecordLog<uint64_t> of_first(&*first);
  Fill(&of_first, 2);
  LogSpace second(SpillFolder(), 10 * kBlockBytes, &memory);
  RecordLog<uint64_t> of_second(&second);
  Fill(&of_second, 2);
  ExpectAll(of_first);
  ExpectAll(of_second);
  EXPECT_FALSE(memory.Take(1)) << "three blocks are in memory, the fourth is in a file";
  first.reset();
  EXPECT_TRUE(memory.Take(2 * kBlockBytes));
  EXPECT_FALSE(memory.Take(1));
}

TEST(RecordLogTest, OneSpaceTakesNoMoreThanItsShare) {
  LogMemory memory(10 * kBlockBytes);
  LogSpace space(SpillFolder(), kBlockBytes, &memory);
  RecordLog<uint64_t> log(&space);
  Fill(&log, 3);
  ExpectAll(log);
  EXPECT_TRUE(memory.Take(9 * kBlockBytes));
}

TEST(AvailableMemoryTest, IsTheLeastThatTheMachineAndItsContainerGive) {
  constexpr char kMemInfo[] = "MemTotal:  4000 kB\nMemAvailable:    2000 kB\nBuffers: 1 kB\n";
  EXPECT_EQ(AvailableMemory(kMemInfo, "", ""), 2'048'000u);
  EXPECT_EQ(AvailableMemory(kMemInfo, "max\n", "7\n"), 2'048'000u);
  EXPECT_EQ(AvailableMemory(kMemInfo, "1000000\n", "400000\n"), 600'000u);
  EXPECT_EQ(AvailableMemory(kMemInfo, "1000\n", "4000\n"), 0u);
  EXPECT_EQ(AvailableMemory("", "", ""), size_t{256} << 20);
}

}  // namespace
}  // namespace gpubound
