// SPDX-License-Identifier: Apache-2.0
#include "proto/crc32c.h"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

std::vector<std::byte> Bytes(std::string_view text) {
  std::vector<std::byte> bytes;
  for (char c : text) bytes.push_back(static_cast<std::byte>(c));
  return bytes;
}

TEST(Crc32c, HasThePublishedValues) {
  // RFC 3720, B.4; the first is the check value of the algorithm's catalogue entry.
  EXPECT_EQ(Crc32c(Bytes("123456789")), 0xe3069283u);
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32, std::byte{0})), 0x8a9136aau);
  EXPECT_EQ(Crc32c(std::vector<std::byte>(32, std::byte{0xff})), 0x62a8ab43u);
}

TEST(Crc32c, OfNothingIsZero) { EXPECT_EQ(Crc32c({}), 0u); }

TEST(Crc32c, IsTheSameWithAndWithoutTheInstruction) {
  Dice dice(3);
  std::vector<std::byte> bytes(8000);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.Below(256));
  // Through every remainder of the stripes, at every alignment.
  for (size_t size = 0; size < bytes.size(); size += size < 3200 ? 1 : 97) {
    const auto part = std::span(bytes).subspan(size % 8 < bytes.size() - size ? size % 8 : 0, size);
    ASSERT_EQ(Crc32c(part), Crc32cPortable(part)) << size;
  }
}

TEST(Crc32c, ChangesWithEveryBit) {
  std::vector<std::byte> bytes(2000, std::byte{0x5a});
  const uint32_t whole = Crc32c(bytes);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    EXPECT_NE(Crc32c(bytes), whole);
    bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
  }
}

}  // namespace
}  // namespace gpubound
