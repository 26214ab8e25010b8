// SPDX-License-Identifier: Apache-2.0
//
// Encodes chunks and writes rows as the recorder does. One object, one thread.
#include "analysis/import/import_segment.h"

#include <algorithm>

#include "analysis/segments/trace_file_name.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

// A chunk of this size is some tens of kilobytes, as the recorder's are.
constexpr size_t kItemsPerChunk = 8192;

constexpr uint32_t kFirstOrdinal = 1;

void Use(std::vector<bool>* used, uint32_t id) {
  if (id >= used->size()) used->resize(size_t{id} + 1);
  (*used)[id] = true;
}

EncodedChunk Encode(ChunkEncoder* encoder, const ChunkMeta& meta,
                    const std::vector<ApiRecord>& records) {
  return encoder->EncodeApi(meta, records, ClockConversion());
}
EncodedChunk Encode(ChunkEncoder* encoder, const ChunkMeta& meta,
                    const std::vector<DeviceRecord>& records) {
  return encoder->EncodeDevice(meta, records, ClockConversion());
}
EncodedChunk Encode(ChunkEncoder* encoder, const ChunkMeta& meta,
                    const std::vector<SyncRecord>& records) {
  return encoder->EncodeSync(meta, records, ClockConversion());
}

int64_t Signed(uint64_t ns) { return static_cast<int64_t>(ns); }

}  // namespace

ImportSegment::ImportSegment(const std::string& folder, const ProcessIdentity& identity,
                             const ForeignNames* names, ImportFiles* files)
    : path_(folder + "/" + TraceFileStem(identity) + ".0.db"), names_(names), files_(*files) {
  Meta("host", identity.host);
  Meta("pid", identity.pid);
  Meta("start_realtime_ns", identity.start_realtime_ns);
  Meta("parent_pid", 0);
  Meta("segment", 0);
  Meta("sealed", 1);
  Meta("version", GPUBOUND_VERSION);
  Meta("ticks", "monotonic");
  Meta("device_kind", "imported");
  Meta("end_how", "import");
}

void ImportSegment::Count(LedgerCounter counter, uint64_t value) {
  ledger_[static_cast<size_t>(counter)] += value;
}

void ImportSegment::AddUnknown(int64_t begin_ns, int64_t end_ns, const std::string& reason) {
  begin_ns = std::max(begin_ns, begin_ns_);
  end_ns = std::min(end_ns, end_ns_);
  if (begin_ns >= end_ns) return;
  unknown_.push_back({begin_ns, end_ns, reason});
  if (unknown_.size() >= kItemsPerChunk) PutUnknown();
}

void ImportSegment::PutUnknown() {
  for (const Unknown& time : unknown_) {
    Insert("unknown(start_ns,end_ns,reason)", {time.begin_ns, time.end_ns, time.reason});
  }
  unknown_.clear();
}

void ImportSegment::See(int64_t begin_ns, int64_t end_ns) {
  begin_ns_ = std::min(begin_ns_, begin_ns);
  end_ns_ = std::max(end_ns_, end_ns);
}

void ImportSegment::Fail(const Error& error) {
  if (!failed_) failed_ = error;
}

Status ImportSegment::Checked() const { return failed_ ? Status(*failed_) : Status(Ok{}); }

Database* ImportSegment::Open() {
  const Result<Database*> database = files_.Use(path_, is_new_);
  is_new_ = false;
  if (database.ok()) return *database;
  Fail(database.error());
  return nullptr;
}

void ImportSegment::Insert(const std::string& table, std::initializer_list<SqlValue> values) {
  Database* const database = failed_ ? nullptr : Open();
  if (database == nullptr || database->Insert(table, values)) return;
  Fail(ImportFiles::NoRoom(path_, database->LastError()));
}

void ImportSegment::Execute(const char* sql) {
  Database* const database = failed_ ? nullptr : Open();
  if (database == nullptr) return;
  Query query = database->Prepare(sql);
  query.Step();
  if (query.failed()) Fail(ImportFiles::NoRoom(path_, database->LastError()));
}

Status ImportSegment::BeginThread(uint32_t index) {
  const Status events = FlushThread();
  if (!events.ok()) return events;
  const Status calls = Flush(&calls_);
  if (!calls.ok()) return calls;
  threads_.push_back(index);
  const auto ordinal = static_cast<uint32_t>(threads_.size() - 1 + kFirstOrdinal);
  slots_ = {ordinal, 0, {}};
  calls_ = {ordinal, 0, {}};
  open_labels_.clear();
  not_before_ns_ = INT64_MIN;
  return Ok{};
}

Status ImportSegment::Add(const NestedEvent& event) {
  See(event.time_ns, event.time_ns);
  const bool far =
      !slots_.items.empty() && static_cast<uint64_t>(event.time_ns - base_ns_) > kMaxSlotTicks;
  if (far || slots_.items.size() >= kItemsPerChunk) {
    const Status flushed = FlushThread();
    if (!flushed.ok()) return flushed;
  }
  if (slots_.items.empty()) base_ns_ = event.time_ns;
  slots_.items.push_back(
      MakeSlot(event.kind, event.label, static_cast<uint64_t>(event.time_ns - base_ns_)));
  if (HasPayload(event.kind)) slots_.items.push_back(event.payload);
  Use(&labels_used_, Raw(event.label));
  return Ok{};
}

Status ImportSegment::FlushThread() {
  if (slots_.items.empty()) return Ok{};
  ChunkMeta meta;
  meta.thread = slots_.writer;
  meta.first_sequence = slots_.next_sequence;
  meta.not_before_ns = not_before_ns_;
  const EncodedChunk chunk = encoder_.EncodeThread(meta, static_cast<uint64_t>(base_ns_),
                                                   open_labels_, slots_.items, ClockConversion());
  slots_.next_sequence += chunk.sequence_count;
  not_before_ns_ = chunk.max_ns;
  open_labels_.assign(chunk.open_labels_after.begin(), chunk.open_labels_after.end());
  slots_.items.clear();
  return Put(chunk);
}

template <typename Record>
Status ImportSegment::AddRecord(Batch<Record>* batch, const Record& record) {
  See(Signed(record.start_ns), Signed(record.end_ns));
  batch->items.push_back(record);
  return batch->items.size() < kItemsPerChunk ? Status(Ok{}) : Flush(batch);
}

template <typename Record>
Status ImportSegment::Flush(Batch<Record>* batch) {
  if (batch->items.empty()) return Ok{};
  ChunkMeta meta;
  meta.thread = batch->writer;
  meta.first_sequence = batch->next_sequence;
  const EncodedChunk chunk = Encode(&encoder_, meta, batch->items);
  batch->next_sequence += batch->items.size();
  batch->items.clear();
  return Put(chunk);
}

Status ImportSegment::Add(const ApiRecord& call) {
  ApiRecord record = call;
  record.tid = names_->threads()[threads_.back()].tid;
  Use(&labels_used_, Raw(record.label));
  return AddRecord(&calls_, record);
}

Status ImportSegment::Add(const DeviceRecord& work) {
  work_.writer = DeviceWriter();
  Use(&streams_used_, Raw(work.stream));
  Use(&devices_used_, Raw(names_->streams()[Raw(work.stream)].device));
  Use(&works_used_, Raw(work.work));
  has_ops_ = has_ops_ || names_->works()[Raw(work.work)].op != 0;
  work_end_ns_ = std::max(work_end_ns_, Signed(work.end_ns));
  return AddRecord(&work_, work);
}

Status ImportSegment::Add(const SyncRecord& sync) {
  syncs_.writer = DeviceWriter();
  return AddRecord(&syncs_, sync);
}

Status ImportSegment::Put(const EncodedChunk& chunk) {
  if (!chunk.ok) Fail(ImportFiles::NoRoom(path_, "a chunk of events that could not be encoded"));
  Insert(
      "chunk(family,thread,first_sequence,sequence_count,event_count,min_ns,max_ns,compression,"
      "raw_bytes,crc,body)",
      {chunk.family, chunk.thread, chunk.first_sequence, chunk.sequence_count, chunk.event_count,
       chunk.min_ns, chunk.max_ns, chunk.compression, chunk.raw_bytes, chunk.crc,
       SqlValue(chunk.body)});
  ++chunks_;
  return Checked();
}

void ImportSegment::PutRows() {
  for (size_t i = 0; i < threads_.size(); ++i) {
    const ForeignThread& thread = names_->threads()[threads_[i]];
    Insert("thread", {i + kFirstOrdinal, thread.tid, names_->NameOfThread(threads_[i])});
  }
  for (size_t id = 1; id < labels_used_.size(); ++id) {
    if (!labels_used_[id]) continue;
    const Label& label = names_->labels()[id];
    Insert("label", {id, label.kind, label.layer, label.domain, label.text});
  }
  for (size_t id = 1; id < works_used_.size(); ++id) {
    if (!works_used_[id]) continue;
    const Work& work = names_->works()[id];
    const WorkInfo& info = work.info;
    Insert("work",
           {id, info.kind, info.copy_kind, work.name, info.grid[0], info.grid[1], info.grid[2],
            info.block[0], info.block[1], info.block[2], info.registers_per_thread,
            info.static_shared_bytes, info.dynamic_shared_bytes});
  }
  PutDeviceRows();
  if (has_ops_) PutOpRows();
  for (size_t i = 0; i < ledger_.size(); ++i) {
    if (ledger_[i] != 0) {
      Insert("ledger", {kLedgerCounters[i].name, ledger_[i]});
    }
  }
}

void ImportSegment::PutDeviceRows() {
  for (size_t id = 1; id < streams_used_.size(); ++id) {
    if (!streams_used_[id]) continue;
    const Stream& stream = names_->streams()[id];
    Insert("stream", {id, stream.device, stream.context, stream.stream});
  }
  for (size_t id = 1; id < names_->devices().size(); ++id) {
    if (!lists_all_devices_ && !UsesDevice(static_cast<DeviceId>(id))) continue;
    const Device& device = names_->devices()[id];
    const DeviceInfo& info = device.info;
    Insert("device",
           {id, info.index, device.uuid, device.name, info.multiprocessors,
            info.max_warps_per_multiprocessor, info.max_blocks_per_multiprocessor,
            info.max_registers_per_multiprocessor, info.max_shared_bytes_per_multiprocessor,
            info.threads_per_warp, info.compute_capability_major, info.compute_capability_minor,
            info.memory_bytes, 0});
  }
}

void ImportSegment::PutOpRows() {
  std::vector<bool> ops_used;
  for (size_t id = 1; id < works_used_.size(); ++id) {
    const Work& work = names_->works()[id];
    if (!works_used_[id] || work.op == 0) continue;
    Use(&ops_used, work.op);
    Insert("work_op", {id, work.op, work.begins_op ? 1 : 0});
  }
  for (size_t id = 1; id < ops_used.size(); ++id) {
    if (!ops_used[id]) continue;
    const Op& op = names_->ops()[id];
    Insert("op", {id, op.name, op.dims, op.types, op.values});
  }
}

Status ImportSegment::Finish() {
  for (const Status& flushed : {FlushThread(), Flush(&calls_), Flush(&work_), Flush(&syncs_)}) {
    if (!flushed.ok()) return flushed;
  }
  if (begin_ns_ > end_ns_) begin_ns_ = end_ns_ = 0;
  Meta("start_monotonic_ns", begin_ns_);
  Meta("end_monotonic_ns", end_ns_);
  Meta("chunks", chunks_);
  Meta("row_counts", kCountedTables + (has_ops_ ? kCountedOpTables : 0));
  for (const auto& [key, text] : text_meta_) Insert("meta", {key, text});
  for (const auto& [key, number] : number_meta_) Insert("meta", {key, number});
  for (const std::string& note : notes_) Insert("note(time_ns,text)", {0, note});
  PutUnknown();
  if (has_ops_) {
    Execute(kOpTableSql);
    Execute(kWorkOpTableSql);
  }
  PutRows();
  Execute(kCountRowsSql);
  if (has_ops_) Execute(kCountOpRowsSql);
  return failed_ ? Status(*failed_) : files_.Close(path_);
}

}  // namespace gpubound
