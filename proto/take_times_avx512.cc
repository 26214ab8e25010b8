// SPDX-License-Identifier: Apache-2.0
//
// EncodeLoops::take_times, eight records at a time. A group in which anything is uncommon is left
// to the portable loop.
//
// Thread rule: that of ChunkEncoder.
#include "proto/avx512_clock.h"
#include "proto/encode_loops.h"

#if defined(__x86_64__)

namespace gpubound {

GPUBOUND_AVX512 void TakeTimesAvx512(RecordTimes* times, const RecordView& records) {
  const auto stride = static_cast<int64_t>(records.stride);
  const __m512i rows =
      _mm512_mullo_epi64(_mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0), _mm512_set1_epi64(stride));
  const __m512i zero = _mm512_setzero_si512();
  const __m256i one = _mm256_set1_epi32(1);
  const __m256i last = _mm256_set1_epi32(7);
  const __m256i one_down = _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 7);
  for (size_t i = 0; i < records.count;) {
    const size_t left = records.count - i;
    const ClockSegment& held = times->cursor.segment();
    const WideSegment segment = Widen(held);
    const __m512i origin = All(held.origin_clock);
    const __m512i reach = All(held.reach());
    __m512i first_clock = All(times->first_clock);
    __m512i last_clock = All(times->last_clock);
    __m512i min_ns = _mm512_set1_epi64(times->min_ns);
    __m512i max_ns = _mm512_set1_epi64(times->max_ns);
    __m512i previous_start = All(times->previous_start);
    __m256i previous_correlation =
        _mm256_set1_epi32(static_cast<int32_t>(times->previous_correlation));
    size_t done = 0;
    for (; done + kLanes <= left; done += kLanes) {
      const std::byte* row = records.at(i + done);
      const __m512i start_clock = _mm512_i64gather_epi64(rows, row, 1);
      const __m512i end_clock = _mm512_i64gather_epi64(rows, row + sizeof(uint64_t), 1);
      const __m512i start_distance = _mm512_sub_epi64(start_clock, origin);
      const __m512i end_distance = _mm512_sub_epi64(end_clock, origin);
      const unsigned common = _mm512_cmple_epu64_mask(start_distance, end_distance) &
                              _mm512_cmple_epu64_mask(end_distance, reach);
      if (common != 0xff) [[unlikely]] {
        break;
      }
      const __m512i start_ns = At(segment, start_distance);
      const __m512i end_ns = At(segment, end_distance);
      const __m512i duration = _mm512_sub_epi64(end_ns, start_ns);
      if (_mm512_cmplt_epi64_mask(end_ns, start_ns) != 0) [[unlikely]] {
        break;
      }
      const __m256i correlation = _mm512_i64gather_epi32(rows, row + records.correlation_offset, 1);
      const __m256i before =
          _mm256_blend_epi32(_mm256_permutevar8x32_epi32(correlation, one_down),
                             _mm256_permutevar8x32_epi32(previous_correlation, last), 1);
      const __m256i step = _mm256_sub_epi32(_mm256_sub_epi32(correlation, before), one);
      const __m256i step_code =
          _mm256_xor_si256(_mm256_add_epi32(step, step), _mm256_srai_epi32(step, 31));
      const __m512i delta = _mm512_sub_epi64(start_ns, Previous(previous_start, start_ns));
      const __m512i sign = _mm512_movm_epi64(_mm512_cmplt_epi64_mask(delta, zero));
      const __m512i delta_code = _mm512_xor_si512(_mm512_add_epi64(delta, delta), sign);
      _mm512_storeu_si512(times->starts + i + done, delta_code);
      _mm512_storeu_si512(times->durations + i + done, duration);
      _mm512_storeu_si512(times->correlations + i + done, _mm512_cvtepu32_epi64(step_code));
      first_clock = _mm512_min_epu64(first_clock, start_clock);
      last_clock = _mm512_max_epu64(last_clock, end_clock);
      min_ns = _mm512_min_epi64(min_ns, start_ns);
      max_ns = _mm512_max_epi64(max_ns, end_ns);
      previous_start = start_ns;
      previous_correlation = correlation;
    }
    if (done != 0) {
      times->first_clock = _mm512_reduce_min_epu64(first_clock);
      times->last_clock = _mm512_reduce_max_epu64(last_clock);
      times->min_ns = _mm512_reduce_min_epi64(min_ns);
      times->max_ns = _mm512_reduce_max_epi64(max_ns);
      alignas(64) uint64_t starts[kLanes];
      alignas(32) uint32_t correlations[kLanes];
      _mm512_store_si512(starts, previous_start);
      _mm256_store_si256(reinterpret_cast<__m256i*>(correlations), previous_correlation);
      times->previous_start = starts[kLanes - 1];
      times->previous_correlation = correlations[kLanes - 1];
    }
    // An uncommon group, or the last few records.
    const size_t from = i + done;
    i = from + (left - done < kLanes ? left - done : kLanes);
    TakeTimesPortable(times, records, from, i);
  }
}

}  // namespace gpubound

#endif  // __x86_64__
