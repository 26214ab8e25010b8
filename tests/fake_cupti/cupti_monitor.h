// SPDX-License-Identifier: Apache-2.0
//
// The inside of the stand-in libcupti.so.13: turns what the simulated runtime does into CUPTI
// records and callbacks, for the kinds and functions that a client enabled, with the faults that
// the script asks for. The C functions (cupti_activity_api.cc, cupti_callback_api.cc) are thin.
//
// Thread safe. Calls the client's code only with no lock held.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_CUPTI_MONITOR_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_CUPTI_MONITOR_H_

#include <cupti.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "tests/fake_cupti/activity_buffers.h"
#include "tests/fake_cupti/gpu_runtime.h"
#include "tests/fake_cupti/profiler_tap.h"
#include "tests/sim/include/gpubound_sim.h"

namespace gpubound::sim {

inline constexpr uint32_t kMaxCallbackIds = 1024;
inline constexpr uint32_t kMaxKinds = 64;

class CuptiMonitor : public ProfilerTap {
 public:
  // The process's monitor; from then on the runtime is watched. Never destroyed.
  static CuptiMonitor& Get();

  uint32_t version() const { return script_.cupti_version; }
  const CuptiFaults& faults() const { return script_.faults; }
  ActivityBuffers& buffers() { return buffers_; }

  CUptiResult EnableKind(uint32_t kind, bool enable, bool dump);
  bool IsEnabled(uint32_t kind) const { return kinds_[kind].load(std::memory_order_relaxed); }
  bool IsAnyEnabled() const;
  CUptiResult EnableFunction(ApiDomain domain, uint32_t cbid, bool enable);
  void set_thread_id_type(CUpti_ActivityThreadIdType type) { thread_id_type_ = type; }
  CUpti_ActivityThreadIdType thread_id_type() const { return thread_id_type_; }
  void FlushAll(bool forced);
  bool has_made_records() const { return records_ != 0; }
  // After a fatal error: nothing is recorded any more, and every flush fails.
  bool has_ended_itself() const { return has_ended_itself_; }
  // What this copy of the library fails with where it needs the GPU.
  CUptiResult UnusableHere() const;

  CUptiResult Subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback, void* userdata,
                        CUpti_SubscriberParams* params);
  CUptiResult Unsubscribe(CUpti_SubscriberHandle handle);
  // The subscription is one of the interface in which every call names its subscriber, or another
  // tool's is: the older calls then fail.
  bool per_subscriber() const { return per_subscriber_ || !faults().shared_by.empty(); }
  bool IsSubscriber(CUpti_SubscriberHandle handle) const;
  CUptiResult SubscribeShared(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                              void* userdata, CUpti_SubscriberParams* params);
  CUptiResult EnableCallback(CUpti_SubscriberHandle handle, uint32_t domain, uint32_t cbid,
                             bool enable);
  CUptiResult EnableDomain(CUpti_SubscriberHandle handle, uint32_t domain, bool enable);
  bool IsCallbackEnabled(uint32_t domain, uint32_t cbid) const;

  gpubound_sim_listening Listening() const;

  // ProfilerTap
  bool ApiEnter(ApiInfo* info) override;
  void ApiExit(ApiInfo* info) override;
  uint64_t Reserve(const OpSpec& op, const Place& place, const CopyEnds& ends) override;
  bool RecordsGraphsWhole() override { return IsEnabled(CUPTI_ACTIVITY_KIND_GRAPH_TRACE); }
  uint64_t ReserveGraph(uint32_t graph, uint32_t correlation, const Place& place) override;
  void Complete(uint64_t token, TimeNs start_ns, TimeNs end_ns) override;
  void Synchronized(uint32_t type, TimeNs start_ns, TimeNs end_ns, uint32_t correlation,
                    const Place& place, uint64_t event) override;
  void EventRecorded(uint32_t correlation, const Place& place, uint64_t event) override;
  void QueueFull(TimeNs start_ns, TimeNs end_ns, uint32_t correlation) override;
  void ContextCreated(const Place& place) override;
  void StreamCreated(const Place& place, void* handle, uint32_t correlation) override;
  void GraphNodeMade(const GraphNodeBirth& birth) override;
  void GraphInstantiated(void* executable) override;
  void GraphNodeUpdated(const GraphNodeUpdate& update) override;

 private:
  using Flags = std::array<std::atomic<bool>, kMaxCallbackIds>;
  class Switching;

  CuptiMonitor();
  template <typename Record>
  uint64_t Put(const Record& record, bool complete) {
    return PutBytes(&record, sizeof(record), complete);
  }
  uint64_t PutBytes(const void* record, size_t record_bytes, bool complete);
  uint32_t ThreadId() const;
  TimeNs DeviceTime(TimeNs realtime_ns) const;
  const char* InternName(const std::string& name);
  bool RecordsApi(const ApiInfo& info) const;
  bool IsCalledBackFor(const ApiInfo& info) const;
  void PutApi(const ApiInfo& info, uint32_t kind, uint32_t cbid, uint32_t correlation);
  void PutDevice(const Place& place);
  bool IsGreen(const Place& place) const;
  // That a green context is a part of; 0: it is not told.
  uint32_t ParentOf(const Place& place) const;
  void PutContext(const Place& place);
  void PutGreenContext(const Place& place);
  void PutStream(const Place& place, uint32_t correlation);
  void PutOverhead(uint32_t overhead_kind, TimeNs start_ns, TimeNs end_ns, uint32_t correlation);
  void EndItself();
  void CallBack(uint32_t domain, uint32_t cbid, const void* data);
  void CallBackApi(ApiInfo* info, CUpti_ApiCallbackSite site);
  // Of the driver's function that the runtime's function |info| calls, if it is known.
  void CallBackDriver(ApiInfo* info, CUpti_ApiCallbackSite site);

  const SimScript& script_;
  ActivityBuffers buffers_;
  std::array<std::atomic<bool>, kMaxKinds> kinds_{};
  Flags denied_runtime_{};
  Flags denied_driver_{};
  std::atomic<CUpti_ActivityThreadIdType> thread_id_type_{CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT};
  std::atomic<uint64_t> records_{0};
  std::atomic<bool> has_ended_itself_{false};
  std::atomic<uint64_t> device_records_{0};
  std::atomic<uint64_t> of_hidden_kind_{0};

  std::mutex mutex_;  // what follows, except where atomic
  std::unordered_set<std::string> names_;
  std::vector<Place> contexts_;
  std::string subscriber_name_;
  std::atomic<CUpti_CallbackFunc> callback_{nullptr};
  std::atomic<void*> userdata_{nullptr};
  std::atomic<bool> subscribed_{false};
  std::atomic<bool> per_subscriber_{false};
  std::array<Flags, CUPTI_CB_DOMAIN_SIZE> callbacks_{};
  std::atomic<bool> switches_{false};   // a thread is in EnableCallback or EnableDomain
  std::atomic<bool> is_in_use_{false};  // there were API calls since the subscription
};

// The calling thread's stacks of external correlation ids, by CUpti_ExternalCorrelationKind.
std::array<std::vector<uint64_t>, 16>& ExternalCorrelationStacks();

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_CUPTI_MONITOR_H_
