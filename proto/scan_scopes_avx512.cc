// SPDX-License-Identifier: Apache-2.0
//
// EncodeLoops::scan_scopes, eight slots at a time. A group in which anything is uncommon is left to
// the portable loop, so this knows only scopes that nest, in one piece of the clock, without time
// running backwards.
//
// Thread rule: that of ChunkEncoder. The slots may be those of a live page: each is loaded whole.
#include "proto/avx512_clock.h"
#include "proto/encode_loops.h"

#if defined(__x86_64__)

#include <bit>

namespace gpubound {
namespace {

// Follows the scopes of one group. Two patterns need no step per slot: begins each followed by its
// end, and the same beginning with an end. False: an end of another scope, or the stack is full.
GPUBOUND_AVX512 inline bool FollowScopes(__m512i codes, __mmask8 ends, ScopeStack* open) {
  const __m512i labels = _mm512_srli_epi64(codes, kSlotKindBits);
  const __m512i next = _mm512_alignr_epi64(labels, labels, 1);
  const __mmask8 same_as_next = _mm512_cmpeq_epi64_mask(labels, next);
  if (ends == 0xaa && (same_as_next & 0x55) == 0x55 && open->depth < kMaxOpenScopes) return true;
  alignas(64) uint64_t label[kLanes];
  _mm512_store_si512(label, labels);
  if (ends == 0x55 && (same_as_next & 0x2a) == 0x2a && open->innermost() == label[0]) {
    open->labels[open->depth] = static_cast<uint32_t>(label[7]);
    return true;
  }
  return FollowEach(label, ends, kLanes, open);
}

}  // namespace

GPUBOUND_AVX512 void ScanScopesAvx512(SlotScan* scan) {
  const WideSegment segment = Widen(scan->segment);
  const __m512i offset = All(scan->base_ticks - scan->segment.origin_clock);
  const __m512i reach = All(scan->segment.reach());
  const __m512i kind_mask = _mm512_set1_epi64(0xf);
  const __m512i begin_kind = All(static_cast<uint64_t>(SlotKind::kBegin));
  const __m512i end_kind = All(static_cast<uint64_t>(SlotKind::kEnd));
  const __m512i tick_mask = All(kMaxSlotTicks);
  const __m512i one = _mm512_set1_epi64(1);
  __m512i previous_ns = _mm512_set1_epi64(scan->previous_ns);
  size_t times = scan->time_count;
  size_t codes = scan->code_count;
  const Slot* slot = scan->next;
  while (scan->end - slot >= static_cast<ptrdiff_t>(kLanes) && times + kLanes <= kBlockValues) {
    const __m512i slots = _mm512_loadu_si512(slot);
    const __m512i code = _mm512_srli_epi64(slots, kSlotTickBits);
    const __m512i kinds = _mm512_and_si512(code, kind_mask);
    const __mmask8 begins = _mm512_cmpeq_epi64_mask(kinds, begin_kind);
    const __mmask8 ends = _mm512_cmpeq_epi64_mask(kinds, end_kind);
    const __m512i distance = _mm512_add_epi64(_mm512_and_si512(slots, tick_mask), offset);
    const __mmask8 held = _mm512_cmple_epu64_mask(distance, reach);
    if (static_cast<unsigned>((begins | ends) & held) != 0xff) [[unlikely]] {
      break;
    }
    const __m512i ns = At(segment, distance);
    const __m512i delta = _mm512_sub_epi64(ns, Previous(previous_ns, ns));
    if (_mm512_movepi64_mask(delta) != 0 || !FollowScopes(code, ends, scan->open)) [[unlikely]] {
      break;
    }
    const __m512i doubled = _mm512_add_epi64(delta, delta);
    _mm512_storeu_si512(scan->times + times, _mm512_mask_or_epi64(doubled, ends, doubled, one));
    _mm512_storeu_si512(scan->codes + codes, _mm512_maskz_compress_epi64(begins, code));
    codes += static_cast<size_t>(std::popcount(static_cast<unsigned>(begins)));
    times += kLanes;
    slot += kLanes;
    previous_ns = ns;
  }
  if (slot != scan->next) {
    scan->previous_clock = scan->base_ticks + TicksOf(slot[-1]);
    alignas(64) int64_t ns[kLanes];
    _mm512_store_si512(ns, previous_ns);
    scan->previous_ns = ns[kLanes - 1];
  }
  scan->next = slot;
  scan->time_count = times;
  scan->code_count = codes;
  ScanScopesPortable(scan);  // the rest of the block, or up to what was uncommon
}

}  // namespace gpubound

#endif  // __x86_64__
