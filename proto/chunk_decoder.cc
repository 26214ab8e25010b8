// SPDX-License-Identifier: Apache-2.0
//
// The frame of decoding: open the body, decode the family's columns, hand out all or nothing.
#include "proto/chunk_decoder.h"

#include "proto/chunk_body.h"

namespace gpubound {
namespace {

constexpr uint32_t Fields(uint32_t first, uint32_t last) {
  return ((uint32_t{2} << last) - 1) & ~((uint32_t{1} << first) - 1);
}

// Fields as in proto/trace.proto.
constexpr BodyShape kThreadShape{EventFamily::kThread, 16, Fields(1, 4), Fields(12, 12)};
constexpr BodyShape kApiShape{EventFamily::kApi, 17, Fields(1, 7), Fields(12, 14)};
constexpr BodyShape kDeviceShape{EventFamily::kDevice, 18, Fields(1, 8), Fields(12, 17)};
constexpr BodyShape kSyncShape{EventFamily::kSync, 19, Fields(1, 7), Fields(12, 17)};
constexpr BodyShape kOverheadShape{EventFamily::kOverhead, 20, Fields(1, 5), Fields(12, 15)};
constexpr BodyShape kCpuTimeShape{EventFamily::kCpuTime, 21, Fields(1, 6), Fields(12, 16)};
constexpr BodyShape kStackShape{EventFamily::kStack, 22, Fields(1, 7), Fields(12, 17)};

template <typename... Vectors>
void ClearAll(Vectors&... vectors) {
  (vectors.clear(), ...);
}

void Clear(ThreadEvents* e) { ClearAll(e->open_labels, e->events); }
void Clear(ApiEvents* e) {
  ClearAll(e->start_ns, e->end_ns, e->correlation, e->tid, e->label, e->result);
}
void Clear(DeviceEvents* e) {
  ClearAll(e->start_ns, e->end_ns, e->correlation, e->stream, e->work, e->detail);
}
void Clear(SyncEvents* e) {
  ClearAll(e->start_ns, e->end_ns, e->correlation, e->type, e->context, e->stream, e->event);
}
void Clear(OverheadEvents* e) {
  ClearAll(e->start_ns, e->end_ns, e->correlation, e->tid, e->label);
}
void Clear(CpuTimeEvents* e) {
  ClearAll(e->start_ns, e->end_ns, e->correlation, e->tid, e->on_cpu_ns, e->ready_ns);
}
void Clear(StackEvents* e) {
  ClearAll(e->start_ns, e->end_ns, e->correlation, e->tid, e->frame, e->looks, e->runnable);
}

}  // namespace

const char* ChunkErrorName(ChunkError error) {
  switch (error) {
    case ChunkError::kOk:
      return "ok";
    case ChunkError::kBadCrc:
      return "bad checksum";
    case ChunkError::kTruncated:
      return "truncated";
    case ChunkError::kUnknownVersion:
      return "unknown version";
    case ChunkError::kStructure:
      return "inconsistent structure";
  }
  return "unknown error";
}

class ChunkDecoder::Impl {
 public:
  template <typename Events, typename DecodeColumns>
  ChunkStatus Decode(const ChunkRow& row, const BodyShape& shape, DecodeColumns decode_columns,
                     Events* events) {
    const bool ok = scratch_.body.Open(row, shape, events) && decode_columns(&scratch_, events);
    if (!ok) {
      static_cast<ChunkHeader&>(*events) = {};
      Clear(events);
    }
    return scratch_.body.status();
  }

 private:
  DecoderScratch scratch_;
};

ChunkDecoder::ChunkDecoder() : impl_(std::make_unique<Impl>()) {}
ChunkDecoder::~ChunkDecoder() = default;

ChunkStatus ChunkDecoder::Decode(const ChunkRow& row, ThreadEvents* events) {
  return impl_->Decode(row, kThreadShape, DecodeThreadColumns, events);
}
ChunkStatus ChunkDecoder::Decode(const ChunkRow& row, ApiEvents* events) {
  return impl_->Decode(row, kApiShape, DecodeApiColumns, events);
}
ChunkStatus ChunkDecoder::Decode(const ChunkRow& row, DeviceEvents* events) {
  return impl_->Decode(row, kDeviceShape, DecodeDeviceColumns, events);
}
ChunkStatus ChunkDecoder::Decode(const ChunkRow& row, SyncEvents* events) {
  return impl_->Decode(row, kSyncShape, DecodeSyncColumns, events);
}
ChunkStatus ChunkDecoder::Decode(const ChunkRow& row, OverheadEvents* events) {
  return impl_->Decode(row, kOverheadShape, DecodeOverheadColumns, events);
}
ChunkStatus ChunkDecoder::Decode(const ChunkRow& row, CpuTimeEvents* events) {
  return impl_->Decode(row, kCpuTimeShape, DecodeCpuTimeColumns, events);
}
ChunkStatus ChunkDecoder::Decode(const ChunkRow& row, StackEvents* events) {
  return impl_->Decode(row, kStackShape, DecodeStackColumns, events);
}

}  // namespace gpubound
