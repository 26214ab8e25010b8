// SPDX-License-Identifier: Apache-2.0
//
// The portable loops, and the choice among all of them.
#include "proto/encode_loops.h"

#include <algorithm>
#include <cstring>

#include "proto/varint.h"

namespace gpubound {
namespace {

constexpr uint64_t kBegin = static_cast<uint64_t>(SlotKind::kBegin);
static_assert(static_cast<uint64_t>(SlotKind::kEnd) == kBegin + 1);

void TakeTimesInPortableLoop(RecordTimes* times, const RecordView& records) {
  TakeTimesPortable(times, records, 0, records.count);
}

template <typename T>
T Load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(value));
  return value;
}

}  // namespace

// No branch depends on whether a slot begins or ends a scope: nested scopes make that a coin toss.
void ScanScopesPortable(SlotScan* scan) {
  const ClockSegment segment = scan->segment;
  const uint64_t origin_offset = scan->base_ticks - segment.origin_clock;
  const uint64_t reach = segment.reach();
  const Slot* slot = scan->next;
  const auto room = static_cast<ptrdiff_t>(kBlockValues - scan->time_count);
  const Slot* end = scan->end - slot > room ? slot + room : scan->end;
  uint64_t* time = scan->times + scan->time_count;
  uint64_t* code = scan->codes + scan->code_count;
  uint32_t* labels = scan->open->labels;
  uint64_t depth = scan->open->depth;
  int64_t previous_ns = scan->previous_ns;
  for (; slot != end; ++slot) {
    const Slot value = LoadSlot(slot);
    const uint64_t slot_code = CodeOf(value);
    const uint64_t is_end = (slot_code & 0xf) - kBegin;
    const uint64_t distance = origin_offset + TicksOf(value);
    if (is_end > 1 || distance > reach) [[unlikely]] {
      break;
    }
    const int64_t ns = segment.At(distance);
    const int64_t delta = ClockDifference(ns, previous_ns);
    const auto label = static_cast<uint32_t>(slot_code >> kSlotKindBits);
    // A begin must find room above the innermost scope, an end must be that scope's.
    const uint64_t is_other = labels[depth] != label ? 1 : 0;
    const uint64_t is_full = depth == kMaxOpenScopes ? 1 : 0;
    const uint64_t uncommon = (is_end & is_other) | (~is_end & is_full);
    if (delta < 0 || uncommon != 0) [[unlikely]] {
      break;
    }
    labels[depth + 1] = label;
    depth += 1 - 2 * is_end;
    *time++ = static_cast<uint64_t>(delta) << 1 | is_end;
    *code = slot_code;
    code += 1 - is_end;
    previous_ns = ns;
  }
  if (slot != scan->next) {
    scan->previous_clock = scan->base_ticks + TicksOf(LoadSlot(slot - 1));
  }
  scan->next = slot;
  scan->time_count = static_cast<size_t>(time - scan->times);
  scan->code_count = static_cast<size_t>(code - scan->codes);
  scan->open->depth = static_cast<uint32_t>(depth);
  scan->previous_ns = previous_ns;
}

void TakeTimesPortable(RecordTimes* times, const RecordView& records, size_t from, size_t to) {
  // A copy, since stores into the blocks might otherwise be taken to change it.
  RecordTimes t = *times;
  for (size_t i = from; i < to; ++i) {
    const std::byte* record = records.at(i);
    const auto start_clock = Load<uint64_t>(record);
    const auto recorded_end = Load<uint64_t>(record + sizeof(uint64_t));
    const auto correlation = Load<uint32_t>(record + records.correlation_offset);
    const uint64_t end_clock = std::max(start_clock, recorded_end);
    t.inverted += recorded_end < start_clock ? 1 : 0;
    t.first_clock = std::min(t.first_clock, start_clock);
    t.last_clock = std::max(t.last_clock, end_clock);
    const int64_t start_ns = t.cursor.ToMonotonic(start_clock);
    // Times beyond the range of int64_t wrap; a record across that edge has no length either.
    const int64_t end_ns = std::max(start_ns, t.cursor.ToMonotonic(end_clock));
    t.min_ns = std::min(t.min_ns, start_ns);
    t.max_ns = std::max(t.max_ns, end_ns);
    const auto start = static_cast<uint64_t>(start_ns);
    const uint32_t step = correlation - t.previous_correlation - 1;
    t.starts[i] = ZigZag(static_cast<int64_t>(start - t.previous_start));
    t.durations[i] = static_cast<uint64_t>(end_ns) - start;
    t.correlations[i] = static_cast<uint32_t>(ZigZag(static_cast<int32_t>(step)));
    t.previous_start = start;
    t.previous_correlation = correlation;
  }
  *times = t;
}

std::span<const EncodeLoops> SupportedEncodeLoops() {
  static constexpr EncodeLoops kLoops[] = {
    {"portable", ScanScopesPortable, TakeTimesInPortableLoop},
#if defined(__x86_64__)
    {"avx2", ScanScopesAvx2, TakeTimesAvx2},
    {"avx512", ScanScopesAvx512, TakeTimesAvx512},
#endif
  };
  size_t supported = 1;
  // ThreadSanitizer would take a vector load of slots that another thread is about to write for a
  // race; the processor loads each of them whole.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) supported = 2;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) supported = 3;
#endif
  return {kLoops, supported};
}

const EncodeLoops& BestEncodeLoops() { return SupportedEncodeLoops().back(); }

}  // namespace gpubound
