// SPDX-License-Identifier: Apache-2.0
//
// Every codec that this processor can run gives the bytes of the reference, reads them back, and
// stays within its input whatever that is.
#include "proto/varint.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/proto/chunk_samples.h"

namespace gpubound {
namespace {

class Varint : public testing::TestWithParam<VarintCodec> {
 protected:
  std::vector<uint8_t> Pack(const std::vector<uint64_t>& values) const {
    std::vector<uint8_t> bytes(kMaxVarintBytes * values.size() + kPackSlackBytes);
    bytes.resize(static_cast<size_t>(GetParam().pack(values.data(), values.size(), bytes.data()) -
                                     bytes.data()));
    return bytes;
  }
  static std::vector<uint8_t> Reference(const std::vector<uint64_t>& values) {
    std::vector<uint8_t> bytes(kMaxVarintBytes * values.size());
    uint8_t* end = bytes.data();
    for (uint64_t value : values) end = PutVarint(value, end);
    bytes.resize(static_cast<size_t>(end - bytes.data()));
    return bytes;
  }
  // Reads |count| values from a copy that ends where its memory ends, so that a sanitizer sees any
  // read beyond. False: refused.
  bool Unpack(const std::vector<uint8_t>& bytes, size_t count, std::vector<uint64_t>* values,
              size_t* consumed = nullptr) const {
    const auto exact = std::make_unique<uint8_t[]>(bytes.size());
    std::copy(bytes.begin(), bytes.end(), exact.get());
    values->assign(count + kUnpackSlackValues, 0);
    const uint8_t* end =
        GetParam().unpack(exact.get(), exact.get() + bytes.size(), values->data(), count);
    values->resize(count);
    if (end == nullptr) return false;
    if (consumed != nullptr) *consumed = static_cast<size_t>(end - exact.get());
    return true;
  }
  void ExpectRoundTrip(const std::vector<uint64_t>& values) {
    const std::vector<uint8_t> bytes = Pack(values);
    EXPECT_EQ(bytes, Reference(values));
    std::vector<uint64_t> back;
    ASSERT_TRUE(Unpack(bytes, values.size(), &back));
    EXPECT_EQ(back, values);
  }
};

INSTANTIATE_TEST_SUITE_P(Codecs, Varint,
                         testing::ValuesIn(SupportedVarintCodecs().begin(),
                                           SupportedVarintCodecs().end()),
                         [](const auto& codec) { return std::string(codec.param.name); });

TEST_P(Varint, HoldsValuesOnBothSidesOfEveryLength) {
  std::vector<uint64_t> values{0, UINT64_MAX};
  for (int bit = 0; bit < 64; ++bit) {
    values.push_back(uint64_t{1} << bit);
    values.push_back((uint64_t{1} << bit) - 1);
    values.push_back((uint64_t{1} << bit) + 1);
  }
  ExpectRoundTrip(values);
  for (uint64_t value : values) ExpectRoundTrip({value});
}

TEST_P(Varint, HoldsNothing) { ExpectRoundTrip({}); }

TEST_P(Varint, HoldsRunsOfEveryLength) {
  for (size_t count = 0; count < 200; ++count) {
    Dice dice(static_cast<uint32_t>(count));
    std::vector<uint64_t> values(count);
    for (uint64_t& value : values) value = dice.AnyMagnitude(22);
    ExpectRoundTrip(values);
  }
}

TEST_P(Varint, HoldsRandomValues) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    Dice dice(seed);
    const int bits = static_cast<int>(1 + dice.Below(64));
    std::vector<uint64_t> values(dice.Below(3000));
    for (uint64_t& value : values) value = dice.AnyMagnitude(bits);
    ExpectRoundTrip(values);
  }
}

TEST_P(Varint, StopsBehindTheLastValueThatWasAskedFor) {
  const std::vector<uint64_t> values(500, 300);
  const std::vector<uint8_t> bytes = Pack(values);
  for (size_t count = 0; count <= values.size(); ++count) {
    std::vector<uint64_t> back;
    size_t consumed = 0;
    ASSERT_TRUE(Unpack(bytes, count, &back, &consumed));
    EXPECT_EQ(consumed, 2 * count);
  }
}

TEST_P(Varint, RefusesInputThatEndsEarly) {
  Dice dice(5);
  std::vector<uint64_t> values(60);
  for (uint64_t& value : values) value = dice.AnyMagnitude();
  std::vector<uint8_t> bytes = Pack(values);
  std::vector<uint64_t> back;
  while (!bytes.empty()) {
    bytes.pop_back();
    EXPECT_FALSE(Unpack(bytes, values.size(), &back)) << bytes.size();
  }
}

TEST_P(Varint, RefusesMoreThan64Bits) {
  std::vector<uint64_t> back;
  std::vector<uint8_t> bytes(9, 0xff);
  bytes.push_back(0x01);
  bytes.resize(200);
  EXPECT_TRUE(Unpack(bytes, 1, &back));
  EXPECT_EQ(back[0], UINT64_MAX);
  bytes[9] = 0x02;
  EXPECT_FALSE(Unpack(bytes, 1, &back));
  bytes.assign(200, 0x80);
  EXPECT_FALSE(Unpack(bytes, 1, &back));
}

TEST_P(Varint, ReadsLongFormsOfSmallValues) {
  std::vector<uint8_t> bytes;
  for (int i = 0; i < 100; ++i) bytes.insert(bytes.end(), {0x81, 0x80, 0x80, 0x00, 0x05});
  std::vector<uint64_t> back;
  ASSERT_TRUE(Unpack(bytes, 200, &back));
  for (size_t i = 0; i < 200; ++i) EXPECT_EQ(back[i], i % 2 == 0 ? 1u : 5u);
}

TEST_P(Varint, AgreesWithTheReferenceOnAnyBytes) {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    Dice dice(seed);
    std::vector<uint8_t> bytes(dice.Below(300));
    const uint64_t long_ones = 1 + dice.Below(9);
    for (uint8_t& byte : bytes) {
      byte = static_cast<uint8_t>(dice.Below(128) | (dice.OneIn(long_ones) ? 0 : 0x80));
    }
    std::vector<uint64_t> expected;
    const uint8_t* at = bytes.data();
    const uint8_t* end = bytes.data() + bytes.size();
    uint64_t value;
    while ((at = GetVarint(at, end, &value)) != nullptr) expected.push_back(value);
    std::vector<uint64_t> back;
    ASSERT_TRUE(Unpack(bytes, expected.size(), &back));
    EXPECT_EQ(back, expected);
    EXPECT_FALSE(Unpack(bytes, expected.size() + 1, &back));
  }
}

TEST(ZigZagCode, IsThatOfProtobuf) {
  EXPECT_EQ(ZigZag(0), 0u);
  EXPECT_EQ(ZigZag(-1), 1u);
  EXPECT_EQ(ZigZag(1), 2u);
  EXPECT_EQ(ZigZag(INT64_MIN), UINT64_MAX);
  for (int64_t value : {int64_t{0}, int64_t{-1}, int64_t{77}, INT64_MIN, INT64_MAX}) {
    EXPECT_EQ(UnZigZag(ZigZag(value)), value);
  }
}

}  // namespace
}  // namespace gpubound
