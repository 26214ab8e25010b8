// SPDX-License-Identifier: Apache-2.0
//
// ClockSegment in four lanes, for the encoder's AVX2 loop alone: the form of avx512_clock.h for the
// many processors without AVX-512. Functions carry their target in an attribute: who calls them has
// asked the processor first.
//
// Pure functions, any thread.
#ifndef GPUBOUND_PROTO_AVX2_CLOCK_H_
#define GPUBOUND_PROTO_AVX2_CLOCK_H_

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "proto/clock_conversion.h"

#define GPUBOUND_AVX2 __attribute__((target("avx2")))

namespace gpubound::avx2 {

inline constexpr size_t kLanes = 4;

// ClockSegment in every lane.
struct WideSegment {
  __m256i origin_ns;
  __m256i fraction_low;
  __m256i fraction_high;
  __m256i whole_low;
  __m256i whole_high;
  bool has_whole;
};

GPUBOUND_AVX2 inline __m256i All(uint64_t value) {
  return _mm256_set1_epi64x(static_cast<int64_t>(value));
}

GPUBOUND_AVX2 inline WideSegment Widen(const ClockSegment& segment) {
  return {All(static_cast<uint64_t>(segment.origin_ns)),
          All(segment.slope_fraction & UINT32_MAX),
          All(segment.slope_fraction >> 32),
          All(segment.slope_whole & UINT32_MAX),
          All(segment.slope_whole >> 32),
          segment.slope_whole != 0};
}

// ClockSegment::At() in every lane: the upper half of distance * fraction, and the lower one of
// distance * whole, from products of 32-bit halves, as on paper.
GPUBOUND_AVX2 inline __m256i At(const WideSegment& segment, __m256i distance) {
  const __m256i low_half = _mm256_set1_epi64x(UINT32_MAX);
  const __m256i high = _mm256_srli_epi64(distance, 32);
  const __m256i low_low = _mm256_mul_epu32(distance, segment.fraction_low);
  const __m256i low_high = _mm256_mul_epu32(distance, segment.fraction_high);
  const __m256i high_low = _mm256_mul_epu32(high, segment.fraction_low);
  const __m256i high_high = _mm256_mul_epu32(high, segment.fraction_high);
  const __m256i middle = _mm256_add_epi64(low_high, _mm256_srli_epi64(low_low, 32));
  const __m256i carry = _mm256_add_epi64(high_low, _mm256_and_si256(middle, low_half));
  __m256i ns = _mm256_add_epi64(
      _mm256_add_epi64(high_high, segment.origin_ns),
      _mm256_add_epi64(_mm256_srli_epi64(middle, 32), _mm256_srli_epi64(carry, 32)));
  if (segment.has_whole) {
    const __m256i crossed = _mm256_add_epi64(_mm256_mul_epu32(distance, segment.whole_high),
                                             _mm256_mul_epu32(high, segment.whole_low));
    ns = _mm256_add_epi64(ns, _mm256_add_epi64(_mm256_mul_epu32(distance, segment.whole_low),
                                               _mm256_slli_epi64(crossed, 32)));
  }
  return ns;
}

// The lanes of |values| moved up by one, the last of |before| below them.
GPUBOUND_AVX2 inline __m256i Previous(__m256i before, __m256i values) {
  constexpr int kUpByOne = 0x93;
  return _mm256_blend_epi32(_mm256_permute4x64_epi64(values, kUpByOne),
                            _mm256_permute4x64_epi64(before, kUpByOne), 0x3);
}

// The sign bit of every lane.
GPUBOUND_AVX2 inline unsigned Signs(__m256i values) {
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(values)));
}

// Lanes in which |a| <= |b|, both unsigned.
GPUBOUND_AVX2 inline unsigned AtMost(__m256i a, __m256i b) {
  const __m256i sign = All(uint64_t{1} << 63);
  return 0xfu & ~Signs(_mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign)));
}

}  // namespace gpubound::avx2

#endif  // __x86_64__

#endif  // GPUBOUND_PROTO_AVX2_CLOCK_H_
