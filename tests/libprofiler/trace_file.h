// SPDX-License-Identifier: Apache-2.0
//
// Reads back what the collector wrote: rows and decoded events of a database, and the events that
// only a live mapping still holds. Deliberately small and independent of analysis/, so that the two
// check each other.
#ifndef GPUBOUND_TESTS_LIBPROFILER_TRACE_FILE_H_
#define GPUBOUND_TESTS_LIBPROFILER_TRACE_FILE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "proto/chunk_decoder.h"
#include "proto/chunk_row.h"
#include "proto/event_model.h"
#include "proto/ledger_counters.h"

struct sqlite3;

namespace gpubound {

// One event of a thread as a test compares it.
struct StoredEvent {
  SlotKind kind;
  std::string label;
  int64_t time_ns;
  uint64_t payload;
  friend bool operator==(const StoredEvent&, const StoredEvent&) = default;
};

class TraceFile {
 public:
  // Opens the database |path| for reading (and, after a kill, for replaying its log).
  explicit TraceFile(const std::string& path);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // First column of the first row, as text; "" when there is no row or it is NULL.
  std::string Text(const std::string& sql) const;
  int64_t Number(const std::string& sql) const;
  std::vector<std::string> Column(const std::string& sql) const;

  std::string Meta(const std::string& key) const;
  int64_t LedgerValue(LedgerCounter counter) const;

  // The chunks of |family|, in the order of (thread, first_sequence).
  struct StoredChunk {
    ChunkRow row;
    std::string body;
  };
  std::vector<StoredChunk> Chunks(EventFamily family) const;

  // Every event of thread |ordinal|, decoded, in order. Throws when a chunk does not decode.
  std::vector<StoredEvent> ThreadEventsOf(uint32_t ordinal) const;
  std::string LabelText(LabelId id) const;

 private:
  sqlite3* database_ = nullptr;
  mutable std::map<uint32_t, std::string> label_texts_;  // looked up so far
};

// One slot of a thread as salvage sees it, without time.
struct SalvagedSlots {
  uint64_t first_sequence;
  std::vector<Slot> slots;
};

// Per thread ordinal, the slots in the pages of the live mapping at |path|, by sequence number.
std::map<uint32_t, std::vector<SalvagedSlots>> ReadLiveSlots(const std::string& path);

// Texts by id of the label heap of the live mapping at |path|.
std::map<uint32_t, std::string> ReadLiveLabels(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIBPROFILER_TRACE_FILE_H_
