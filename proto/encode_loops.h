// SPDX-License-Identifier: Apache-2.0
//
// The two loops that turn the fields of events into plain integers, for slots and for records. Each
// exists in a portable form and in those for AVX2 and AVX-512, chosen at run time; all leave the
// same numbers. Internal to the encoder.
//
// Thread rule: that of ChunkEncoder. Nothing here allocates or throws.
#ifndef GPUBOUND_PROTO_ENCODE_LOOPS_H_
#define GPUBOUND_PROTO_ENCODE_LOOPS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/clock_conversion.h"
#include "proto/event_model.h"
#include "proto/scope_stack.h"

namespace gpubound {

// Events become plain integers one block at a time, and the block becomes varints: both loops stay
// small, and a block of every column stays in the first-level cache.
inline constexpr size_t kBlockValues = 256;

// Where the walk through a thread's slots stands. `times` and `codes` are blocks.
struct SlotScan {
  const Slot* next;
  const Slot* end;
  ClockSegment segment;  // with which the common slots are converted
  const ClockConversion* conversion;
  uint64_t base_ticks;
  int64_t previous_ns;
  uint64_t previous_clock;
  ScopeStack* open;
  uint64_t* times;
  uint64_t* codes;
  size_t time_count = 0;  // in the block
  size_t code_count = 0;
  uint64_t clock_backwards = 0;
  uint64_t invalid_slots = 0;
  bool ended = false;  // nothing more to take
};

inline Slot LoadSlot(const Slot* slot) { return __atomic_load_n(slot, __ATOMIC_ACQUIRE); }

// |to| - |from| where a difference of 2^63 or more counts as backwards too: it has no place in
// `time`.
inline int64_t ClockDifference(int64_t to, int64_t from) {
  return static_cast<int64_t>(static_cast<uint64_t>(to) - static_cast<uint64_t>(from));
}

// The begin, end and correlation of records of any family: start_ns and end_ns come first in all of
// them.
struct RecordView {
  const std::byte* first;
  size_t stride;
  size_t correlation_offset;
  size_t count;

  const std::byte* at(size_t i) const { return first + i * stride; }
};

// Where the walk through a batch of records stands, and the blocks of the columns that all families
// have.
struct RecordTimes {
  ClockCursor cursor;
  uint64_t* starts;  // zigzag of the difference to the previous start
  uint64_t* durations;
  uint64_t* correlations;  // zigzag of the difference to the previous correlation, minus one
  uint64_t previous_start = 0;
  uint32_t previous_correlation = 0;
  uint64_t first_clock = UINT64_MAX;
  uint64_t last_clock = 0;
  int64_t min_ns = INT64_MAX;
  int64_t max_ns = INT64_MIN;
  uint64_t inverted = 0;
};

struct EncodeLoops {
  const char* name;

  // Takes begins, and ends of the innermost open scope, until the block is full, the slots end or
  // something else comes.
  void (*scan_scopes)(SlotScan* scan);

  // Fills the first |records.count| places, at most kBlockValues, of the three blocks.
  void (*take_times)(RecordTimes* times, const RecordView& records);
};

// The loops that this processor can run, slowest (portable) first. Static storage.
std::span<const EncodeLoops> SupportedEncodeLoops();

// The last of them.
const EncodeLoops& BestEncodeLoops();

void ScanScopesPortable(SlotScan* scan);
// Fills places |from| up to |to|.
void TakeTimesPortable(RecordTimes* times, const RecordView& records, size_t from, size_t to);

#if defined(__x86_64__)
// Follows scopes of |labels| one by one; bit i of |ends|: an end. Without effect and false: one
// ends another scope than the innermost, or the stack is full. |count|: 8 at most.
inline bool FollowEach(const uint64_t* labels, unsigned ends, size_t count, ScopeStack* open) {
  uint64_t depth = open->depth;
  uint32_t saved[8];
  for (size_t i = 0; i < count; ++i) {
    const uint64_t is_end = (ends >> i) & 1u;
    const uint64_t is_other = open->labels[depth] != labels[i] ? 1 : 0;
    const uint64_t is_full = depth == kMaxOpenScopes ? 1 : 0;
    if (((is_end & is_other) | (~is_end & is_full)) != 0) [[unlikely]] {
      while (i-- != 0) {
        depth -= ((ends >> i) & 1u) != 0 ? UINT64_MAX : 1;
        open->labels[depth + 1] = saved[i];
      }
      return false;
    }
    saved[i] = open->labels[depth + 1];
    open->labels[depth + 1] = static_cast<uint32_t>(labels[i]);
    depth += 1 - 2 * is_end;
  }
  open->depth = static_cast<uint32_t>(depth);
  return true;
}

void ScanScopesAvx2(SlotScan* scan);
void ScanScopesAvx512(SlotScan* scan);
void TakeTimesAvx2(RecordTimes* times, const RecordView& records);
void TakeTimesAvx512(RecordTimes* times, const RecordView& records);
#endif

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_ENCODE_LOOPS_H_
