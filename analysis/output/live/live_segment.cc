// SPDX-License-Identifier: Apache-2.0
//
// Reads what is new in a segment. One object, one thread.
#include "analysis/output/live/live_segment.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "analysis/segments/row_at.h"
#include "analysis/segments/segment.h"
#include "analysis/trace/python_frames.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

int64_t ChangeOf(const std::string& path) {
  std::error_code error;
  const fs::file_time_type time = fs::last_write_time(path, error);
  return error ? 0 : time.time_since_epoch().count();
}

uint64_t SizeOf(const std::string& path) {
  std::error_code error;
  const uintmax_t size = fs::file_size(path, error);
  return error ? 0 : size;
}

}  // namespace

LiveSegment::Stamp LiveSegment::StampOf() const {
  const std::string log = path_ + "-wal";
  return {SizeOf(path_), SizeOf(log), ChangeOf(path_), ChangeOf(log)};
}

Status LiveSegment::Look(LiveFacts* facts) {
  chunks_.clear();
  const Stamp stamp = StampOf();
  if (seen_ == stamp) return Ok{};
  Result<Database> opened = Database::OpenReadOnly(path_);
  if (!opened.ok()) return opened.error();
  database_ = std::move(*opened);
  const int64_t version = database_->Scalar("PRAGMA user_version", -1);
  if (version != kTraceFormatVersion) {
    const bool damaged = version < 0 && stamp.log_size == 0 && !LacksFirstPage(path_) &&
                         database_->LastErrorWasDamage();
    const std::string why = damaged ? database_->LastError() : "";
    Rest();
    if (damaged) {
      return Error{"watching the trace", path_, why, "a database that can be read",
                   "What is left of it gpubound report shows."};
    }
    if (version <= 0) return Ok{};  // not written to yet
    return Error{"watching the trace", path_, "format version " + std::to_string(version),
                 "format version " + std::to_string(kTraceFormatVersion),
                 "Watch it with the gpubound that writes it."};
  }
  ReadRows(facts);
  chunks_ = ReadChunkHeads(&*database_, last_chunk_).heads;
  if (!chunks_.empty()) last_chunk_ = chunks_.back().id;
  seen_ = stamp;
  return Ok{};
}

void LiveSegment::ReadRows(LiveFacts* facts) {
  uint32_t main_tid = 0;
  Query meta = database_->Prepare("SELECT key, value FROM meta");
  while (meta.Step()) {
    const std::string key = meta.Text(0);
    if (key == "name") facts->name = meta.Text(1);
    if (key == "device_kind") facts->simulated = meta.Text(1) == "simulated";
    if (key == "start_monotonic_ns") facts->begin_ns = meta.Int(1);
    if (key == "end_monotonic_ns") facts->end_ns = meta.Int(1);
    if (key == "boot_id") facts->boot_id = meta.Text(1);
    if (key == "pid_namespace") facts->pid_namespace = meta.Int(1);
    if (key == "rank") facts->rank = meta.Int(1);
    if (key == "main_tid") main_tid = static_cast<uint32_t>(meta.Int(1));
  }
  Query label = database_->Prepare(
      "SELECT id, kind, layer, domain, text FROM label WHERE id > ?1 ORDER BY id");
  label.Bind(1, last_label_);
  while (label.Step()) {
    last_label_ = label.Int(0);
    if (Label* row = RowAt(&facts->labels, last_label_)) {
      *row = {static_cast<LabelKind>(label.Int(1)), static_cast<Layer>(label.Int(2) & 7),
              label.Text(3), label.Text(4)};
    }
  }
  Query device = database_->Prepare("SELECT id, ordinal, uuid, name FROM device");
  while (device.Step()) {
    if (Device* row = RowAt(&facts->devices, device.Int(0))) {
      row->info.index = static_cast<uint32_t>(device.Int(1));
      row->uuid = device.Text(2);
      row->name = device.Text(3);
    }
  }
  Query stream = database_->Prepare("SELECT id, device FROM stream");
  while (stream.Step()) {
    if (Stream* row = RowAt(&facts->streams, stream.Int(0))) {
      row->device = static_cast<DeviceId>(stream.Int(1));
    }
  }
  Query thread = database_->Prepare("SELECT id, tid FROM thread");
  while (thread.Step()) {
    const auto tid = static_cast<uint32_t>(thread.Int(1));
    if (uint32_t* row = RowAt(&facts->tids, thread.Int(0))) *row = tid;
    if (tid == main_tid) facts->main_thread = static_cast<uint32_t>(thread.Int(0));
  }
  ReadFrames(&facts->python);
  Query clock =
      database_->Prepare("SELECT monotonic_ns, realtime_ns FROM clock ORDER BY id DESC LIMIT 1");
  if (clock.Step()) {
    facts->latest_ns = std::max(facts->latest_ns, clock.Int(0));
    facts->sampled_realtime_ns = std::max(facts->sampled_realtime_ns, clock.Int(1));
    facts->realtime_ahead_ns = clock.Int(1) - clock.Int(0);
  }
  facts->delivered_ns.reset();
  Query unknown = database_->Prepare("SELECT start_ns, reason FROM unknown");
  while (unknown.Step()) {
    if (unknown.Text(1) == kUndeliveredReason) facts->delivered_ns = unknown.Int(0);
  }
}

// A frame whose caller or function is not there is left out, and so are those that it called.
void LiveSegment::ReadFrames(ProcessFacts* python) {
  Query functions =
      database_->Prepare("SELECT id, file, name FROM function WHERE id > ?1 ORDER BY id");
  functions.Bind(1, last_function_);
  while (functions.Step()) {
    last_function_ = functions.Int(0);
    if (Function* row = RowAt(&python->functions, last_function_)) {
      *row = {functions.Text(1), functions.Text(2)};
    }
  }
  Query frames =
      database_->Prepare("SELECT id, caller, function, line FROM frame WHERE id > ?1 ORDER BY id");
  frames.Bind(1, last_frame_);
  while (frames.Step()) {
    last_frame_ = frames.Int(0);
    const int64_t caller = frames.Int(1);
    const int64_t function = frames.Int(2);
    const bool has_function = function > 0 && std::cmp_less(function, python->functions.size());
    if (!has_function || !MayHaveCaller(last_frame_, caller, *python)) continue;
    if (Frame* row = RowAt(&python->frames, last_frame_)) {
      *row = {static_cast<FrameId>(caller), static_cast<FunctionId>(function),
              static_cast<uint32_t>(frames.Int(3))};
    }
  }
}

void LiveSegment::ReadChunks(const std::function<bool(const ChunkRow&)>& wanted,
                             const std::function<void(const ChunkRow&)>& take) {
  if (!database_) return;
  Query query = database_->Prepare("SELECT body FROM chunk WHERE id = ?1");
  for (auto& [id, row] : chunks_) {
    if (!wanted(row)) continue;
    query.Bind(1, id);
    if (!query.Step()) continue;
    row.body = query.Blob(0);
    take(row);
    row.body = {};
  }
}

void LiveSegment::Rest() {
  database_.reset();
  chunks_.clear();
}

}  // namespace gpubound
