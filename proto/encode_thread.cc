// SPDX-License-Identifier: Apache-2.0
//
// Slots of one thread into columns. Nearly all slots are begins and ends that nest;
// EncodeLoops::scan_scopes does those and nothing else, and stops at anything uncommon, which
// ScanOne then does by the letter.
//
// Thread rule: that of ChunkEncoder. The slots may be those of a live page.
#include <algorithm>

#include "proto/encoder_buffers.h"

namespace gpubound {
namespace {

// Takes one event of any kind. The block has room for it.
void ScanOne(SlotScan* scan, ByteBuffer* payload) {
  const Slot value = LoadSlot(scan->next);
  const SlotKind kind = KindOf(value);
  const uint32_t label = Raw(LabelOf(value));
  if (value == 0 || (HasPayload(kind) && scan->end - scan->next < 2)) {
    scan->ended = true;
    return;
  }
  if (kind < SlotKind::kBegin || kind > kLastSlotKind) {
    ++scan->invalid_slots;
    ++scan->next;
    return;
  }
  const uint64_t clock = scan->base_ticks + TicksOf(value);
  if (!scan->segment.Holds(clock)) scan->segment = scan->conversion->SegmentFor(clock);
  int64_t ns = scan->segment.Convert(clock);
  if (ClockDifference(ns, scan->previous_ns) < 0) {
    ++scan->clock_backwards;
    ns = scan->previous_ns;
  } else {
    scan->previous_clock = clock;
  }
  const auto delta = static_cast<uint64_t>(ClockDifference(ns, scan->previous_ns));
  scan->previous_ns = ns;
  const bool ends_innermost =
      kind == SlotKind::kEnd && scan->open->depth != 0 && scan->open->innermost() == label;
  scan->times[scan->time_count++] = delta << 1 | (ends_innermost ? 1 : 0);
  if (!ends_innermost) scan->codes[scan->code_count++] = CodeOf(value);
  if (kind == SlotKind::kBegin) scan->open->Begin(label);
  if (kind == SlotKind::kEnd) scan->open->End(label);
  ++scan->next;
  if (HasPayload(kind)) {
    const Slot bits = LoadSlot(scan->next++);
    payload->Append(&bits, sizeof(bits));
  }
}

}  // namespace

bool EncodeThreadColumns(EncoderBuffers* buffers, const ChunkMeta& meta, uint64_t base_ticks,
                         std::span<const uint32_t> open_labels, std::span<const Slot> slots,
                         const ClockConversion& conversion, EncodedChunk* row,
                         ChunkColumns* columns) noexcept {
  VarintColumn& open = buffers->columns[0];
  VarintColumn& time = buffers->columns[1];
  VarintColumn& code = buffers->columns[2];
  using Elision = VarintColumn::Elision;
  buffers->payload.Clear();
  if (!open.Begin(buffers->codec, Elision::kNever, kMaxOpenScopes) ||
      !time.Begin(buffers->codec, Elision::kNever, slots.size()) ||
      !code.Begin(buffers->codec, Elision::kAllEqual, slots.size()) ||
      !buffers->payload.Reserve(slots.size() * sizeof(Slot))) {
    return false;
  }
  buffers->open.Assign(open_labels);
  uint64_t wide_labels[kMaxOpenScopes];
  for (size_t i = 0; i < buffers->open.depth; ++i) wide_labels[i] = buffers->open.open()[i];
  open.Add(wide_labels, buffers->open.depth);

  const uint64_t first_clock = base_ticks + (slots.empty() ? 0 : TicksOf(LoadSlot(slots.data())));
  const int64_t base_ns = std::max(conversion.ToMonotonic(first_clock), meta.not_before_ns);
  SlotScan scan{.next = slots.data(),
                .end = slots.data() + slots.size(),
                .segment = conversion.SegmentFor(first_clock),
                .conversion = &conversion,
                .base_ticks = base_ticks,
                .previous_ns = base_ns,
                .previous_clock = first_clock,
                .open = &buffers->open,
                .times = buffers->blocks[0],
                .codes = buffers->blocks[1]};
  while (scan.next != scan.end && !scan.ended) {
    if (scan.time_count == 0) {
      PrefetchBytes(scan.next + kBlockValues, scan.end, kBlockValues * sizeof(Slot));
    }
    buffers->loops->scan_scopes(&scan);
    if (scan.next != scan.end && scan.time_count != kBlockValues) {
      ScanOne(&scan, &buffers->payload);
    }
    if (scan.time_count == kBlockValues || scan.next == scan.end || scan.ended) {
      time.Add(scan.times, scan.time_count);
      code.Add(scan.codes, scan.code_count);
      row->event_count += scan.time_count;
      scan.time_count = 0;
      scan.code_count = 0;
    }
  }
  row->sequence_count = static_cast<uint64_t>(scan.next - slots.data());
  row->clock_backwards = scan.clock_backwards;
  row->invalid_slots = scan.invalid_slots;
  row->open_labels_after = buffers->open.open();
  if (row->event_count != 0) {
    row->min_ns = base_ns;
    row->max_ns = scan.previous_ns;
    columns->base_ns = base_ns;
    columns->first_clock = first_clock;
    columns->last_clock = scan.previous_clock;
  }
  columns->body_field = 16;
  columns->Add(1, open);
  columns->Add(2, time);
  columns->Add(3, code);
  columns->Add(4, {buffers->payload.data(), buffers->payload.size()});
  columns->AddCommon(12, code);
  return true;
}

}  // namespace gpubound
