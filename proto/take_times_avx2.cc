// SPDX-License-Identifier: Apache-2.0
//
// EncodeLoops::take_times, four records at a time. A group in which anything is uncommon is left to
// the portable loop.
//
// Thread rule: that of ChunkEncoder.
#include <algorithm>
#include <cstring>

#include "proto/avx2_clock.h"
#include "proto/encode_loops.h"

#if defined(__x86_64__)

namespace gpubound {
namespace {

using avx2::All;
using avx2::At;
using avx2::AtMost;
using avx2::kLanes;
using avx2::Previous;
using avx2::Signs;
using avx2::Widen;
using avx2::WideSegment;

// The begins and ends of four records, whose first two fields they are.
struct Clocks {
  __m256i start;
  __m256i end;
};

GPUBOUND_AVX2 inline Clocks LoadClocks(const std::byte* row, size_t stride) {
  const auto pair = [&](size_t i) __attribute__((target("avx2"))) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(row + i * stride));
  };
  const __m256i even = _mm256_inserti128_si256(_mm256_castsi128_si256(pair(0)), pair(2), 1);
  const __m256i odd = _mm256_inserti128_si256(_mm256_castsi128_si256(pair(1)), pair(3), 1);
  return {_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)};
}

GPUBOUND_AVX2 inline __m128i LoadCorrelations(const std::byte* at, size_t stride) {
  int32_t values[kLanes];
  for (size_t i = 0; i < kLanes; ++i) std::memcpy(&values[i], at + i * stride, sizeof(values[i]));
  return _mm_set_epi32(values[3], values[2], values[1], values[0]);
}

// Of signed values.
GPUBOUND_AVX2 inline __m256i Least(__m256i a, __m256i b) {
  return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(a, b));
}
GPUBOUND_AVX2 inline __m256i Largest(__m256i a, __m256i b) {
  return _mm256_blendv_epi8(b, a, _mm256_cmpgt_epi64(a, b));
}

struct Lanes {
  alignas(32) int64_t values[kLanes];
};
GPUBOUND_AVX2 inline Lanes Store(__m256i values) {
  Lanes lanes;
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.values), values);
  return lanes;
}

}  // namespace

GPUBOUND_AVX2 void TakeTimesAvx2(RecordTimes* times, const RecordView& records) {
  const __m256i zero = _mm256_setzero_si256();
  for (size_t i = 0; i < records.count;) {
    const size_t left = records.count - i;
    const ClockSegment& held = times->cursor.segment();
    const WideSegment segment = Widen(held);
    const __m256i origin = All(held.origin_clock);
    // Distances count as signed ones below.
    const __m256i reach = All(std::min<uint64_t>(held.reach(), INT64_MAX));
    __m256i least_start = All(INT64_MAX);  // a distance
    __m256i largest_end = zero;            // likewise
    __m256i min_ns = All(static_cast<uint64_t>(times->min_ns));
    __m256i max_ns = All(static_cast<uint64_t>(times->max_ns));
    __m256i previous_start = All(times->previous_start);
    __m128i previous_correlation =
        _mm_set1_epi32(static_cast<int32_t>(times->previous_correlation));
    size_t done = 0;
    for (; done + kLanes <= left; done += kLanes) {
      const std::byte* row = records.at(i + done);
      const Clocks clocks = LoadClocks(row, records.stride);
      const __m256i start_distance = _mm256_sub_epi64(clocks.start, origin);
      const __m256i end_distance = _mm256_sub_epi64(clocks.end, origin);
      const unsigned common = AtMost(start_distance, end_distance) & AtMost(end_distance, reach);
      const __m256i start_ns = At(segment, start_distance);
      const __m256i end_ns = At(segment, end_distance);
      if (common != 0xf || Signs(_mm256_cmpgt_epi64(start_ns, end_ns)) != 0) [[unlikely]] {
        break;
      }
      const __m128i correlation =
          LoadCorrelations(row + records.correlation_offset, records.stride);
      const __m128i before = _mm_alignr_epi8(correlation, previous_correlation, 12);
      const __m128i step = _mm_sub_epi32(_mm_sub_epi32(correlation, before), _mm_set1_epi32(1));
      const __m128i step_code = _mm_xor_si128(_mm_add_epi32(step, step), _mm_srai_epi32(step, 31));
      const __m256i delta = _mm256_sub_epi64(start_ns, Previous(previous_start, start_ns));
      const __m256i delta_code =
          _mm256_xor_si256(_mm256_add_epi64(delta, delta), _mm256_cmpgt_epi64(zero, delta));
      const auto put = [&](uint64_t * block, __m256i values) __attribute__((target("avx2"))) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(block + i + done), values);
      };
      put(times->starts, delta_code);
      put(times->durations, _mm256_sub_epi64(end_ns, start_ns));
      put(times->correlations, _mm256_cvtepu32_epi64(step_code));
      least_start = Least(least_start, start_distance);
      largest_end = Largest(largest_end, end_distance);
      min_ns = Least(min_ns, start_ns);
      max_ns = Largest(max_ns, end_ns);
      previous_start = start_ns;
      previous_correlation = correlation;
    }
    if (done != 0) {
      const Lanes start = Store(least_start), end = Store(largest_end);
      const Lanes first_ns = Store(min_ns), last_ns = Store(max_ns);
      for (size_t lane = 0; lane < kLanes; ++lane) {
        const auto clock = [&](int64_t distance) {
          return held.origin_clock + static_cast<uint64_t>(distance);
        };
        times->first_clock = std::min(times->first_clock, clock(start.values[lane]));
        times->last_clock = std::max(times->last_clock, clock(end.values[lane]));
        times->min_ns = std::min(times->min_ns, first_ns.values[lane]);
        times->max_ns = std::max(times->max_ns, last_ns.values[lane]);
      }
      times->previous_start = static_cast<uint64_t>(Store(previous_start).values[kLanes - 1]);
      times->previous_correlation =
          static_cast<uint32_t>(_mm_extract_epi32(previous_correlation, kLanes - 1));
    }
    // An uncommon group, or the last few records.
    const size_t from = i + done;
    i = from + (left - done < kLanes ? left - done : kLanes);
    TakeTimesPortable(times, records, from, i);
  }
}

}  // namespace gpubound

#endif  // __x86_64__
