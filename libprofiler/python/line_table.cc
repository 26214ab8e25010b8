// SPDX-License-Identifier: Apache-2.0
//
// Decodes the three kinds.
#include "libprofiler/python/line_table.h"

namespace gpubound {
namespace {

uint32_t ToLine(int64_t line) {
  return line > 0 && line <= UINT32_MAX ? static_cast<uint32_t>(line) : 0;
}

// Of 3.9: the last entry that does not begin after the position.
uint32_t LineOfLnotab(std::span<const uint8_t> table, int64_t line, int64_t position) {
  int64_t begin = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    begin += table[i];
    if (begin > position) break;
    line += static_cast<int8_t>(table[i + 1]);
  }
  return ToLine(line);
}

// Of 3.10: ranges, some of which have no line.
uint32_t LineOfRanges(std::span<const uint8_t> table, int64_t line, int64_t position) {
  constexpr int8_t kNoLine = -128;
  int64_t end = 0;
  for (size_t i = 0; i + 1 < table.size(); i += 2) {
    end += table[i];
    const auto step = static_cast<int8_t>(table[i + 1]);
    if (step != kNoLine) line += step;
    if (position < end) return step == kNoLine ? 0 : ToLine(line);
  }
  return 0;
}

// Reads entries of the table of 3.11 and later.
class Locations {
 public:
  explicit Locations(std::span<const uint8_t> table) : table_(table) {}

  bool AtEnd() const { return at_ >= table_.size(); }
  uint8_t Byte() { return AtEnd() ? 0 : table_[at_++]; }
  // Six bits a byte, the lowest first; the seventh says that another follows.
  uint64_t Number() {
    constexpr uint8_t kMore = 0x40;
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 60; shift += 6) {
      const uint8_t byte = Byte();
      number |= uint64_t{byte & 0x3fu} << shift;
      if ((byte & kMore) == 0) break;
    }
    return number;
  }
  // The sign is the lowest bit.
  int64_t SignedNumber() {
    const uint64_t number = Number();
    const auto size = static_cast<int64_t>(number >> 1);
    return (number & 1) != 0 ? -size : size;
  }

 private:
  std::span<const uint8_t> table_;
  size_t at_ = 0;
};

uint32_t LineOfLocations(std::span<const uint8_t> table, int64_t line, int64_t position) {
  constexpr uint8_t kFirstBit = 0x80;
  constexpr int kOneLine0 = 10, kOneLine2 = 12, kNoColumns = 13, kLong = 14, kNone = 15;
  constexpr int64_t kWordBytes = 2;
  int64_t end = 0;
  for (Locations from(table); !from.AtEnd();) {
    const uint8_t head = from.Byte();
    if ((head & kFirstBit) == 0) return 0;
    const int code = head >> 3 & 0xf;
    end += ((head & 7) + 1) * kWordBytes;
    if (code == kLong) {
      line += from.SignedNumber();
      for (int i = 0; i < 3; ++i) from.Number();  // the last line, and columns
    } else if (code == kNoColumns) {
      line += from.SignedNumber();
    } else if (code >= kOneLine0 && code <= kOneLine2) {
      line += code - kOneLine0;
      from.Byte(), from.Byte();
    } else if (code != kNone) {
      from.Byte();
    }
    if (position < end) return code == kNone ? 0 : ToLine(line);
  }
  return 0;
}

}  // namespace

uint32_t LineOf(LineTable kind, std::span<const uint8_t> table, uint32_t first_line,
                int64_t position) {
  if (position < 0) return first_line;
  switch (kind) {
    case LineTable::kLnotab:
      return LineOfLnotab(table, first_line, position);
    case LineTable::kRanges:
      return LineOfRanges(table, first_line, position);
    case LineTable::kLocations:
      return LineOfLocations(table, first_line, position);
  }
  return 0;
}

}  // namespace gpubound
