// SPDX-License-Identifier: Apache-2.0
//
// Varint loops for processors with BMI2 and with AVX-512 VBMI2. The idea is that of varint.cc: make
// each varint without a branch on its length. pdep and pext move the 7-bit groups; AVX-512 does
// eight varints at once and squeezes the unused bytes out with vpcompressb.
#include "proto/varint_loops.h"

#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "proto/varint.h"

namespace gpubound {
namespace {

constexpr uint64_t kGroups = 0x7f7f7f7f7f7f7f7f;
constexpr uint64_t kContinuation = 0x8080808080808080;
constexpr ptrdiff_t kUnpackBlock = 64;

constexpr size_t kPackGroup = 8;

inline __m128i LoadPair(const uint64_t* values) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(values));
}

// Packs eight values of one or two bytes, as most differences are; null: at least one is longer.
// Each value becomes a word of two bytes, and pext squeezes the unused ones out of four words.
__attribute__((target("bmi2,sse4.1,popcnt"))) inline uint8_t* PackShort(const uint64_t* values,
                                                                        uint8_t* out) {
  const __m128i a = LoadPair(values);
  const __m128i b = LoadPair(values + 2);
  const __m128i c = LoadPair(values + 4);
  const __m128i d = LoadPair(values + 6);
  const __m128i any = _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d));
  if (_mm_testz_si128(any, _mm_set1_epi64x(~int64_t{0x3fff})) == 0) return nullptr;
  // Twice the zeros between them are dropped.
  const __m128i words = _mm_packus_epi32(_mm_packus_epi32(a, b), _mm_packus_epi32(c, d));
  const __m128i low_bits = _mm_set1_epi16(0x7f);
  const __m128i is_long = _mm_cmpgt_epi16(words, low_bits);
  const __m128i high = _mm_slli_epi16(_mm_andnot_si128(low_bits, words), 1);
  const __m128i more = _mm_and_si128(is_long, _mm_set1_epi16(0x80));
  const __m128i bytes = _mm_or_si128(_mm_or_si128(_mm_and_si128(words, low_bits), high), more);
  const __m128i used = _mm_or_si128(_mm_slli_epi16(is_long, 8), _mm_set1_epi16(0xff));
  const auto put = [&out](int64_t four, int64_t mask) __attribute__((target("bmi2,popcnt"))) {
    const uint64_t squeezed = _pext_u64(static_cast<uint64_t>(four), static_cast<uint64_t>(mask));
    std::memcpy(out, &squeezed, sizeof(squeezed));
    out += _mm_popcnt_u64(static_cast<uint64_t>(mask)) / 8;
  };
  put(_mm_cvtsi128_si64(bytes), _mm_cvtsi128_si64(used));
  put(_mm_extract_epi64(bytes, 1), _mm_extract_epi64(used, 1));
  return out;
}

// Bit i: byte i of the 64 at |bytes| says that its varint goes on.
inline uint64_t ContinuationBits(const uint8_t* bytes) {
  uint64_t bits = 0;
  for (int i = 0; i < 4; ++i) {
    const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + 16 * i));
    bits |= uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(part))} << (16 * i);
  }
  return bits;
}

// Whether eight successive bits are set: a varint of nine bytes or more.
inline bool HasRunOfEight(uint64_t bits) {
  bits &= bits >> 1;
  bits &= bits >> 2;
  return (bits & (bits >> 4)) != 0;
}

}  // namespace

__attribute__((target("bmi2,lzcnt,sse4.1,popcnt"))) uint8_t* PackBmi2(const uint64_t* values,
                                                                      size_t count, uint8_t* out) {
  for (size_t i = 0; i < count;) {
    if (count - i >= kPackGroup) {
      if (uint8_t* const next = PackShort(values + i, out); next != nullptr) {
        out = next;
        i += kPackGroup;
        continue;
      }
    }
    for (const size_t end = std::min(i + kPackGroup, count); i < end; ++i) {
      const uint64_t value = values[i];
      if (value >> 56) [[unlikely]] {
        out = PutVarint(value, out);
        continue;
      }
      const uint64_t spread = _pdep_u64(value, kGroups);
      // Bits 0..7 always count as used, so that zero has a byte.
      const uint64_t unused_bits = _lzcnt_u64(spread | 1) & 56u;
      const uint64_t used = ~uint64_t{0} >> unused_bits;
      const uint64_t bytes = spread | ((used >> 8) & kContinuation);
      std::memcpy(out, &bytes, sizeof(bytes));
      out += 8 - unused_bits / 8;
    }
  }
  return out;
}

__attribute__((target("avx512f,avx512bw,avx512cd,avx512vbmi,avx512vbmi2,bmi2,popcnt"))) uint8_t*
PackAvx512(const uint64_t* values, size_t count, uint8_t* out) {
  // Byte k of each lane takes the eight bits from bit 7 * k on.
  const __m512i shifts = _mm512_set1_epi64(0x312a231c150e0700);
  const __m512i one = _mm512_set1_epi64(1);
  const __m512i whole_bytes = _mm512_set1_epi64(56);
  const __m512i ones = _mm512_set1_epi64(-1);
  const __m512i high_bits = _mm512_set1_epi64(static_cast<int64_t>(kContinuation));
  const __m512i beyond = _mm512_set1_epi64(static_cast<int64_t>(uint64_t{0xff} << 56));
  for (; count != 0;) {
    const size_t lanes = count < 8 ? count : 8;
    const auto present = static_cast<__mmask8>((1u << lanes) - 1);
    const __m512i value = _mm512_maskz_loadu_epi64(present, values);
    if (_mm512_test_epi64_mask(value, beyond) != 0) [[unlikely]] {
      for (size_t i = 0; i < lanes; ++i) out = PutVarint(values[i], out);
    } else {
      const __m512i spread =
          _mm512_andnot_si512(high_bits, _mm512_multishift_epi64_epi8(shifts, value));
      const __m512i zeros = _mm512_lzcnt_epi64(_mm512_or_si512(spread, one));
      const __m512i used =
          _mm512_maskz_srlv_epi64(present, ones, _mm512_and_si512(zeros, whole_bytes));
      const __m512i more = _mm512_and_si512(_mm512_srli_epi64(used, 8), high_bits);
      const __mmask64 keep = _mm512_movepi8_mask(used);
      _mm512_storeu_si512(out, _mm512_maskz_compress_epi8(keep, _mm512_or_si512(spread, more)));
      out += _mm_popcnt_u64(keep);
    }
    values += lanes;
    count -= lanes;
  }
  return out;
}

__attribute__((target("bmi,bmi2,popcnt"))) const uint8_t* UnpackBmi2(const uint8_t* begin,
                                                                     const uint8_t* end,
                                                                     uint64_t* values,
                                                                     size_t count) {
  // A block holds at most 64 varints, and the last of them is loaded as eight bytes.
  while (count != 0 && end - begin >= kUnpackBlock + 8) {
    const uint64_t more = ContinuationBits(begin);
    if (HasRunOfEight(more)) [[unlikely]] {
      begin = GetVarint(begin, end, values);
      if (begin == nullptr) return nullptr;
      ++values;
      --count;
      continue;
    }
    uint64_t ends = ~more;
    auto found = static_cast<size_t>(_mm_popcnt_u64(ends));
    if (found > count) {  // forget what lies behind the last one that is wanted
      const uint64_t last = _pdep_u64(uint64_t{1} << (count - 1), ends);
      ends &= last | (last - 1);
      found = count;
    }
    unsigned start = 0;
    unsigned next = 0;
    for (size_t i = 0; i < found; i += 4) {  // up to three surplus values: kUnpackSlackValues
      for (size_t k = 0; k < 4; ++k) {
        uint64_t bytes;
        std::memcpy(&bytes, begin + start, sizeof(bytes));
        next = static_cast<unsigned>(_tzcnt_u64(ends)) + 1;
        values[i + k] = _pext_u64(_bzhi_u64(bytes, 8 * (next - start)), kGroups);
        start = ends != 0 ? next : start;
        ends = _blsr_u64(ends);
      }
    }
    begin += start;
    values += found;
    count -= found;
  }
  while (count != 0 && end - begin >= 8) {
    uint64_t bytes;
    std::memcpy(&bytes, begin, sizeof(bytes));
    const uint64_t ends = ~bytes & kContinuation;
    if (ends == 0) [[unlikely]]
      break;
    const auto bits = static_cast<unsigned>(_tzcnt_u64(ends)) + 1;
    *values++ = _pext_u64(_bzhi_u64(bytes, bits), kGroups);
    begin += bits / 8;
    --count;
  }
  return UnpackOneByOne(begin, end, values, count);
}

// Eight varints at a time, one in each 64-bit lane:
//
//   block          | a a | b | c c c | d | ...      a byte per letter
//   starts, ends   | 0 2 3 6 ... | 1 2 5 6 ...      positions, squeezed out of the bit masks
//   lanes          | a a . . . . . . | b . . . . . . . | c c c . . . . . | ...
//
// Then neighbouring 7-bit groups are joined: to 14 bits, to 28, to 56.
__attribute__((target("avx512f,avx512bw,avx512vbmi,avx512vbmi2,bmi2,popcnt"))) const uint8_t*
UnpackAvx512(const uint8_t* begin, const uint8_t* end, uint64_t* values, size_t count) {
  const __m512i in_lane = _mm512_set1_epi64(0x0706050403020100);
  const __m512i lane_of = _mm512_set_epi64(
      0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
      0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
  const __m512i iota = _mm512_add_epi8(in_lane, _mm512_slli_epi64(lane_of, 3));
  const __m512i seven_bits = _mm512_set1_epi8(0x7f);
  const __m512i pairs = _mm512_set1_epi16(static_cast<int16_t>(0x8001));  // 1 and 2^7
  const __m512i quads = _mm512_set1_epi32(0x40000001);                    // 1 and 2^14
  const __m512i low_half = _mm512_set1_epi64(0x0fffffff);
  const __m512i eight = _mm512_set1_epi8(8);
  while (count != 0 && begin != end) {
    const auto size = static_cast<unsigned>(std::min(end - begin, kUnpackBlock));
    const __mmask64 valid = _bzhi_u64(~uint64_t{0}, size);
    const __m512i block = _mm512_maskz_loadu_epi8(valid, begin);
    const uint64_t more = _mm512_movepi8_mask(block);
    uint64_t ends = ~more & valid;
    if (ends == 0 || HasRunOfEight(more)) [[unlikely]] {
      begin = GetVarint(begin, end, values);
      if (begin == nullptr) return nullptr;
      ++values;
      --count;
      continue;
    }
    auto found = static_cast<size_t>(_mm_popcnt_u64(ends));
    if (found > count) {  // forget what lies behind the last one that is wanted
      const uint64_t last = _pdep_u64(uint64_t{1} << (count - 1), ends);
      ends &= last | (last - 1);
      found = count;
    }
    const __m512i start = _mm512_maskz_compress_epi8(ends << 1 | 1, iota);
    const __m512i last = _mm512_maskz_compress_epi8(ends, iota);
    __m512i lane = lane_of;
    for (size_t i = 0; i < found; i += 8) {
      const __m512i at = _mm512_add_epi8(_mm512_permutexvar_epi8(lane, start), in_lane);
      const __mmask64 own = _mm512_cmple_epu8_mask(at, _mm512_permutexvar_epi8(lane, last));
      const __m512i groups =
          _mm512_and_si512(_mm512_maskz_permutexvar_epi8(own, at, block), seven_bits);
      const __m512i halves = _mm512_madd_epi16(_mm512_maddubs_epi16(pairs, groups), quads);
      const __m512i joined =
          _mm512_or_si512(_mm512_and_si512(halves, low_half),
                          _mm512_andnot_si512(low_half, _mm512_srli_epi64(halves, 4)));
      const auto present = static_cast<__mmask8>(_bzhi_u32(0xff, static_cast<uint32_t>(found - i)));
      _mm512_mask_storeu_epi64(values + i, present, joined);
      lane = _mm512_add_epi8(lane, eight);
    }
    begin += 64 - static_cast<unsigned>(__builtin_clzll(ends));
    values += found;
    count -= found;
  }
  return count == 0 ? begin : nullptr;
}

}  // namespace gpubound

#endif  // __x86_64__
