// SPDX-License-Identifier: Apache-2.0
//
// A DeviceHost in memory: keeps everything that a source says, so that tests can ask for it. Thread
// safe, as a source calls it from several threads; read the members after the source has stopped.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_RECORDING_HOST_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_RECORDING_HOST_H_

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "libprofiler/device_source.h"

namespace gpubound {

class RecordingSink final : public DeviceSink {
 public:
  void Append(const ApiRecord& record) override { apis.push_back(record); }
  void Append(const DeviceRecord& record) override { devices.push_back(record); }
  void Append(const SyncRecord& record) override { syncs.push_back(record); }
  void Append(const OverheadRecord& record) override { overheads.push_back(record); }
  void Publish() override { ++publications; }

  std::vector<ApiRecord> apis;
  std::vector<DeviceRecord> devices;
  std::vector<SyncRecord> syncs;
  std::vector<OverheadRecord> overheads;
  int publications = 0;
};

class RecordingHost final : public DeviceHost {
 public:
  struct Label {
    LabelKind kind;
    std::string domain;
    std::string text;
  };
  struct Work {
    WorkInfo info;
    std::string name;
  };
  struct Stream {
    DeviceId device;
    uint32_t context;
    uint32_t stream;
  };
  struct Device {
    DeviceInfo info;
    std::string name;
  };
  struct GraphNode {
    GraphNodeInfo info;
    std::string name;
  };
  struct Client {
    DeviceClient client;
    std::string uuid;
    std::string name;
  };
  struct Unknown {
    int64_t from_ns;
    int64_t to_ns;
    std::string reason;
  };

  DeviceSink* NewSink() override { return sink_is_null ? nullptr : &sink; }

  LabelId InternLabel(LabelKind kind, std::string_view domain, std::string_view text) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    labels.push_back({kind, std::string(domain), std::string(text)});
    return static_cast<LabelId>(labels.size());
  }
  LabelId FindLabel(LabelKind kind, std::string_view domain, std::string_view text) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (size_t i = 0; i < labels.size(); ++i) {
      const Label& label = labels[i];
      if (label.kind == kind && label.domain == domain && label.text == text) {
        return static_cast<LabelId>(i + 1);
      }
    }
    return {};
  }
  WorkId InternWork(const WorkInfo& info, std::string_view name) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    works.push_back({info, std::string(name)});
    return static_cast<WorkId>(works.size());
  }
  StreamId InternStream(DeviceId device, uint32_t context, uint32_t stream) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    streams.push_back({device, context, stream});
    return static_cast<StreamId>(streams.size());
  }
  DeviceId DefineDevice(const DeviceInfo& info, std::string_view name) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    devices[info.index] = {info, std::string(name)};
    return static_cast<DeviceId>(info.index + 1);
  }

  void DefineContext(const ContextInfo& info) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    contexts.push_back(info);
  }
  void DefineGraphNode(const GraphNodeInfo& info, std::string_view name) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    graph_nodes.push_back({info, std::string(name)});
  }
  LabelId OpenOperation() override { return open_operation; }

  LabelId InternRange(std::string_view domain, std::string_view text) override {
    return InternLabel(LabelKind::kAnnotation, domain, text);
  }
  void BeginScope(LabelId label) override { Log("begin", label); }
  void EndScope(LabelId label) override { Log("end", label); }
  void StartRange(LabelId label, uint64_t) override { Log("start", label); }
  void EndRange(LabelId label, uint64_t) override { Log("finish", label); }
  void Mark(LabelId label) override { Log("mark", label); }

  void AddSample(const UtilizationSample& sample, std::string_view uuid) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    utilization.emplace_back(std::string(uuid), sample);
    ++samples;
  }
  void AddSample(const ProcessTreeSample& sample) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    process_trees.push_back(sample);
    ++samples;
  }

  void AddSample(const CounterSample& sample) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    counters.push_back(sample);
    ++samples;
  }
  void AddClient(const DeviceClient& client, std::string_view uuid,
                 std::string_view name) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    clients.push_back({client, std::string(uuid), std::string(name)});
  }
  uint64_t DevicesUsed() override {
    ++devices_asked;
    return devices_used;
  }

  void Count(LedgerCounter counter, uint64_t amount) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    counts[counter] += amount;
  }
  void MarkUnknown(int64_t from_ns, int64_t to_ns, std::string_view reason) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (Unknown& known : unknowns) {
      if (known.from_ns == from_ns && known.to_ns == INT64_MAX && known.reason == reason) {
        known.to_ns = to_ns;
        return;
      }
    }
    unknowns.push_back({from_ns, to_ns, std::string(reason)});
  }
  void DeliveredUntil(int64_t until_ns) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    delivered_until.push_back(until_ns);
    ++deliveries;
  }
  void Note(std::string_view text) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    notes.emplace_back(text);
  }
  void EndBeforeHandlersSoFar() override { ++exit_handlers; }
  void Fact(std::string_view key, std::string_view value) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    facts[std::string(key)] = value;
  }

  // What a test asks afterwards.
  const Label& LabelOf(LabelId id) const { return labels.at(Raw(id) - 1); }
  const Work& WorkOf(const DeviceRecord& record) const { return works.at(Raw(record.work) - 1); }
  const Stream& StreamOf(const DeviceRecord& record) const {
    return streams.at(Raw(record.stream) - 1);
  }
  uint64_t CountOf(LedgerCounter counter) const {
    const auto found = counts.find(counter);
    return found == counts.end() ? 0 : found->second;
  }

  bool sink_is_null = false;
  std::atomic<LabelId> open_operation{};
  RecordingSink sink;
  std::vector<Label> labels;
  std::vector<Work> works;
  std::vector<Stream> streams;
  std::map<uint32_t, Device> devices;
  std::vector<ContextInfo> contexts;
  std::vector<GraphNode> graph_nodes;
  std::vector<std::pair<std::string, UtilizationSample>> utilization;  // by uuid
  std::vector<ProcessTreeSample> process_trees;
  std::vector<CounterSample> counters;
  std::vector<Client> clients;
  std::atomic<uint64_t> devices_used{0};
  std::atomic<int> devices_asked{0};
  std::atomic<int> samples{0};
  std::map<LedgerCounter, uint64_t> counts;
  std::vector<Unknown> unknowns;
  std::vector<int64_t> delivered_until;
  std::atomic<int> deliveries{0};
  std::vector<std::string> notes;
  std::atomic<int> exit_handlers{0};
  std::map<std::string, std::string> facts;
  std::vector<std::string> scopes;  // "begin DOMAIN/TEXT", in order

 private:
  void Log(const char* what, LabelId label) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const Label& known = labels.at(Raw(label) - 1);
    scopes.push_back(std::string(what) + " " + known.domain + "/" + known.text);
  }

  std::mutex mutex_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_RECORDING_HOST_H_
