// SPDX-License-Identifier: Apache-2.0
#include "analysis/sweep/op_book.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gpubound {
namespace {

// Of a process with two operators: work rows 1 and 2 are of the first, of which 1 begins a call.
ProcessTrace ProcessWithOps() {
  ProcessTrace process;
  process.span_end_ns = 1000;
  process.ops = {Op{}, Op{"aten::mm", "2x2, 2x2", "", ""}, Op{"aten::add", "", "", ""}};
  process.works.resize(5);
  for (uint32_t i = 1; i < 5; ++i) process.works[i].name = "kernel";
  process.works[1].op = process.works[2].op = 1;
  process.works[1].begins_op = true;
  process.works[3].op = 2;
  return process;
}

GpuItem Item(uint32_t work, int64_t begin_ns, int64_t end_ns) {
  GpuItem item{};
  item.work = WorkId{work};
  item.begin_ns = begin_ns;
  item.end_ns = end_ns;
  return item;
}

TEST(OpBook, CountsWorkAndCallsOfEachOperatorWithinTheSpan) {
  const ProcessTrace process = ProcessWithOps();
  OpBook book(process, {0, 1000});
  book.Add(Item(1, 0, 100));
  book.Add(Item(2, 900, 1100));
  book.Add(Item(3, 200, 250));
  book.Add(Item(4, 300, 400));
  const std::vector<OpTime> times = book.Take();
  ASSERT_EQ(times.size(), 2u);
  EXPECT_EQ(times[0].op.name, "aten::mm");
  EXPECT_EQ(times[0].count, 2u);
  EXPECT_EQ(times[0].calls, 1u);
  EXPECT_EQ(times[0].sum_ns, 200);
  EXPECT_EQ(times[1].op.name, "aten::add");
  EXPECT_EQ(times[1].calls, 0u);
}

TEST(OpBook, TheOtherEndOfACopyIsNoWorkOfItsOwn) {
  const ProcessTrace process = ProcessWithOps();
  OpBook book(process, {0, 1000});
  GpuItem item = Item(1, 0, 100);
  item.other_end = true;
  book.Add(item);
  EXPECT_TRUE(book.Take().empty());
}

TEST(OpBook, GoesOnWhereItWasWrittenDownAlsoWithoutTheRowsOfBefore) {
  const ProcessTrace process = ProcessWithOps();
  StateArchive written;
  {
    OpBook book(process, {0, 1000});
    book.Add(Item(1, 0, 100));
    written.All(book);
  }
  const std::string bytes = written.Take();
  StateArchive read(bytes);
  const ProcessTrace without;
  OpBook book(without, {0, 1000});
  read.All(book);
  EXPECT_TRUE(read.done());
  const std::vector<OpTime> times = book.Take();
  ASSERT_EQ(times.size(), 1u);
  EXPECT_EQ(times[0].op.dims, "2x2, 2x2");
  EXPECT_EQ(times[0].sum_ns, 100);
  EXPECT_EQ(times[0].calls, 1u);
}

}  // namespace
}  // namespace gpubound
