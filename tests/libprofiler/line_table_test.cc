// SPDX-License-Identifier: Apache-2.0
//
// Lines of positions in code objects. The tables are those that CPython made of
//
//   1
//   2  def f(a,
//   3        b):
//   4      x = (a +
//   5           b)
//   6      for i in range(x):
//   7          if i > 3:
//   8              continue
//   9          y = [k for k in
//  10               range(i)]
//  11      return x
//
// and the lines those that the interpreter itself says (dis.findlinestarts, co_lines).
#include "libprofiler/python/line_table.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace gpubound {
namespace {

// From where on a line holds, in bytes.
struct Begin {
  int64_t position;
  uint32_t line;
};

void ExpectLines(LineTable kind, const std::vector<uint8_t>& table,
                 const std::vector<Begin>& begins, int64_t end) {
  constexpr uint32_t kFirstLine = 2;
  for (size_t i = 0; i < begins.size(); ++i) {
    const int64_t until = i + 1 < begins.size() ? begins[i + 1].position : end;
    for (int64_t position = begins[i].position; position < until; position += 2) {
      EXPECT_EQ(LineOf(kind, table, kFirstLine, position), begins[i].line) << position;
    }
  }
  EXPECT_EQ(LineOf(kind, table, kFirstLine, -2), kFirstLine);
}

const std::vector<Begin> kBegins = {{0, 4},  {2, 5},  {4, 4},   {8, 6},  {20, 7},
                                    {28, 8}, {30, 9}, {36, 10}, {42, 9}, {50, 11}};

TEST(LineTableTest, IncrementsOfPython39GiveTheLineOfEachPosition) {
  ExpectLines(LineTable::kLnotab, {0x00, 0x02, 0x02, 0x01, 0x02, 0xff, 0x04, 0x02, 0x0c, 0x01,
                                   0x08, 0x01, 0x02, 0x01, 0x06, 0x01, 0x06, 0xff, 0x08, 0x02},
              kBegins, 54);
}

TEST(LineTableTest, RangesOfPython310GiveTheLineOfEachPosition) {
  ExpectLines(LineTable::kRanges, {0x02, 0x02, 0x02, 0x01, 0x04, 0xff, 0x0c, 0x02, 0x08, 0x01,
                                   0x02, 0x01, 0x06, 0x01, 0x06, 0x01, 0x08, 0xff, 0x04, 0x02},
              kBegins, 54);
}

TEST(LineTableTest, LocationsOfPython311GiveTheLineOfEachPosition) {
  ExpectLines(LineTable::kLocations,
              {0x80, 0x00, 0xe0, 0x09, 0x0a, 0xd8, 0x09, 0x0a, 0xf1, 0x03, 0x01, 0x0a, 0x0b,
               0x80, 0x41, 0xe5, 0x0d, 0x12, 0x90, 0x31, 0x89, 0x58, 0x8c, 0x58, 0xf0, 0x00,
               0x04, 0x05, 0x17, 0xf0, 0x00, 0x04, 0x05, 0x17, 0x88, 0x01, 0xd8, 0x0b, 0x0c,
               0x88, 0x71, 0x8a, 0x35, 0x88, 0x35, 0xd8, 0x0c, 0x14, 0xf0, 0x02, 0x01, 0x0d,
               0x17, 0xf0, 0x00, 0x01, 0x0d, 0x17, 0xdd, 0x0d, 0x12, 0x90, 0x31, 0x89, 0x58,
               0x8c, 0x58, 0xf0, 0x03, 0x01, 0x0d, 0x17, 0xf1, 0x00, 0x01, 0x0d, 0x17, 0xf4,
               0x00, 0x01, 0x0d, 0x17, 0x88, 0x01, 0x88, 0x01, 0xe0, 0x0b, 0x0c, 0x80, 0x48},
              {{0, 2},
               {2, 4},
               {4, 5},
               {6, 4},
               {12, 6},
               {46, 7},
               {58, 8},
               {60, 9},
               {64, 10},
               {92, 9},
               {112, 11}},
              116);
}

TEST(LineTableTest, WhatHasNoLineHasNone) {
  // 3.10: a range without one. 3.11: an entry of kind 15, of two words.
  EXPECT_EQ(LineOf(LineTable::kRanges, std::vector<uint8_t>{0x02, 0x01, 0x04, 0x80}, 10, 2), 0u);
  EXPECT_EQ(LineOf(LineTable::kLocations, std::vector<uint8_t>{0xf9}, 10, 2), 0u);
}

TEST(LineTableTest, ATableThatEndsEarlyOrIsNoneHasNoLines) {
  EXPECT_EQ(LineOf(LineTable::kRanges, {}, 10, 0), 0u);
  EXPECT_EQ(LineOf(LineTable::kLocations, {}, 10, 0), 0u);
  EXPECT_EQ(LineOf(LineTable::kLocations, std::vector<uint8_t>{0x12, 0x34}, 10, 0), 0u);
  EXPECT_EQ(LineOf(LineTable::kLnotab, {}, 10, 0), 10u);  // all of it is on the first line
}

}  // namespace
}  // namespace gpubound
