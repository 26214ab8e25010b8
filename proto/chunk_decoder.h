// SPDX-License-Identifier: Apache-2.0
//
// From a stored chunk back to events: those of a thread as rows, as they are gone through, records
// of the device source as one array per field, by which they are put in order. The input may be
// anything at all: the decoder never reads past it, never throws on it, and hands out a chunk's
// events only when every one of them is sound.
//
// Thread rule: one thread at a time per object; several objects may decode at once.
#ifndef GPUBOUND_PROTO_CHUNK_DECODER_H_
#define GPUBOUND_PROTO_CHUNK_DECODER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "proto/chunk_row.h"
#include "proto/clock_conversion.h"
#include "proto/event_model.h"

namespace gpubound {

enum class ChunkError : uint8_t {
  kOk = 0,
  kBadCrc,          // the stored bytes are not those that were written
  kTruncated,       // a field or a column ends beyond the end of the body
  kUnknownVersion,  // another chunk version than kChunkVersion, or an unknown compression
  kStructure,       // columns, counts or values contradict each other or the row
};

const char* ChunkErrorName(ChunkError error);

struct ChunkStatus {
  ChunkError error = ChunkError::kOk;
  uint64_t offset = 0;           // of the first trouble, in bytes of the uncompressed body
  uint64_t events_expected = 0;  // what the row promises
  uint64_t events_lost = 0;      // 0 or events_expected: a chunk is taken whole or not at all
  const char* what = "";         // the rule that was broken, for a message; static text

  bool ok() const { return error == ChunkError::kOk; }
};

// What every family has. Events are in the writer's order; the arrays of records all have `size()`
// entries.
struct ChunkHeader {
  uint32_t thread = 0;  // ordinal of the writer
  uint64_t first_sequence = 0;
  uint64_t dropped_before = 0;
  std::vector<ClockKnot> clock;  // the conversion that was applied; empty = identity
};

struct ThreadEvents : ChunkHeader {
  std::vector<LabelId> open_labels;  // scopes open at the first event, outermost first
  std::vector<ThreadEvent> events;   // time never runs backwards
  bool scopes_only = true;           // none but begins and ends of scopes
  size_t size() const { return events.size(); }
};

struct ApiEvents : ChunkHeader {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;  // >= start_ns
  std::vector<uint32_t> correlation;
  std::vector<uint32_t> tid;
  std::vector<LabelId> label;
  std::vector<int32_t> result;
  size_t size() const { return start_ns.size(); }
};

// What few kinds of device work have.
struct WorkDetail {
  uint64_t bytes = 0;
  uint64_t graph_node = 0;
  uint32_t graph = 0;
};

struct DeviceEvents : ChunkHeader {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<uint32_t> correlation;
  std::vector<StreamId> stream;
  std::vector<WorkId> work;
  std::vector<WorkDetail> detail;  // empty where none has any
  size_t size() const { return start_ns.size(); }
  WorkDetail DetailOf(size_t i) const { return detail.empty() ? WorkDetail{} : detail[i]; }
};

struct SyncEvents : ChunkHeader {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<uint32_t> correlation;
  std::vector<uint32_t> type;
  std::vector<uint32_t> context;
  std::vector<uint32_t> stream;
  std::vector<uint64_t> event;
  size_t size() const { return start_ns.size(); }
};

struct OverheadEvents : ChunkHeader {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<uint32_t> correlation;
  std::vector<uint32_t> tid;
  std::vector<LabelId> label;
  size_t size() const { return start_ns.size(); }
};

struct CpuTimeEvents : ChunkHeader {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<uint32_t> correlation;  // 0
  std::vector<uint32_t> tid;
  std::vector<uint64_t> on_cpu_ns;
  std::vector<uint64_t> ready_ns;  // or kReadyNotKnown
  size_t size() const { return start_ns.size(); }
};

struct StackEvents : ChunkHeader {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  std::vector<uint32_t> correlation;  // 0
  std::vector<uint32_t> tid;
  std::vector<FrameId> frame;
  std::vector<uint32_t> looks;
  std::vector<uint32_t> runnable;
  size_t size() const { return start_ns.size(); }
};

class ChunkDecoder {
 public:
  ChunkDecoder();
  ~ChunkDecoder();
  ChunkDecoder(const ChunkDecoder&) = delete;
  ChunkDecoder& operator=(const ChunkDecoder&) = delete;

  // Checks the CRC, decompresses, decodes and validates |row| into |events|, whose storage is
  // reused. |row.family| must be the one of the function, else kStructure. On failure |events| is
  // empty. The row's identity, counts and body are checked against one another; min_ns, max_ns are
  // not read. `std::bad_alloc` is the only exception that can leave.
  ChunkStatus Decode(const ChunkRow& row, ThreadEvents* events);
  ChunkStatus Decode(const ChunkRow& row, ApiEvents* events);
  ChunkStatus Decode(const ChunkRow& row, DeviceEvents* events);
  ChunkStatus Decode(const ChunkRow& row, SyncEvents* events);
  ChunkStatus Decode(const ChunkRow& row, OverheadEvents* events);
  ChunkStatus Decode(const ChunkRow& row, CpuTimeEvents* events);
  ChunkStatus Decode(const ChunkRow& row, StackEvents* events);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_CHUNK_DECODER_H_
