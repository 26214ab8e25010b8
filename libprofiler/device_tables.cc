// SPDX-License-Identifier: Apache-2.0
//
// Interns device rows. Rows are bounded by what a program launches: names and geometries, not
// calls.
#include "libprofiler/device_tables.h"

#include <cstring>
#include <utility>

#include "libprofiler/utf8.h"

namespace gpubound {
namespace {

// Beyond this many distinct (name, geometry) pairs, geometry is dropped, then the name: a program
// whose grids follow its data would otherwise grow the table for ever.
constexpr size_t kMaxWorksWithGeometry = 200'000;
constexpr size_t kMaxWorks = 400'000;
constexpr size_t kMaxStreams = 100'000;  // and then one for each context
constexpr uint32_t kOtherStreams = UINT32_MAX;
constexpr size_t kMaxContexts = 10'000;  // one that is told again replaces its row in the trace
// A program that captures anew in each iteration would do so too.
constexpr size_t kMaxGraphNodes = 200'000;
constexpr size_t kMaxSamples = 10'000;  // between two transactions, a second apart

template <typename T>
void AppendBytes(std::string* key, const T& value) {
  key->append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string WorkKey(const WorkInfo& info, std::string_view name) {
  std::string key;
  key.reserve(64 + name.size());
  AppendBytes(&key, info.kind);
  AppendBytes(&key, info.copy_kind);
  AppendBytes(&key, info.grid);
  AppendBytes(&key, info.block);
  AppendBytes(&key, info.registers_per_thread);
  AppendBytes(&key, info.static_shared_bytes);
  AppendBytes(&key, info.dynamic_shared_bytes);
  key.append(name);
  return key;
}

std::string StreamKey(DeviceId device, uint32_t context, uint32_t stream) {
  std::string key;
  AppendBytes(&key, device);
  AppendBytes(&key, context);
  AppendBytes(&key, stream);
  return key;
}

}  // namespace

WorkId DeviceTables::InternWork(const WorkInfo& info, std::string_view name) {
  const std::string_view cut = CutUtf8(name, kMaxNameBytes);
  std::string key = WorkKey(info, cut);
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = work_ids_.find(key); found != work_ids_.end()) return found->second;
  WorkInfo stored = info;
  std::string_view stored_name = cut;
  if (works_.size() >= kMaxWorksWithGeometry) {
    stored = WorkInfo{.kind = info.kind, .copy_kind = info.copy_kind};
    if (works_.size() >= kMaxWorks) stored_name = kOtherNames;
    key = WorkKey(stored, stored_name);
    ledger_->Add(LedgerCounter::labels_overflowed, 1);
    if (const auto found = work_ids_.find(key); found != work_ids_.end()) return found->second;
  }
  if (cut.size() != name.size()) ledger_->Add(LedgerCounter::names_truncated, 1);
  const WorkId id = static_cast<WorkId>(works_.size() + 1);
  works_.Add({id, stored, std::string(stored_name)});
  work_ids_.emplace(std::move(key), id);
  return id;
}

StreamId DeviceTables::InternStream(DeviceId device, uint32_t context, uint32_t stream) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::string key = StreamKey(device, context, stream);
  if (streams_.size() >= kMaxStreams && !stream_ids_.contains(key)) {
    ledger_->Add(LedgerCounter::labels_overflowed, 1);
    stream = kOtherStreams;
    key = StreamKey(device, context, stream);
  }
  const auto [place, inserted] =
      stream_ids_.try_emplace(std::move(key), static_cast<StreamId>(streams_.size() + 1));
  if (inserted) {
    streams_.Add({place->second, device, context, stream});
    NoteUsed(device);
  }
  return place->second;
}

DeviceId DeviceTables::DefineDevice(const DeviceInfo& info, std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_.row(i).info.index != info.index) continue;
    DeviceRow& row = devices_.Replace(i);
    row.info = info;
    row.name = CutUtf8(name, kMaxNameBytes);
    return row.id;
  }
  const DeviceId id = static_cast<DeviceId>(devices_.size() + 1);
  devices_.Add({id, info, std::string(CutUtf8(name, kMaxNameBytes))});
  return id;
}

void DeviceTables::DefineContext(const ContextInfo& info) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (contexts_.size() < kMaxContexts) contexts_.Add(info);
}

void DeviceTables::DefineGraphNode(const GraphNodeInfo& info, std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (graph_nodes_.size() >= kMaxGraphNodes) {
    ledger_->Add(LedgerCounter::graph_nodes_not_kept, 1);
    return;
  }
  graph_nodes_.Add({info, std::string(CutUtf8(name, kMaxNameBytes))});
}

void DeviceTables::AddSample(const UtilizationSample& sample, std::string_view uuid) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (utilization_.size() >= kMaxSamples) return ledger_->Add(LedgerCounter::samples_dropped, 1);
  utilization_.push_back({sample, std::string(uuid)});
}

void DeviceTables::AddSample(const ProcessTreeSample& sample) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (process_trees_.size() >= kMaxSamples) return ledger_->Add(LedgerCounter::samples_dropped, 1);
  process_trees_.push_back(sample);
}

void DeviceTables::AddSample(const CounterSample& sample) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (counters_.size() >= kMaxSamples) return ledger_->Add(LedgerCounter::counter_samples_lost, 1);
  counters_.push_back(sample);
}

void DeviceTables::AddClient(const DeviceClient& client, std::string_view uuid,
                             std::string_view name) {
  constexpr size_t kMaxClients = 1000;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < clients_.size(); ++i) {
    const DeviceClientRow& known = clients_.row(i);
    if (known.client.pid == client.pid && known.client.first_ns == client.first_ns &&
        known.uuid == uuid) {
      clients_.Replace(i).client = client;
      return;
    }
  }
  if (clients_.size() >= kMaxClients) return ledger_->Add(LedgerCounter::samples_dropped, 1);
  clients_.Add({client, std::string(uuid), std::string(CutUtf8(name, kMaxNameBytes))});
}

void DeviceTables::MarkUnknown(int64_t from_ns, int64_t to_ns, std::string_view reason) {
  const std::string_view cut = CutUtf8(reason, kMaxNameBytes);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < unknowns_.size(); ++i) {
    const UnknownRow& known = unknowns_.row(i);
    if (known.from_ns == from_ns && known.to_ns == INT64_MAX && known.reason == cut) {
      unknowns_.Replace(i).to_ns = to_ns;
      return;
    }
  }
  const int64_t id = static_cast<int64_t>(unknowns_.size() + 1);
  unknowns_.Add({id, from_ns, to_ns, std::string(cut)});
}

void DeviceTables::AddNote(int64_t time_ns, std::string_view text) {
  constexpr size_t kMaxNotes = 1000;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (notes_.size() >= kMaxNotes) return;
  const int64_t id = static_cast<int64_t>(notes_.size() + 1);
  notes_.Add({id, time_ns, std::string(CutUtf8(text, kMaxNameBytes))});
}

void DeviceTables::AddFact(std::string_view key, std::string_view value) {
  const std::lock_guard<std::mutex> lock(mutex_);
  facts_.Add({std::string(key), std::string(CutUtf8(value, kMaxNameBytes))});
}

void DeviceTables::CopyRowsSince(DeviceTablePositions* positions, DeviceTableRows* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  devices_.CopySince(&positions->devices, &out->devices);
  contexts_.CopySince(&positions->contexts, &out->contexts);
  streams_.CopySince(&positions->streams, &out->streams);
  works_.CopySince(&positions->works, &out->works);
  graph_nodes_.CopySince(&positions->graph_nodes, &out->graph_nodes);
  clients_.CopySince(&positions->clients, &out->clients);
  unknowns_.CopySince(&positions->unknowns, &out->unknowns);
  notes_.CopySince(&positions->notes, &out->notes);
  facts_.CopySince(&positions->facts, &out->facts);
  out->utilization.insert(out->utilization.end(), utilization_.begin(), utilization_.end());
  out->process_trees.insert(out->process_trees.end(), process_trees_.begin(), process_trees_.end());
  out->counters.insert(out->counters.end(), counters_.begin(), counters_.end());
  utilization_.clear();
  process_trees_.clear();
  counters_.clear();
}

// Ids are places from 1 on.
void DeviceTables::NoteUsed(DeviceId device) {
  if (Raw(device) == 0 || Raw(device) > devices_.size()) return;
  const uint32_t index = devices_.row(Raw(device) - 1).info.index;
  if (index < 64) devices_used_.fetch_or(uint64_t{1} << index, std::memory_order_relaxed);
}

DeviceTables::Kind DeviceTables::device_kind() {
  const std::lock_guard<std::mutex> lock(mutex_);
  Kind kind = Kind::kNone;
  for (size_t i = 0; i < devices_.size(); ++i) {
    if (devices_.row(i).info.simulated) return Kind::kSimulated;
    kind = Kind::kReal;
  }
  return kind;
}

}  // namespace gpubound
