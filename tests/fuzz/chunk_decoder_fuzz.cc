// SPDX-License-Identifier: Apache-2.0
//
// Any bytes into ChunkDecoder. The sanitizers watch for reads beyond the input; what is checked
// here is that a decoder which says "ok" hands out events that keep the promises of
// chunk_decoder.h.
#include <cstdlib>
#include <cstring>
#include <memory>

#include "proto/chunk_decoder.h"
#include "proto/crc32c.h"
#include "proto/message_reader.h"
#include "tests/fuzz/fuzz_chunk.h"

namespace gpubound {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

// The counts and the identity that the body itself states, so that a changed body is not refused
// for disagreeing with its row. Only for plain bodies; for others what the zstd frame holds is
// unknown.
void FitRow(ChunkRow* row, std::span<const uint8_t> body) {
  MessageReader reader(body);
  while (reader.Next()) {
    if (reader.wire_type() != MessageReader::kVarint) continue;
    if (reader.field() == 3) row->thread = static_cast<uint32_t>(reader.value());
    if (reader.field() == 4) row->first_sequence = reader.value();
    if (reader.field() == 5) row->event_count = reader.value();
    if (reader.field() == 9) row->sequence_count = reader.value();
  }
}

template <typename Events>
bool Decode(const ChunkRow& row, Events* events) {
  static ChunkDecoder decoder;
  const ChunkStatus status = decoder.Decode(row, events);
  Require(status.events_expected == row.event_count);
  Require(status.events_lost == (status.ok() ? 0 : row.event_count));
  Require(events->size() == (status.ok() ? row.event_count : 0));
  return status.ok();
}

template <typename Events>
void DecodeRecords(const ChunkRow& row) {
  static Events events;
  if (!Decode(row, &events)) return;
  for (size_t i = 0; i < events.size(); ++i) Require(events.end_ns[i] >= events.start_ns[i]);
  Require(events.correlation.size() == events.size());
}

void DecodeThread(const ChunkRow& row) {
  static ThreadEvents events;
  if (!Decode(row, &events)) return;
  int64_t latest_ns = INT64_MIN;
  bool scopes_only = true;
  for (const ThreadEvent& event : events.events) {
    Require(Raw(event.label) < kMaxLabels);
    Require(event.kind >= SlotKind::kBegin && event.kind <= kLastSlotKind);
    Require(HasPayload(event.kind) || event.payload == 0);
    Require(event.time_ns >= latest_ns);
    latest_ns = event.time_ns;
    scopes_only &= event.kind <= SlotKind::kEnd;
  }
  Require(events.scopes_only == scopes_only);
}

}  // namespace

int FuzzOne(const uint8_t* data, size_t size) {
  if (size < kFuzzHeaderBytes) return 0;
  // A copy of exactly the body's length, so that reading one byte too many is seen.
  const size_t body_size = size - kFuzzHeaderBytes;
  const auto body = std::make_unique<uint8_t[]>(body_size);
  if (body_size != 0) std::memcpy(body.get(), data + kFuzzHeaderBytes, body_size);
  ChunkRow row;
  row.family = static_cast<EventFamily>(data[0] & kFuzzFamilyMask);
  row.body = std::as_bytes(std::span(body.get(), body_size));
  row.crc = Crc32c(row.body);
  row.raw_bytes = body_size;
  if ((data[0] & kFuzzCompressed) != 0) {
    uint32_t raw_bytes;
    std::memcpy(&raw_bytes, data + 1, sizeof(raw_bytes));
    row.raw_bytes = raw_bytes & 0xfffff;
    row.compression = ChunkCompression::kZstd;
    row.event_count = row.sequence_count = data[1];
  } else {
    FitRow(&row, {body.get(), body_size});
  }
  DecodeThread(row);
  DecodeRecords<ApiEvents>(row);
  DecodeRecords<DeviceEvents>(row);
  DecodeRecords<SyncEvents>(row);
  DecodeRecords<OverheadEvents>(row);
  DecodeRecords<CpuTimeEvents>(row);
  DecodeRecords<StackEvents>(row);
  return 0;
}

}  // namespace gpubound

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return gpubound::FuzzOne(data, size);
}
