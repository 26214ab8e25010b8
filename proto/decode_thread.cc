// SPDX-License-Identifier: Apache-2.0
//
// Columns of one thread back into events. The stack of open scopes is followed by the encoder's
// rules (open_scopes.h), since an end of the innermost scope carries no label.
#include <bit>
#include <cstring>

#include "proto/chunk_body.h"
#include "proto/open_scopes.h"

namespace gpubound {
namespace {

bool ReadOpenLabels(ChunkBody* body, OpenScopes* open, ThreadEvents* events) {
  ColumnReader column = body->Column(1);
  const size_t count = CountVarints(column.begin(), column.end());
  if (count > kMaxOpenScopes) {
    return body->Fail(ChunkError::kStructure, column.field_begin(), "too many open scopes");
  }
  uint64_t labels[kMaxOpenScopes + kUnpackSlackValues];
  if (!column.Read(count, labels) || !column.AtEnd()) return body->FailColumn(column);
  events->open_labels.clear();
  for (size_t i = 0; i < count; ++i) {
    if (labels[i] >= kMaxLabels) {
      return body->FailLimit(column, kMaxLabels, "an open scope's label is out of range");
    }
    events->open_labels.push_back(static_cast<uint32_t>(labels[i]));
  }
  open->Assign(events->open_labels);
  return true;
}

uint64_t LoadPayload(const uint8_t* bytes) {
  uint64_t value = 0;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

}  // namespace

bool DecodeThreadColumns(DecoderScratch* scratch, ThreadEvents* events) {
  ChunkBody* body = &scratch->body;
  OpenScopes open;
  if (!ReadOpenLabels(body, &open, events)) return false;
  ColumnReader time_column = body->Column(2);
  ColumnReader code_column = body->Column(3, 12);
  const std::span<const uint8_t> payloads = body->Fixed(4);
  const uint64_t event_count = body->event_count();
  if (event_count > time_column.size_bytes()) return body->FailColumn(time_column);
  const auto size = static_cast<size_t>(event_count);
  events->time_ns.resize(size);
  events->kind.resize(size);
  events->label.resize(size);
  events->payload.assign(size, 0);

  const uint64_t* times = scratch->blocks[0];
  const uint64_t* codes = scratch->blocks[1];
  int64_t now_ns = body->base_ns();
  size_t payload_offset = 0;
  for (size_t done = 0; done < size;) {
    const size_t count = std::min(size - done, kReadBlock);
    if (!time_column.Read(count, scratch->blocks[0])) return body->FailColumn(time_column);
    size_t code_count = 0;
    for (size_t i = 0; i < count; ++i) code_count += ~times[i] & 1;
    if (!code_column.Read(code_count, scratch->blocks[1])) return body->FailColumn(code_column);

    int64_t* time_ns = events->time_ns.data() + done;
    SlotKind* kinds = events->kind.data() + done;
    LabelId* labels = events->label.data() + done;
    const uint64_t* code = codes;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t delta = times[i] >> 1;
      const auto then_ns = static_cast<int64_t>(static_cast<uint64_t>(now_ns) + delta);
      if (then_ns < now_ns) [[unlikely]] {
        return body->Fail(ChunkError::kStructure, time_column.field_begin(),
                          "times leave the range of the timeline");
      }
      now_ns = then_ns;
      time_ns[i] = then_ns;
      if ((times[i] & 1) != 0) {
        if (open.depth == 0) [[unlikely]] {
          const size_t index = done + i;
          return body->Fail(ChunkError::kStructure,
                            time_column.Find([index](size_t at, uint64_t) { return at == index; }),
                            "an end of the innermost scope while none is open");
        }
        kinds[i] = SlotKind::kEnd;
        labels[i] = static_cast<LabelId>(open.innermost());
        --open.depth;
        continue;
      }
      const uint64_t value = *code++;
      const auto kind = static_cast<SlotKind>(value & 0xf);
      if (value >> kSlotCodeBits != 0 || kind < SlotKind::kBegin || kind > kLastSlotKind)
          [[unlikely]] {
        return body->Fail(ChunkError::kStructure, code_column.Find([](size_t, uint64_t v) {
          return v >> kSlotCodeBits != 0 || (v & 0xf) < 1 ||
                 (v & 0xf) > static_cast<uint64_t>(kLastSlotKind);
        }),
                          "an event of no known kind, or with a label out of range");
      }
      const auto label = static_cast<uint32_t>(value >> 4);
      kinds[i] = kind;
      labels[i] = static_cast<LabelId>(label);
      if (kind == SlotKind::kBegin) {
        open.Begin(label);
      } else if (kind == SlotKind::kEnd) {
        open.End(label);
      } else if (HasPayload(kind)) {
        if (payloads.size() - payload_offset < sizeof(uint64_t)) {
          return body->Fail(ChunkError::kTruncated, body->FieldBegin(4),
                            "fewer payloads than events that have one");
        }
        events->payload[done + i] = LoadPayload(payloads.data() + payload_offset);
        payload_offset += sizeof(uint64_t);
      }
    }
    done += count;
  }
  if (!time_column.AtEnd() || !code_column.AtEnd() || payload_offset != payloads.size()) {
    return body->Fail(ChunkError::kStructure, time_column.field_begin(),
                      "a column has more values than the chunk has events");
  }
  // Slots of no known kind were skipped by the encoder, so there may be more slots than this.
  if (event_count + payload_offset / sizeof(uint64_t) > body->sequence_count()) {
    return body->Fail(ChunkError::kStructure, nullptr, "more events than slots");
  }
  return true;
}

}  // namespace gpubound
