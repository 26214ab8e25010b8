// SPDX-License-Identifier: Apache-2.0
//
// Columns of one thread back into events. The stack of open scopes is followed by the encoder's
// rules (scope_stack.h), since an end of the innermost scope carries no label.
#include <bit>
#include <cstring>

#include "proto/chunk_body.h"
#include "proto/scope_stack.h"

namespace gpubound {
namespace {

bool ReadOpenLabels(ChunkBody* body, ScopeStack* open, ThreadEvents* events) {
  ColumnReader column = body->Column(1);
  const size_t count = CountVarints(column.begin(), column.end());
  if (count > kMaxOpenScopes) {
    return body->Fail(ChunkError::kStructure, column.field_begin(), "too many open scopes");
  }
  uint64_t labels[kMaxOpenScopes + kUnpackSlackValues];
  if (!column.Read(count, labels) || !column.AtEnd()) return body->FailColumn(column);
  uint32_t open_labels[kMaxOpenScopes];
  events->open_labels.clear();
  for (size_t i = 0; i < count; ++i) {
    if (labels[i] >= kMaxLabels) {
      return body->FailLimit(column, kMaxLabels, "an open scope's label is out of range");
    }
    open_labels[i] = static_cast<uint32_t>(labels[i]);
    events->open_labels.push_back(static_cast<LabelId>(open_labels[i]));
  }
  open->Assign({open_labels, count});
  return true;
}

uint64_t LoadPayload(const uint8_t* bytes) {
  uint64_t value = 0;
  static_assert(std::endian::native == std::endian::little);
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// Whether |value| is no code of an event.
bool IsNoCode(uint64_t value) {
  const uint64_t kind = value & 0xf;
  return value >> kSlotCodeBits != 0 || kind == 0 || kind > static_cast<uint64_t>(kLastSlotKind);
}

bool FailCode(ChunkBody* body, const ColumnReader& codes) {
  return body->Fail(ChunkError::kStructure,
                    codes.Find([](size_t, uint64_t value) { return IsNoCode(value); }),
                    "an event of no known kind, or with a label out of range");
}

bool FailEnd(ChunkBody* body, const ColumnReader& times, size_t index) {
  return body->Fail(ChunkError::kStructure,
                    times.Find([index](size_t at, uint64_t) { return at == index; }),
                    "an end of the innermost scope while none is open");
}

}  // namespace

bool DecodeThreadColumns(DecoderScratch* scratch, ThreadEvents* events) {
  ChunkBody* body = &scratch->body;
  ScopeStack open;
  if (!ReadOpenLabels(body, &open, events)) return false;
  ColumnReader time_column = body->Column(2);
  ColumnReader code_column = body->Column(3, 12);
  const std::span<const uint8_t> payloads = body->Fixed(4);
  const uint64_t event_count = body->event_count();
  if (event_count > time_column.size_bytes()) return body->FailColumn(time_column);
  const auto size = static_cast<size_t>(event_count);
  events->events.resize(size);

  const uint64_t* times = scratch->blocks[0];
  const uint64_t* codes = scratch->blocks[1];
  int64_t now_ns = body->base_ns();
  size_t payload_offset = 0;
  bool scopes_only = true;
  for (size_t done = 0; done < size;) {
    const size_t count = std::min(size - done, kReadBlock);
    if (!time_column.Read(count, scratch->blocks[0])) return body->FailColumn(time_column);
    size_t code_count = 0;
    for (size_t i = 0; i < count; ++i) code_count += ~times[i] & 1;
    if (!code_column.Read(code_count, scratch->blocks[1])) return body->FailColumn(code_column);

    ThreadEvent* event = events->events.data() + done;
    const uint64_t* code = codes;
    for (size_t i = 0; i < count; ++i, ++event) {
      const uint64_t delta = times[i] >> 1;
      const auto then_ns = static_cast<int64_t>(static_cast<uint64_t>(now_ns) + delta);
      if (then_ns < now_ns) [[unlikely]] {
        return body->Fail(ChunkError::kStructure, time_column.field_begin(),
                          "times leave the range of the timeline");
      }
      now_ns = then_ns;
      // Whether a scope begins or the innermost one ends nothing foretells, so there is no branch
      // for it. An end has no code; what is read in its place is not used.
      const bool ends = (times[i] & 1) != 0;
      const uint64_t value = *code;
      code += ends ? 0 : 1;
      if (ends ? open.depth == 0 : IsNoCode(value)) [[unlikely]] {
        return ends ? FailEnd(body, time_column, done + i) : FailCode(body, code_column);
      }
      const uint32_t label = ends ? open.innermost() : static_cast<uint32_t>(value >> 4);
      const SlotKind kind = ends ? SlotKind::kEnd : static_cast<SlotKind>(value & 0xf);
      *event = {then_ns, 0, static_cast<LabelId>(label), kind};
      if (ends || kind == SlotKind::kBegin) [[likely]] {
        open.BeginOrEnd(label, ends);
        continue;
      }
      if (kind == SlotKind::kEnd) {
        open.End(label);
        continue;
      }
      scopes_only = false;
      if (!HasPayload(kind)) continue;
      if (payloads.size() - payload_offset < sizeof(uint64_t)) {
        return body->Fail(ChunkError::kTruncated, body->FieldBegin(4),
                          "fewer payloads than events that have one");
      }
      event->payload = LoadPayload(payloads.data() + payload_offset);
      payload_offset += sizeof(uint64_t);
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
  events->scopes_only = scopes_only;
  return true;
}

}  // namespace gpubound
