// SPDX-License-Identifier: Apache-2.0
//
// ClockSegment in eight lanes, for the encoder's AVX-512 loops alone. Functions carry their target
// in an attribute: who calls them has asked the processor first.
//
// Pure functions, any thread.
#ifndef GPUBOUND_PROTO_AVX512_CLOCK_H_
#define GPUBOUND_PROTO_AVX512_CLOCK_H_

#if defined(__x86_64__)

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "proto/clock_conversion.h"

#define GPUBOUND_AVX512 __attribute__((target("avx512f,avx512dq")))

namespace gpubound {

inline constexpr size_t kLanes = 8;

// ClockSegment in every lane.
struct WideSegment {
  __m512i origin_ns;
  __m512i fraction_low;
  __m512i fraction_high;
  __m512i whole;
  bool has_whole;
};

GPUBOUND_AVX512 inline __m512i All(uint64_t value) {
  return _mm512_set1_epi64(static_cast<int64_t>(value));
}

GPUBOUND_AVX512 inline WideSegment Widen(const ClockSegment& segment) {
  return {All(static_cast<uint64_t>(segment.origin_ns)), All(segment.slope_fraction & UINT32_MAX),
          All(segment.slope_fraction >> 32), All(segment.slope_whole), segment.slope_whole != 0};
}

// ClockSegment::At() in every lane: the upper half of distance * fraction from four products of
// 32-bit halves, as on paper.
GPUBOUND_AVX512 inline __m512i At(const WideSegment& segment, __m512i distance) {
  const __m512i low_half = _mm512_set1_epi64(UINT32_MAX);
  const __m512i high = _mm512_srli_epi64(distance, 32);
  const __m512i low_low = _mm512_mul_epu32(distance, segment.fraction_low);
  const __m512i low_high = _mm512_mul_epu32(distance, segment.fraction_high);
  const __m512i high_low = _mm512_mul_epu32(high, segment.fraction_low);
  const __m512i high_high = _mm512_mul_epu32(high, segment.fraction_high);
  const __m512i middle = _mm512_add_epi64(low_high, _mm512_srli_epi64(low_low, 32));
  const __m512i carry = _mm512_add_epi64(high_low, _mm512_and_si512(middle, low_half));
  __m512i ns = _mm512_add_epi64(
      _mm512_add_epi64(high_high, segment.origin_ns),
      _mm512_add_epi64(_mm512_srli_epi64(middle, 32), _mm512_srli_epi64(carry, 32)));
  if (segment.has_whole) {
    ns = _mm512_add_epi64(ns, _mm512_mullo_epi64(distance, segment.whole));
  }
  return ns;
}

// The lanes of |values| moved up by one, the last of |before| below them.
GPUBOUND_AVX512 inline __m512i Previous(__m512i before, __m512i values) {
  return _mm512_alignr_epi64(values, before, 7);
}

}  // namespace gpubound

#endif  // __x86_64__

#endif  // GPUBOUND_PROTO_AVX512_CLOCK_H_
