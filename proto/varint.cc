// SPDX-License-Identifier: Apache-2.0
//
// The portable loops, and the choice among all of them.
//
// A varint of up to eight bytes is made without a loop: its 7-bit groups are spread to bytes, the
// position of the highest one gives the length, eight bytes are stored whatever the length, and the
// next varint overwrites the surplus.
#include "proto/varint.h"

#include <bit>
#include <cstring>

#include "proto/varint_loops.h"

namespace gpubound {
namespace {

constexpr uint64_t kContinuation = 0x8080808080808080;

// Bits 0..55 to the low seven bits of eight bytes, and back.
uint64_t Spread(uint64_t x) {
  x = ((x & 0x00fffffff0000000) << 4) | (x & 0x000000000fffffff);
  x = ((x & 0x0fffc0000fffc000) << 2) | (x & 0x00003fff00003fff);
  return ((x & 0x3f803f803f803f80) << 1) | (x & 0x007f007f007f007f);
}
uint64_t Gather(uint64_t x) {
  x = ((x & 0x7f007f007f007f00) >> 1) | (x & 0x007f007f007f007f);
  x = ((x & 0x3fff00003fff0000) >> 2) | (x & 0x00003fff00003fff);
  return ((x & 0x0fffffff00000000) >> 4) | (x & 0x000000000fffffff);
}

uint8_t* PackPortable(const uint64_t* values, size_t count, uint8_t* out) {
  for (size_t i = 0; i < count; ++i) {
    const uint64_t value = values[i];
    if (value >> 56) [[unlikely]] {
      out = PutVarint(value, out);
      continue;
    }
    const uint64_t spread = Spread(value);
    const unsigned unused_bits = static_cast<unsigned>(std::countl_zero(spread | 1)) & 56u;
    const uint64_t used = ~uint64_t{0} >> unused_bits;
    const uint64_t bytes = spread | ((used >> 8) & kContinuation);
    std::memcpy(out, &bytes, sizeof(bytes));
    out += 8 - unused_bits / 8;
  }
  return out;
}

const uint8_t* UnpackPortable(const uint8_t* begin, const uint8_t* end, uint64_t* values,
                              size_t count) {
  size_t i = 0;
  while (i < count && end - begin >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, begin, sizeof(bytes));
    const uint64_t ends = ~bytes & kContinuation;
    if (ends == 0) [[unlikely]] {
      begin = GetVarint(begin, end, &values[i++]);
      if (begin == nullptr) return nullptr;
      continue;
    }
    const uint64_t used = ends ^ (ends - 1);  // up to and with the last byte
    values[i++] = Gather(bytes & used);
    begin += (static_cast<unsigned>(std::countr_zero(ends)) + 1) / 8;
  }
  return UnpackOneByOne(begin, end, values + i, count - i);
}

}  // namespace

uint8_t* PutVarint(uint64_t value, uint8_t* out) {
  while (value >= 0x80) {
    *out++ = static_cast<uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<uint8_t>(value);
  return out;
}

const uint8_t* GetVarint(const uint8_t* begin, const uint8_t* end, uint64_t* value) {
  uint64_t result = 0;
  for (unsigned shift = 0; begin != end && shift < 70; shift += 7) {
    const uint8_t byte = *begin++;
    if (shift == 63 && byte > 1) return nullptr;
    result |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      *value = result;
      return begin;
    }
  }
  return nullptr;
}

const uint8_t* UnpackOneByOne(const uint8_t* begin, const uint8_t* end, uint64_t* values,
                              size_t count) {
  for (size_t i = 0; i < count; ++i) {
    begin = GetVarint(begin, end, &values[i]);
    if (begin == nullptr) return nullptr;
  }
  return begin;
}

size_t CountVarints(const uint8_t* begin, const uint8_t* end) {
  size_t count = 0;
  for (; begin != end; ++begin) count += *begin < 0x80;
  return count;
}

std::span<const VarintCodec> SupportedVarintCodecs() {
  static constexpr VarintCodec kCodecs[] = {
    {"portable", PackPortable, UnpackPortable},
#if defined(__x86_64__)
    {"bmi2", PackBmi2, UnpackBmi2},
    {"avx512", PackAvx512, UnpackAvx512},
#endif
  };
  size_t supported = 1;
#if defined(__x86_64__)
  __builtin_cpu_init();
  // Whatever has BMI2 has lzcnt. The first two generations of Zen have pdep and pext in microcode:
  // slower than the shifts.
  const bool bmi2 = __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("sse4.1") &&
                    !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
  if (bmi2) supported = 2;
  if (bmi2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("avx512vbmi2")) {
    supported = 3;
  }
#endif
  return {kCodecs, supported};
}

const VarintCodec& BestVarintCodec() { return SupportedVarintCodecs().back(); }

}  // namespace gpubound
