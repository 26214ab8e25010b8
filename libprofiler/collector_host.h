// SPDX-License-Identifier: Apache-2.0
//
// The collector as its device sources see it (device_source.h). Any thread.
#ifndef GPUBOUND_LIBPROFILER_COLLECTOR_HOST_H_
#define GPUBOUND_LIBPROFILER_COLLECTOR_HOST_H_

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "libprofiler/device_source.h"
#include "libprofiler/record_sink.h"
#include "libprofiler/thread_buffer.h"

namespace gpubound {

class Collector;

class CollectorHost final : public DeviceHost {
 public:
  // |collector| outlives the host.
  explicit CollectorHost(Collector* collector) : collector_(collector) {}

  DeviceSink* NewSink() override;
  LabelId InternLabel(LabelKind kind, std::string_view domain, std::string_view text) override;
  LabelId FindLabel(LabelKind kind, std::string_view domain, std::string_view text) override;
  WorkId InternWork(const WorkInfo& info, std::string_view name) override;
  StreamId InternStream(DeviceId device, uint32_t context, uint32_t stream) override;
  DeviceId DefineDevice(const DeviceInfo& info, std::string_view name) override;
  void DefineContext(const ContextInfo& info) override;
  void DefineGraphNode(const GraphNodeInfo& info, std::string_view name) override;
  LabelId OpenOperation() override;

  LabelId InternRange(std::string_view domain, std::string_view text) override;
  void BeginScope(LabelId label) override;
  void EndScope(LabelId label) override;
  void StartRange(LabelId label, uint64_t range) override;
  void EndRange(LabelId label, uint64_t range) override;
  void Mark(LabelId label) override;

  void AddSample(const UtilizationSample& sample, std::string_view uuid) override;
  void AddSample(const ProcessTreeSample& sample) override;
  void AddSample(const CounterSample& sample) override;
  void AddClient(const DeviceClient& client, std::string_view uuid, std::string_view name) override;
  uint64_t DevicesUsed() override;

  void Count(LedgerCounter counter, uint64_t amount) override;
  void MarkUnknown(int64_t from_ns, int64_t to_ns, std::string_view reason) override;
  void DeliveredUntil(int64_t until_ns) override;
  void Note(std::string_view text) override;
  void EndBeforeHandlersSoFar() override;
  void Fact(std::string_view key, std::string_view value) override;

  // The process's collector finds the calling thread's buffer in its thread-local pointer. A
  // collector of a test, of which there may be several, keeps a table instead.
  void UseThreadLocal() { use_thread_local_ = true; }

 private:
  ThreadBuffer* CallingThread();
  // Rows of devices, streams and works are in no live mapping: a kill leaves those that were
  // written.
  void WriteRowsSoon();

  Collector* const collector_;
  bool use_thread_local_ = false;
  std::mutex mutex_;
  std::vector<std::unique_ptr<RecordSink>> sinks_;
  std::unordered_map<uint32_t, ThreadBuffer*> buffers_;  // by tid, without thread-local pointer
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_COLLECTOR_HOST_H_
