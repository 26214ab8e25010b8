// SPDX-License-Identifier: Apache-2.0
//
// CRC-32C in software (eight table look-ups per eight bytes) and with SSE 4.2. The instruction
// takes one input per cycle but three cycles each, so three stripes run side by side and are joined
// by advancing a CRC over the zeros that stand for the stripe behind it.
#include "proto/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace gpubound {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  // reflected

using Table = std::array<std::array<uint32_t, 256>, 8>;

// kTable[k][b]: the CRC register after byte b and k zero bytes.
constexpr Table MakeTable() {
  Table table{};
  for (uint32_t b = 0; b < 256; ++b) {
    uint32_t crc = b;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    table[0][b] = crc;
  }
  for (size_t k = 1; k < table.size(); ++k) {
    for (uint32_t b = 0; b < 256; ++b) {
      const uint32_t crc = table[k - 1][b];
      table[k][b] = (crc >> 8) ^ table[0][crc & 0xff];
    }
  }
  return table;
}
constexpr Table kTable = MakeTable();

uint32_t Load32(const std::byte* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

uint32_t UpdatePortable(uint32_t crc, const std::byte* bytes, size_t size) {
  for (; size >= 8; bytes += 8, size -= 8) {
    const uint32_t low = crc ^ Load32(bytes);
    const uint32_t high = Load32(bytes + 4);
    crc = kTable[7][low & 0xff] ^ kTable[6][(low >> 8) & 0xff] ^ kTable[5][(low >> 16) & 0xff] ^
          kTable[4][low >> 24] ^ kTable[3][high & 0xff] ^ kTable[2][(high >> 8) & 0xff] ^
          kTable[1][(high >> 16) & 0xff] ^ kTable[0][high >> 24];
  }
  for (; size != 0; ++bytes, --size) {
    crc = (crc >> 8) ^ kTable[0][(crc ^ std::to_integer<uint32_t>(*bytes)) & 0xff];
  }
  return crc;
}

#if defined(__x86_64__)
constexpr size_t kStripeBytes = 512;

using Shift = std::array<std::array<uint32_t, 256>, 4>;

// kShift[k][b]: the register b << 8k after kStripeBytes zero bytes. Linear, so a register's four
// bytes are looked up apart and joined.
constexpr Shift MakeShift() {
  std::array<uint32_t, 32> of_bit{};
  for (uint32_t bit = 0; bit < 32; ++bit) {
    uint32_t crc = uint32_t{1} << bit;
    for (size_t i = 0; i < kStripeBytes; ++i) crc = (crc >> 8) ^ kTable[0][crc & 0xff];
    of_bit[bit] = crc;
  }
  Shift shift{};
  for (uint32_t k = 0; k < 4; ++k) {
    for (uint32_t b = 0; b < 256; ++b) {
      for (uint32_t bit = 0; bit < 8; ++bit) {
        if ((b >> bit & 1) != 0) shift[k][b] ^= of_bit[8 * k + bit];
      }
    }
  }
  return shift;
}
constexpr Shift kShift = MakeShift();

uint32_t OverStripe(uint32_t crc) {
  return kShift[0][crc & 0xff] ^ kShift[1][(crc >> 8) & 0xff] ^ kShift[2][(crc >> 16) & 0xff] ^
         kShift[3][crc >> 24];
}

uint64_t Load64(const std::byte* bytes) {
  uint64_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

__attribute__((target("sse4.2"))) uint32_t UpdateSse42(uint32_t crc, const std::byte* bytes,
                                                       size_t size) {
  while (size >= 3 * kStripeBytes) {
    uint64_t a = crc;
    uint64_t b = 0;
    uint64_t c = 0;
    for (size_t i = 0; i < kStripeBytes; i += 8) {
      a = _mm_crc32_u64(a, Load64(bytes + i));
      b = _mm_crc32_u64(b, Load64(bytes + kStripeBytes + i));
      c = _mm_crc32_u64(c, Load64(bytes + 2 * kStripeBytes + i));
    }
    crc = OverStripe(OverStripe(static_cast<uint32_t>(a)) ^ static_cast<uint32_t>(b)) ^
          static_cast<uint32_t>(c);
    bytes += 3 * kStripeBytes;
    size -= 3 * kStripeBytes;
  }
  uint64_t rest = crc;
  for (; size >= 8; bytes += 8, size -= 8) rest = _mm_crc32_u64(rest, Load64(bytes));
  for (; size != 0; ++bytes, --size) {
    rest = _mm_crc32_u8(static_cast<uint32_t>(rest), std::to_integer<uint8_t>(*bytes));
  }
  return static_cast<uint32_t>(rest);
}
#endif  // __x86_64__

}  // namespace

uint32_t Crc32cPortable(std::span<const std::byte> bytes) {
  return ~UpdatePortable(~uint32_t{0}, bytes.data(), bytes.size());
}

uint32_t Crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) {
    return ~UpdateSse42(~uint32_t{0}, bytes.data(), bytes.size());
  }
#endif
  return Crc32cPortable(bytes);
}

}  // namespace gpubound
