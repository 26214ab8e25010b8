// SPDX-License-Identifier: Apache-2.0
//
// Sorting beyond memory.
#include "analysis/import/external_sorter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using ::testing::IsEmpty;
using testing_support::TemporaryRun;

struct Record {
  uint64_t key;
  uint64_t payload;
  friend bool operator<(const Record& a, const Record& b) { return a.key < b.key; }
};

std::vector<uint64_t> Sorted(ExternalSorter<Record>* sorter) {
  std::vector<uint64_t> keys;
  EXPECT_TRUE(sorter->Finish().ok());
  Record record{};
  for (auto more = sorter->Next(&record); more.ok() && *more; more = sorter->Next(&record)) {
    EXPECT_EQ(record.payload, ~record.key);
    keys.push_back(record.key);
  }
  return keys;
}

// |count| random keys through a sorter that holds |in_memory| of them.
void ExpectSorts(size_t count, size_t in_memory) {
  const TemporaryRun folder;
  ExternalSorter<Record> sorter(folder.path(), in_memory);
  std::mt19937_64 random(count);
  std::vector<uint64_t> keys;
  for (size_t i = 0; i < count; ++i) {
    keys.push_back(random());
    ASSERT_TRUE(sorter.Add({keys.back(), ~keys.back()}).ok());
  }
  std::sort(keys.begin(), keys.end());
  EXPECT_EQ(Sorted(&sorter), keys) << count << " records, " << in_memory << " in memory";
  EXPECT_THAT(folder.Names(), IsEmpty());
}

TEST(ExternalSorter, SortsWhatFitsIntoMemory) {
  ExpectSorts(0, 10);
  ExpectSorts(9, 10);
}

TEST(ExternalSorter, SortsWhatEndsExactlyWithARun) {
  ExpectSorts(10, 10);
  ExpectSorts(30, 10);
}

TEST(ExternalSorter, SortsManyRuns) {
  ExpectSorts(1000, 1);
  ExpectSorts(1001, 10);
}

TEST(ExternalSorter, SortsRunsLongerThanWhatIsReadAhead) { ExpectSorts(100'000, 30'000); }

TEST(ExternalSorter, SaysWhereThereIsNoRoom) {
  ExternalSorter<Record> sorter("/nonexistent", 1);
  const Status added = sorter.Add({1, ~uint64_t{1}});
  ASSERT_FALSE(added.ok());
  EXPECT_EQ(added.error().object, "/nonexistent");
  EXPECT_NE(added.error().remedy, "");
}

}  // namespace
}  // namespace gpubound
