// SPDX-License-Identifier: Apache-2.0
//
// Opens a segment, checks that it is one, and reads its rows. One object, one thread.
#include "analysis/segments/segment.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "analysis/base/text_table.h"
#include "analysis/base/whole_number.h"
#include "analysis/segments/row_at.h"
#include "analysis/trace/plausible_time.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

// A segment has some thousand chunks at most; more that are missing are damage of their numbers.
constexpr int64_t kMostMissing = 100'000;

// So many bytes of bodies are read from a mapping before its memory is given back: as much as
// SQLite keeps of a file that is not mapped.
constexpr size_t kMostMapped = size_t{2} << 20;

bool IsZeroUuid(const std::string& uuid) {
  return uuid.find_first_not_of("GPU-0") == std::string::npos;
}

constexpr char kLettersOfTables[] = "abcdefghijklmnopqrstuvwxyz_";

constexpr char kGoneMeanwhile[] = "a file that could not be opened again";

constexpr char kCopyAgain[] =
    "If it was copied, copy the whole directory again from where it was recorded, once the program "
    "has ended; what is lost there as well can only be recorded again.";

constexpr char kEmptyFile[] = "an empty file";

constexpr char kWithoutFirstPage[] =
    "a file whose first page is empty: its process ended while it made it, or it is damaged";

// What a process that was killed has written lies in the log until then.
constexpr char kWithoutTables[] =
    "a database without tables: it was copied without the -wal file beside it, which holds all "
    "that "
    "was written, or was cut";
constexpr char kCopyWithLog[] =
    "Copy the whole directory again from where it was recorded, with all files whose names begin "
    "as "
    "this one's (-wal, .live); what is lost there as well can only be recorded again.";

Error NotASegment(const std::string& path, const std::string& found,
                  const std::string& remedy = kCopyAgain) {
  return {"reading the trace", path, found, "a segment of a gpubound trace", remedy};
}

}  // namespace

bool IsNeverWritten(const Error& error) {
  return error.found == kEmptyFile || error.found == kWithoutFirstPage ||
         error.found == kWithoutTables;
}

bool LacksFirstPage(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return false;  // a pipe would wait
  std::array<char, 100> header{};                                      // of a database of SQLite
  std::ifstream file(path, std::ios::binary);
  file.read(header.data(), header.size());
  return file.gcount() == static_cast<std::streamsize>(header.size()) &&
         std::all_of(header.begin(), header.end(), [](char byte) { return byte == 0; });
}

Result<Segment> Segment::Open(const std::string& path, const TraceFileName& name) {
  std::error_code ignored;
  if (std::filesystem::file_size(path, ignored) == 0) {
    std::filesystem::path log = path + "-wal";
    if (!std::filesystem::exists(log, ignored)) return NotASegment(path, kEmptyFile);
  }
  Result<Database> opened = Database::OpenReadOnly(path);
  if (!opened.ok()) return opened.error();
  Segment segment(path, std::move(*opened));
  Database& database = segment.database_;

  int64_t application = database.Scalar("PRAGMA application_id", -1);
  if (application < 0 && database.LastErrorWasDamage()) {
    database.TolerateTruncation();
    application = database.Scalar("PRAGMA application_id", -1);
  }
  if (application < 0 && LacksFirstPage(path)) return NotASegment(path, kWithoutFirstPage);
  if (application < 0) return NotASegment(path, "no database (" + database.LastError() + ")");
  const int64_t version = database.Scalar("PRAGMA user_version", -1);
  // Recorders of the first versions could be killed between the two.
  const bool is_bare = application == 0 || (application == kTraceApplicationId && version == 0);
  if (is_bare && database.Scalar("SELECT count(*) FROM sqlite_master", -1) <= 0) {
    return NotASegment(path, kWithoutTables, kCopyWithLog);
  }
  if (application != kTraceApplicationId) {
    return NotASegment(path, "a database of application " + std::to_string(application),
                       "Move it out of the run's directory: another program made it.");
  }
  if (version != kTraceFormatVersion) {
    return Error{"reading the trace", path, "format version " + std::to_string(version),
                 "format version " + std::to_string(kTraceFormatVersion),
                 version > kTraceFormatVersion
                     ? "A newer gpubound wrote it: read it with that one, or upgrade this one."
                     : "An older gpubound wrote it: read it with that one."};
  }
  segment.name_ = name;
  segment.identity_ = name.identity;
  segment.number_ = name.segment;
  // The schema is read whole or not at all, so damage there hides every table.
  if (!database.Prepare("SELECT 1 FROM meta").Step() && database.LastErrorWasDamage()) {
    database.TolerateTruncation();
  }
  segment.never_written_ = database.Scalar("SELECT count(*) FROM sqlite_master", -1) == 0;
  if (!segment.never_written_) segment.ReadMeta();
  segment.RestIfManyAreOpen();
  return segment;
}

bool Segment::is_misnamed() const {
  return number_ != name_.segment || identity_.pid != name_.identity.pid ||
         identity_.start_realtime_ns != name_.identity.start_realtime_ns ||
         !IsNameOfHost(name_.identity.host, identity_.host);
}

void Segment::ReadMeta() {
  Query query = database_.Prepare("SELECT key, value FROM meta");
  while (query.Step()) meta_[query.Text(0)] = query.Text(1);
  if (query.failed()) meta_problem_ = database_.LastErrorOf("meta");
  const auto number = meta_.find("segment");
  if (number != meta_.end()) {
    number_ = static_cast<uint32_t>(ParseInt(number->second).value_or(number_));
  }
  const auto host = meta_.find("host");
  const auto pid = meta_.find("pid");
  const auto start = meta_.find("start_realtime_ns");
  if (host == meta_.end() || pid == meta_.end() || start == meta_.end()) return;
  const int64_t start_ns = ParseInt(start->second).value_or(identity_.start_realtime_ns);
  identity_ = {host->second, ParseInt(pid->second).value_or(identity_.pid),
               IsPlausibleTime(start_ns) ? start_ns : identity_.start_realtime_ns};
}

void Segment::ReadRows(ProcessTrace* process) {
  damage_ = {};
  if (!Wake()) {
    damage_.tables.push_back({"meta", kGoneMeanwhile});
    return;
  }
  damage_.extent = database_.extent();
  damage_.never_written = never_written_;
  if (never_written_) return;
  if (!meta_problem_.empty()) damage_.tables.push_back({"meta", meta_problem_});
  ReadThreads(process);
  ReadLabels(process);
  ReadDevices(process);
  ReadStreams(process);
  ReadWorks(process);
  ReadOps(process);
  ReadClock(process);
  ReadGraphNodes(process);
  ReadDeviceClients(process);
  ReadUtilization(process);
  ReadProcessTree(process);
  ReadCounters(process);
  ReadFrames(process);
  ReadContexts(process);
  ReadLedger(process);
  // A segment that was begun but never committed to holds no rows at all, not "none".
  if (!meta_.empty() || !meta_problem_.empty()) ReadUnknownAndNotes(process);
  CheckRowCounts();
  RestIfManyAreOpen();
}

// What a segment says of itself: rows may be gone without a trace in the file's structure. Those of
// the first versions say nothing. Of one that is being written, all is of one transaction.
void Segment::CheckRowCounts() {
  database_.Prepare("BEGIN").Step();
  const auto counted = meta_.find("row_counts");
  int64_t tables = 0;
  const auto note = [this](const std::string& table, int64_t found, int64_t expected) {
    if (found == expected || damage_.Has(table)) return;
    damage_.tables.push_back(
        {table, "found " + Counted(static_cast<uint64_t>(std::max<int64_t>(found, 0)), "row") +
                    ", expected " + std::to_string(expected)});
  };
  if (HasTable("row_count")) {
    std::vector<std::pair<std::string, int64_t>> counts;
    Query query = database_.Prepare("SELECT name, rows FROM row_count");
    while (query.Step()) counts.emplace_back(query.Text(0), query.Int(1));
    CheckEnd(query, "row_count");
    tables = static_cast<int64_t>(counts.size());
    for (const auto& [table, rows] : counts) {
      const bool is_name =
          !table.empty() && table.find_first_not_of(kLettersOfTables) == std::string::npos;
      if (is_name) note(table, database_.Scalar("SELECT count(*) FROM " + table, -1), rows);
    }
  }
  const bool is_counted = counted != meta_.end();
  if (is_counted) note("row_count", tables, ParseInt(counted->second).value_or(0));
  if (!is_counted && tables != 0) note("meta", static_cast<int64_t>(meta_.size()), -1);
  database_.Prepare("COMMIT").Step();
}

void Segment::CheckEnd(const Query& query, const char* table) {
  if (query.failed()) damage_.tables.push_back({table, database_.LastErrorOf(table)});
}

void Segment::ReadThreads(ProcessTrace* process) {
  std::unordered_map<ThreadId, size_t> known;
  for (size_t i = 0; i < process->threads.size(); ++i)
    known.emplace(process->threads[i].ordinal, i);
  Query query = database_.Prepare("SELECT id, tid, name FROM thread ORDER BY id");
  while (query.Step()) {
    const auto ordinal = static_cast<ThreadId>(query.Int(0));
    const auto [entry, added] = known.try_emplace(ordinal, process->threads.size());
    if (added) process->threads.emplace_back();
    ThreadTrace& thread = process->threads[entry->second];
    thread.ordinal = ordinal;
    thread.tid = query.Uint32(1);
    thread.name = query.Text(2);
  }
  CheckEnd(query, "thread");
}

void Segment::ReadLabels(ProcessTrace* process) {
  Query query = database_.Prepare("SELECT id, kind, layer, domain, text FROM label");
  while (query.Step()) {
    Label* label = RowAt(&process->labels, query.Int(0));
    if (label == nullptr) continue;
    *label = {static_cast<LabelKind>(query.Int(1)), static_cast<Layer>(query.Int(2) & 7),
              query.Text(3), query.Text(4)};
  }
  CheckEnd(query, "label");
}

void Segment::ReadDevices(ProcessTrace* process) {
  Query query = database_.Prepare(
      "SELECT id, ordinal, uuid, name, multiprocessors, max_warps, max_blocks, max_registers, "
      "max_shared_bytes, threads_per_warp, compute_major, compute_minor, memory_bytes, simulated "
      "FROM device");
  while (query.Step()) {
    Device* device = RowAt(&process->devices, query.Int(0));
    if (device == nullptr) continue;
    DeviceInfo& info = device->info;
    info.index = query.Uint32(1);
    device->uuid = query.Text(2);
    if (IsZeroUuid(device->uuid)) device->uuid.clear();
    device->name = query.Text(3);
    info.multiprocessors = query.Uint32(4);
    info.max_warps_per_multiprocessor = query.Uint32(5);
    info.max_blocks_per_multiprocessor = query.Uint32(6);
    info.max_registers_per_multiprocessor = query.Uint32(7);
    info.max_shared_bytes_per_multiprocessor = query.Uint32(8);
    info.threads_per_warp = query.Uint32(9);
    info.compute_capability_major = query.Uint32(10);
    info.compute_capability_minor = query.Uint32(11);
    info.memory_bytes = static_cast<uint64_t>(query.Int(12));
    info.simulated = query.Int(13) != 0;
  }
  CheckEnd(query, "device");
}

void Segment::ReadStreams(ProcessTrace* process) {
  Query query = database_.Prepare("SELECT id, device, context, stream FROM stream");
  while (query.Step()) {
    Stream* stream = RowAt(&process->streams, query.Int(0));
    if (stream == nullptr) continue;
    *stream = {static_cast<DeviceId>(query.Int(1)), query.Uint32(2), query.Uint32(3)};
  }
  CheckEnd(query, "stream");
}

void Segment::ReadWorks(ProcessTrace* process) {
  Query query = database_.Prepare(
      "SELECT id, kind, copy_kind, name, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
      "registers, static_shared, dynamic_shared FROM work");
  while (query.Step()) {
    Work* work = RowAt(&process->works, query.Int(0));
    if (work == nullptr) continue;
    work->info.kind = static_cast<WorkKind>(query.Int(1));
    work->info.copy_kind = static_cast<uint8_t>(query.Int(2));
    work->name = query.Text(3);
    for (int axis = 0; axis < 3; ++axis) {
      work->info.grid[axis] = query.Uint32(4 + axis);
      work->info.block[axis] = query.Uint32(7 + axis);
    }
    work->info.registers_per_thread = query.Uint32(10);
    work->info.static_shared_bytes = query.Uint32(11);
    work->info.dynamic_shared_bytes = query.Uint32(12);
  }
  CheckEnd(query, "work");
}

// What launched them, where the trace tells. After ReadWorks().
void Segment::ReadOps(ProcessTrace* process) {
  if (!HasTable("op") || !HasTable("work_op")) return;
  Query op = database_.Prepare("SELECT id, name, dims, types, input_values FROM op");
  while (op.Step()) {
    if (Op* row = RowAt(&process->ops, op.Int(0))) {
      *row = {op.Text(1), op.Text(2), op.Text(3), op.Text(4)};
    }
  }
  CheckEnd(op, "op");
  Query work = database_.Prepare("SELECT work, op, begins FROM work_op");
  while (work.Step()) {
    Work* row = RowAt(&process->works, work.Int(0));
    if (row == nullptr) continue;
    row->op = work.Uint32(1);
    row->begins_op = work.Int(2) != 0;
  }
  CheckEnd(work, "work_op");
}

void Segment::ReadClock(ProcessTrace* process) {
  Query query = database_.Prepare(
      "SELECT ticks, monotonic_ns, realtime_ns, source_ns, width_ns FROM clock ORDER BY id");
  while (query.Step()) {
    process->clock_samples.push_back({static_cast<uint64_t>(query.Int(0)), query.Int(1),
                                      query.Int(2), query.Int(3),
                                      static_cast<uint64_t>(query.Int(4))});
  }
  CheckEnd(query, "clock");
}

void Segment::ReadUnknownAndNotes(ProcessTrace* process) {
  process->unknown.clear();
  Query unknown = database_.Prepare("SELECT start_ns, end_ns, reason FROM unknown ORDER BY id");
  while (unknown.Step()) {
    process->unknown.push_back({unknown.Int(0), unknown.Int(1), unknown.Text(2)});
  }
  CheckEnd(unknown, "unknown");
  process->notes.clear();
  Query note = database_.Prepare("SELECT time_ns, text FROM note ORDER BY id");
  while (note.Step()) process->notes.push_back({note.Int(0), note.Text(1)});
  CheckEnd(note, "note");
}

// Traces of the first versions do not have all tables.
bool Segment::HasTable(const char* name) {
  const std::string sql = std::string("SELECT 1 FROM sqlite_master WHERE name='") + name + "'";
  return database_.Prepare(sql.c_str()).Step();
}

// Each segment repeats them, one that was cut off perhaps not all.
void Segment::ReadGraphNodes(ProcessTrace* process) {
  if (!HasTable("graph_node")) return;
  const auto by_node = [](const GraphNode& a, const GraphNode& b) {
    return a.info.node < b.info.node;
  };
  std::vector<GraphNode> read;
  Query query = database_.Prepare("SELECT node, graph, type, operation, name FROM graph_node");
  while (query.Step()) {
    read.push_back({{static_cast<uint64_t>(query.Int(0)), query.Uint32(1), query.Uint32(2),
                     static_cast<LabelId>(query.Int(3))},
                    query.Text(4)});
  }
  CheckEnd(query, "graph_node");
  std::sort(read.begin(), read.end(), by_node);  // as unsigned numbers, unlike SQLite
  std::vector<GraphNode> known = std::move(process->graph_nodes);
  process->graph_nodes.clear();
  std::set_union(read.begin(), read.end(), known.begin(), known.end(),
                 std::back_inserter(process->graph_nodes), by_node);
}

void Segment::ReadContexts(ProcessTrace* process) {
  if (!HasTable("context")) return;
  process->contexts.clear();  // each segment repeats them
  Query query = database_.Prepare(
      "SELECT device, context, parent, multiprocessors, is_green FROM context ORDER BY 1, 2");
  while (query.Step()) {
    process->contexts.push_back(
        {query.Uint32(0), query.Uint32(1), query.Uint32(2), query.Uint32(3), query.Int(4) != 0});
  }
  CheckEnd(query, "context");
}

void Segment::ReadLedger(ProcessTrace* process) {
  Query query = database_.Prepare("SELECT counter, value FROM ledger");
  while (query.Step()) {
    const std::string name = query.Text(0);
    const auto value = static_cast<uint64_t>(query.Int(1));
    for (int i = 0; i < kLedgerCounterCount; ++i) {
      // Counters only grow, and each segment repeats them.
      uint64_t& counter = process->ledger[static_cast<size_t>(i)];
      if (name == kLedgerCounters[i].name) counter = std::max(counter, value);
    }
  }
  CheckEnd(query, "ledger");
}

std::vector<ChunkHead> Segment::ReadChunkHeads() {
  if (never_written_) return {};
  if (!Wake()) {
    damage_.tables.push_back({"chunk", kGoneMeanwhile});
    return {};
  }
  ChunkHeads read = gpubound::ReadChunkHeads(&database_);
  if (!read.whole) damage_.tables.push_back({"chunk", database_.LastErrorOf("chunk")});
  RestIfManyAreOpen();
  return std::move(read.heads);
}

std::vector<int64_t> Segment::MissingChunks(const std::vector<ChunkHead>& heads) const {
  if (never_written_ || damage_.Has("chunk")) return {};
  int64_t last = heads.empty() ? 0 : heads.back().id;
  const auto written = meta_.find("chunks");
  if (written != meta_.end()) {
    const int64_t said = ParseInt(written->second).value_or(0);
    last = std::max(last, std::min(said, last + kMostMissing));
  }
  std::vector<int64_t> missing;
  int64_t next = 1;
  for (const ChunkHead& head : heads) {
    for (; next < head.id && missing.size() < kMostMissing; ++next) missing.push_back(next);
    next = std::max(next, head.id + 1);
  }
  for (; next <= last && missing.size() < kMostMissing; ++next) missing.push_back(next);
  return missing;
}

void Segment::NoteMissingChunks(size_t found, size_t expected) {
  damage_.tables.push_back(
      {"chunk", "found " + Counted(found, "chunk") + ", expected " + std::to_string(expected)});
}

void Segment::RestIfManyAreOpen() {
  if (rests_ || !database_.CanBeOpenedAgain() || !Database::ManyAreOpen()) return;
  body_query_.reset();
  database_ = Database();
  rests_ = true;
}

// False where the file cannot be opened any more; queries fail then.
bool Segment::Wake() {
  if (!rests_) return true;
  Result<Database> opened = Database::OpenReadOnly(path_);
  if (!opened.ok()) return false;
  database_ = std::move(*opened);
  rests_ = false;
  return true;
}

bool Segment::ReadChunkBody(ChunkHead* head) {
  if (!Wake()) {
    ++damage_.chunks;
    damage_.events += head->row.event_count;
    return false;
  }
  if (!body_query_) body_query_ = database_.Prepare("SELECT body FROM chunk WHERE id=?1");
  body_query_->Bind(1, head->id);
  if (mapped_bytes_left_ == 0) {
    database_.MapAnew();
    mapped_bytes_left_ = kMostMapped;
  }
  if (!body_query_->Step()) {
    ++damage_.chunks;
    damage_.events += head->row.event_count;
    return false;
  }
  head->row.body = body_query_->Blob(0);
  mapped_bytes_left_ -= std::min(mapped_bytes_left_, head->row.body.size());
  return true;
}

}  // namespace gpubound
