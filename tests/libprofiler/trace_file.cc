// SPDX-License-Identifier: Apache-2.0
//
// Reads databases and live mappings.
#include "tests/libprofiler/trace_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "proto/live_format.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

class Query {
 public:
  Query(sqlite3* database, const std::string& sql) {
    if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement_, nullptr) != SQLITE_OK) {
      throw std::runtime_error(sql + ": " + sqlite3_errmsg(database));
    }
  }
  ~Query() { sqlite3_finalize(statement_); }
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;
  bool Next() { return sqlite3_step(statement_) == SQLITE_ROW; }
  int64_t Number(int column) const { return sqlite3_column_int64(statement_, column); }
  std::string Bytes(int column) const {
    const void* bytes = sqlite3_column_blob(statement_, column);
    const int length = sqlite3_column_bytes(statement_, column);
    return bytes == nullptr
               ? std::string()
               : std::string(static_cast<const char*>(bytes), static_cast<size_t>(length));
  }

 private:
  sqlite3_stmt* statement_ = nullptr;
};

std::string ReadWholeFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();  // many at a time: the sanitizers look at each access
  return std::move(bytes).str();
}

// Without pages until its process has announced it.
LiveHeader HeaderOf(const std::string& bytes) {
  LiveHeader header = {};
  if (bytes.size() < sizeof(header)) return header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  return header.magic == kLiveMagic ? header : LiveHeader{};
}

}  // namespace

TraceFile::TraceFile(const std::string& path) {
  if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) {
    throw std::runtime_error("cannot open " + path);
  }
  sqlite3_busy_timeout(database_, 10'000);
}

TraceFile::~TraceFile() { sqlite3_close(database_); }

std::string TraceFile::Text(const std::string& sql) const {
  Query query(database_, sql);
  return query.Next() ? query.Bytes(0) : std::string();
}

int64_t TraceFile::Number(const std::string& sql) const {
  Query query(database_, sql);
  return query.Next() ? query.Number(0) : 0;
}

std::vector<std::string> TraceFile::Column(const std::string& sql) const {
  Query query(database_, sql);
  std::vector<std::string> values;
  while (query.Next()) values.push_back(query.Bytes(0));
  return values;
}

std::string TraceFile::Meta(const std::string& key) const {
  return Text("SELECT value FROM meta WHERE key='" + key + "'");
}

int64_t TraceFile::LedgerValue(LedgerCounter counter) const {
  return Number("SELECT value FROM ledger WHERE counter='" + LedgerName(counter) + "'");
}

std::string TraceFile::LabelText(LabelId id) const {
  const auto [place, is_new] = label_texts_.try_emplace(Raw(id));
  if (is_new) {
    place->second = Text("SELECT text FROM label WHERE id=" + std::to_string(Raw(id)));
  }
  return place->second;
}

std::vector<TraceFile::StoredChunk> TraceFile::Chunks(EventFamily family) const {
  Query query(database_,
              "SELECT thread,first_sequence,sequence_count,event_count,min_ns,max_ns,compression,"
              "raw_bytes,crc,body FROM chunk WHERE family=" +
                  std::to_string(static_cast<int>(family)) + " ORDER BY thread,first_sequence");
  std::vector<StoredChunk> chunks;
  while (query.Next()) {
    StoredChunk chunk;
    chunk.row.family = family;
    chunk.row.thread = static_cast<uint32_t>(query.Number(0));
    chunk.row.first_sequence = static_cast<uint64_t>(query.Number(1));
    chunk.row.sequence_count = static_cast<uint64_t>(query.Number(2));
    chunk.row.event_count = static_cast<uint64_t>(query.Number(3));
    chunk.row.min_ns = query.Number(4);
    chunk.row.max_ns = query.Number(5);
    chunk.row.compression = static_cast<ChunkCompression>(query.Number(6));
    chunk.row.raw_bytes = static_cast<uint64_t>(query.Number(7));
    chunk.row.crc = static_cast<uint32_t>(query.Number(8));
    chunk.body = query.Bytes(9);
    chunks.push_back(std::move(chunk));
  }
  for (StoredChunk& chunk : chunks) {
    chunk.row.body = {reinterpret_cast<const std::byte*>(chunk.body.data()), chunk.body.size()};
  }
  return chunks;
}

std::vector<StoredEvent> TraceFile::ThreadEventsOf(uint32_t ordinal) const {
  std::vector<StoredEvent> events;
  ChunkDecoder decoder;
  ThreadEvents decoded;
  for (const StoredChunk& chunk : Chunks(EventFamily::kThread)) {
    if (chunk.row.thread != ordinal) continue;
    const ChunkStatus status = decoder.Decode(chunk.row, &decoded);
    if (!status.ok()) throw std::runtime_error(status.what);
    for (const ThreadEvent& event : decoded.events) {
      events.push_back({event.kind, LabelText(event.label), event.time_ns, event.payload});
    }
  }
  return events;
}

std::map<uint32_t, std::vector<SalvagedSlots>> ReadLiveSlots(const std::string& path) {
  const std::string bytes = ReadWholeFile(path);
  const LiveHeader header = HeaderOf(bytes);
  std::map<uint32_t, std::vector<SalvagedSlots>> threads;
  for (uint32_t index = 0; index < header.page_count; ++index) {
    const char* place = bytes.data() + header.pages_offset + size_t{index} * kLivePageSize;
    LivePageHeader page;
    std::memcpy(&page, place, sizeof(page));
    if (page.state == static_cast<uint32_t>(PageState::kFree) ||
        page.family != static_cast<uint32_t>(EventFamily::kThread)) {
      continue;
    }
    std::vector<Slot> slots(kSlotsPerPage);
    std::memcpy(slots.data(), place + kLivePageHeaderBytes, slots.size() * sizeof(Slot));
    size_t end = 0;
    while (end < slots.size() && slots[end] != 0) end += HasPayload(KindOf(slots[end])) ? 2 : 1;
    slots.resize(std::min<size_t>(end, slots.size()));
    threads[page.thread].push_back({page.first_sequence, std::move(slots)});
  }
  for (auto& [thread, pages] : threads) {
    std::sort(pages.begin(), pages.end(), [](const SalvagedSlots& a, const SalvagedSlots& b) {
      return a.first_sequence < b.first_sequence;
    });
  }
  return threads;
}

std::map<uint32_t, std::string> ReadLiveLabels(const std::string& path) {
  const std::string bytes = ReadWholeFile(path);
  const LiveHeader header = HeaderOf(bytes);
  std::map<uint32_t, std::string> labels;
  if (header.magic != kLiveMagic) return labels;
  const char* place = bytes.data() + header.labels_offset;
  for (;;) {
    LiveLabel label;
    std::memcpy(&label, place, sizeof(label));
    if (label.size == 0) return labels;
    labels[label.id].assign(place + sizeof(label) + label.domain_bytes, label.text_bytes);
    place += label.size;
  }
}

}  // namespace gpubound
