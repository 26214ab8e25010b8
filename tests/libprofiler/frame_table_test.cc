// SPDX-License-Identifier: Apache-2.0
//
// Stacks as a tree of rows.
#include "libprofiler/python/frame_table.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubound {
namespace {

TEST(FrameTableTest, AStackThatIsKnownHasNoNewRows) {
  FrameTable table;
  const FunctionId main = table.InternFunction("a.py", "main");
  const FunctionId work = table.InternFunction("a.py", "work");
  const FrameId outer = table.InternFrame(FrameId{}, main, 10);
  const FrameId inner = table.InternFrame(outer, work, 3);
  EXPECT_EQ(table.InternFunction("a.py", "main"), main);
  EXPECT_EQ(table.InternFrame(FrameId{}, main, 10), outer);
  EXPECT_EQ(table.InternFrame(outer, work, 3), inner);
  EXPECT_NE(table.InternFrame(outer, work, 4), inner);
  EXPECT_NE(table.InternFunction("b.py", "main"), main);

  FrameTablePositions positions;
  FrameTableRows rows;
  table.CopyRowsSince(&positions, &rows);
  EXPECT_EQ(rows.functions.size(), 3u);
  ASSERT_EQ(rows.frames.size(), 3u);
  EXPECT_EQ(rows.frames[1].caller, outer);
  EXPECT_EQ(rows.frames[1].function, work);
  EXPECT_EQ(rows.frames[1].line, 3u);
}

TEST(FrameTableTest, RowsAreCopiedOnceAndReferToEarlierOnes) {
  FrameTable table;
  FrameTablePositions positions;
  FrameTableRows rows;
  FrameId caller{};
  for (uint32_t depth = 0; depth < 100; ++depth) {
    const FunctionId function = table.InternFunction("a.py", "f" + std::to_string(depth % 7));
    caller = table.InternFrame(caller, function, depth);
    if (depth % 10 == 0) table.CopyRowsSince(&positions, &rows);
  }
  table.CopyRowsSince(&positions, &rows);
  EXPECT_EQ(rows.functions.size(), 7u);
  ASSERT_EQ(rows.frames.size(), 100u);
  for (const FrameRow& row : rows.frames) EXPECT_LT(Raw(row.caller), Raw(row.id));
}

TEST(FrameTableTest, WhatFindsNoRoomCountsAsItsCaller) {
  FrameTable table;
  const FunctionId function = table.InternFunction("a.py", "f");
  const FrameId outer = table.InternFrame(FrameId{}, function, 0);
  for (uint32_t line = 1; line < FrameTable::kMostFrames; ++line) {
    table.InternFrame(outer, function, line);
  }
  EXPECT_EQ(table.overflowed(), 0u);
  EXPECT_EQ(table.InternFrame(outer, function, 1 << 30), outer);
  EXPECT_EQ(table.overflowed(), 1u);
}

}  // namespace
}  // namespace gpubound
