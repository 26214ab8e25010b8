// SPDX-License-Identifier: Apache-2.0
//
// EncodeLoops::scan_scopes, four slots at a time. A group in which anything is uncommon is left to
// the portable loop, so this knows only scopes that nest, in one piece of the clock, without time
// running backwards.
//
// Thread rule: that of ChunkEncoder. The slots may be those of a live page: each is loaded whole.
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

// Follows the scopes of one group. Two patterns need no step per slot: begins each followed by its
// end, and the same beginning with an end. False: an end of another scope, or the stack is full.
GPUBOUND_AVX2 inline bool FollowScopes(__m256i codes, unsigned ends, ScopeStack* open) {
  const __m256i labels = _mm256_srli_epi64(codes, kSlotKindBits);
  const __m256i next = _mm256_permute4x64_epi64(labels, 0x39);
  const unsigned same_as_next = Signs(_mm256_cmpeq_epi64(labels, next));
  if (ends == 0xa && (same_as_next & 0x5) == 0x5 && open->depth < kMaxOpenScopes) return true;
  alignas(32) uint64_t label[kLanes];
  _mm256_store_si256(reinterpret_cast<__m256i*>(label), labels);
  if (ends == 0x5 && (same_as_next & 0x2) != 0 && open->innermost() == label[0]) {
    open->labels[open->depth] = static_cast<uint32_t>(label[3]);
    return true;
  }
  return FollowEach(label, ends, kLanes, open);
}

}  // namespace

GPUBOUND_AVX2 void ScanScopesAvx2(SlotScan* scan) {
  const WideSegment segment = Widen(scan->segment);
  const __m256i offset = All(scan->base_ticks - scan->segment.origin_clock);
  const __m256i reach = All(scan->segment.reach());
  const __m256i kind_mask = All(0xf);
  const __m256i begin_kind = All(static_cast<uint64_t>(SlotKind::kBegin));
  const __m256i end_kind = All(static_cast<uint64_t>(SlotKind::kEnd));
  const __m256i tick_mask = All(kMaxSlotTicks);
  const __m256i one = All(1);
  __m256i previous_ns = _mm256_set1_epi64x(scan->previous_ns);
  size_t times = scan->time_count;
  size_t codes = scan->code_count;
  const Slot* slot = scan->next;
  while (scan->end - slot >= static_cast<ptrdiff_t>(kLanes) && times + kLanes <= kBlockValues) {
    const __m256i slots = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(slot));
    const __m256i code = _mm256_srli_epi64(slots, kSlotTickBits);
    const __m256i kinds = _mm256_and_si256(code, kind_mask);
    const unsigned begins = Signs(_mm256_cmpeq_epi64(kinds, begin_kind));
    const __m256i is_end = _mm256_cmpeq_epi64(kinds, end_kind);
    const unsigned ends = Signs(is_end);
    const __m256i distance = _mm256_add_epi64(_mm256_and_si256(slots, tick_mask), offset);
    if (((begins | ends) & AtMost(distance, reach)) != 0xf) [[unlikely]] {
      break;
    }
    const __m256i ns = At(segment, distance);
    const __m256i delta = _mm256_sub_epi64(ns, Previous(previous_ns, ns));
    if (Signs(delta) != 0 || !FollowScopes(code, ends, scan->open)) [[unlikely]] {
      break;
    }
    const __m256i time =
        _mm256_or_si256(_mm256_add_epi64(delta, delta), _mm256_and_si256(is_end, one));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(scan->times + times), time);
    alignas(32) uint64_t slot_code[kLanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(slot_code), code);
    for (size_t i = 0; i < kLanes; ++i) {
      scan->codes[codes] = slot_code[i];
      codes += (begins >> i) & 1u;
    }
    times += kLanes;
    slot += kLanes;
    previous_ns = ns;
  }
  if (slot != scan->next) {
    scan->previous_clock = scan->base_ticks + TicksOf(slot[-1]);
    scan->previous_ns = _mm256_extract_epi64(previous_ns, kLanes - 1);
  }
  scan->next = slot;
  scan->time_count = times;
  scan->code_count = codes;
  ScanScopesPortable(scan);  // the rest of the block, or up to what was uncommon
}

}  // namespace gpubound

#endif  // __x86_64__
