// SPDX-License-Identifier: Apache-2.0
//
// Rows about devices: the devices, their streams, the distinct pieces of work (kernel name and
// launch geometry), the nodes of graphs, samples, time that is unknown, and notes. Any thread; one
// lock, of the interner's rank.
#ifndef GPUBOUND_LIBPROFILER_DEVICE_TABLES_H_
#define GPUBOUND_LIBPROFILER_DEVICE_TABLES_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libprofiler/interner.h"
#include "libprofiler/ledger.h"
#include "libprofiler/row_journal.h"
#include "proto/event_model.h"

namespace gpubound {

struct DeviceRow {
  DeviceId id;
  DeviceInfo info;
  std::string name;
};

struct StreamRow {
  StreamId id;
  DeviceId device;
  uint32_t context;
  uint32_t stream;
};

struct WorkRow {
  WorkId id;
  WorkInfo info;
  std::string name;
};

struct GraphNodeRow {
  GraphNodeInfo info;
  std::string name;
};

struct UtilizationRow {
  UtilizationSample sample;
  std::string uuid;
};

struct DeviceClientRow {
  DeviceClient client;
  std::string uuid;
  std::string name;
};

struct UnknownRow {
  int64_t id;
  int64_t from_ns;
  int64_t to_ns;
  std::string reason;
};

struct NoteRow {
  int64_t id;
  int64_t time_ns;
  std::string text;
};

struct FactRow {
  std::string key;
  std::string value;
};

// Where a reader of the tables stands.
struct DeviceTablePositions {
  size_t devices = 0, contexts = 0, streams = 0, works = 0, graph_nodes = 0, clients = 0,
         unknowns = 0, notes = 0, facts = 0;
};

struct DeviceTableRows {
  std::vector<DeviceRow> devices;
  std::vector<ContextInfo> contexts;
  std::vector<StreamRow> streams;
  std::vector<WorkRow> works;
  std::vector<GraphNodeRow> graph_nodes;
  std::vector<DeviceClientRow> clients;
  std::vector<UnknownRow> unknowns;
  std::vector<NoteRow> notes;
  std::vector<FactRow> facts;
  // Given out once, unlike the others.
  std::vector<UtilizationRow> utilization;
  std::vector<ProcessTreeSample> process_trees;
  std::vector<CounterSample> counters;
  bool empty() const {
    return devices.empty() && contexts.empty() && streams.empty() && works.empty() &&
           graph_nodes.empty() && clients.empty() && unknowns.empty() && notes.empty() &&
           facts.empty() && utilization.empty() && process_trees.empty() && counters.empty();
  }
  void clear() { *this = DeviceTableRows(); }
};

class DeviceTables {
 public:
  explicit DeviceTables(Ledger* ledger) : ledger_(ledger) {}

  WorkId InternWork(const WorkInfo& info, std::string_view name);
  StreamId InternStream(DeviceId device, uint32_t context, uint32_t stream);
  DeviceId DefineDevice(const DeviceInfo& info, std::string_view name);
  void DefineContext(const ContextInfo& info);
  void DefineGraphNode(const GraphNodeInfo& info, std::string_view name);

  // Kept until they are copied out; a writer that has stopped does not let them grow for ever: what
  // comes beyond that is counted.
  void AddSample(const UtilizationSample& sample, std::string_view uuid);
  void AddSample(const ProcessTreeSample& sample);
  void AddSample(const CounterSample& sample);

  // As DeviceHost::AddClient. Beyond a thousand they are counted as samples that were dropped.
  void AddClient(const DeviceClient& client, std::string_view uuid, std::string_view name);

  // A second interval with the same |from_ns| and reason ends the first.
  void MarkUnknown(int64_t from_ns, int64_t to_ns, std::string_view reason);
  void AddNote(int64_t time_ns, std::string_view text);
  void AddFact(std::string_view key, std::string_view value);

  void CopyRowsSince(DeviceTablePositions* positions, DeviceTableRows* out);

  enum class Kind { kNone, kReal, kSimulated };
  Kind device_kind();

  // As DeviceHost::DevicesUsed. Takes no lock.
  uint64_t DevicesUsed() const { return devices_used_.load(std::memory_order_relaxed); }

 private:
  void NoteUsed(DeviceId device);

  Ledger* const ledger_;
  std::atomic<uint64_t> devices_used_{0};
  std::mutex mutex_;
  StringMap<WorkId> work_ids_;
  std::unordered_map<std::string, StreamId> stream_ids_;
  RowJournal<DeviceRow> devices_;
  RowJournal<ContextInfo> contexts_;
  RowJournal<StreamRow> streams_;
  RowJournal<WorkRow> works_;
  RowJournal<GraphNodeRow> graph_nodes_;
  std::vector<UtilizationRow> utilization_;
  std::vector<ProcessTreeSample> process_trees_;
  std::vector<CounterSample> counters_;
  RowJournal<DeviceClientRow> clients_;
  RowJournal<UnknownRow> unknowns_;
  RowJournal<NoteRow> notes_;
  RowJournal<FactRow> facts_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_DEVICE_TABLES_H_
