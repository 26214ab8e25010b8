// SPDX-License-Identifier: Apache-2.0
//
// A small CUDA program that profiles itself: runs one named workload on the stand-in libcudart,
// acts as the CUPTI client, and prints as JSON everything that CUPTI did. One process for each
// test, because scripts and CUPTI's state are per process.
//
//     protocol_client '{"workload": "basic", "kinds": [5, 10], "flush": "forced", ...}'
#include <cupti.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "tests/fake_cupti/protocol_workloads.h"

namespace {

using Json = nlohmann::json;

uint32_t Tid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

// --- The profiler's side

struct Profiler {
  std::mutex mutex;
  size_t buffer_bytes = 64 * 1024;
  size_t decline_after = SIZE_MAX;  // buffers to hand out before declining
  Json requests = Json::array();
  Json completions = Json::array();
  Json records = Json::array();
  Json callbacks = Json::array();
  bool invalid_kind_seen = false;
};
Profiler profiler;

void Request(uint8_t** buffer, size_t* size, size_t* max_records) {
  std::lock_guard<std::mutex> lock(profiler.mutex);
  *max_records = 0;
  if (profiler.requests.size() >= profiler.decline_after) {
    *buffer = nullptr;
    *size = 0;
    return;
  }
  *size = profiler.buffer_bytes;
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, *size));
  profiler.requests.push_back(Tid());
}

// The fields that tests look at, by the oldest structure that holds each.
Json Describe(const CUpti_Activity* record) {
  Json out = {{"kind", static_cast<uint32_t>(record->kind)}};
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: {
      const auto* kernel = reinterpret_cast<const CUpti_ActivityKernel5*>(record);
      out.update({{"name", kernel->name},
                  {"start", kernel->start},
                  {"end", kernel->end},
                  {"correlation", kernel->correlationId},
                  {"stream", kernel->streamId},
                  {"device", kernel->deviceId},
                  {"grid", kernel->gridX},
                  {"block", kernel->blockX},
                  {"registers", kernel->registersPerThread},
                  {"graph", kernel->graphId},
                  {"node", kernel->graphNodeId}});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY: {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpy4*>(record);
      out.update({{"start", copy->start},
                  {"end", copy->end},
                  {"bytes", copy->bytes},
                  {"copy_kind", copy->copyKind},
                  {"correlation", copy->correlationId},
                  {"src", copy->srcKind},
                  {"dst", copy->dstKind}});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMCPY2: {
      const auto* copy = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
      out.update({{"src_device", copy->srcDeviceId}, {"dst_device", copy->dstDeviceId}});
      break;
    }
    case CUPTI_ACTIVITY_KIND_MEMSET: {
      const auto* set = reinterpret_cast<const CUpti_ActivityMemset2*>(record);
      out.update({{"bytes", set->bytes}, {"start", set->start}, {"end", set->end}});
      break;
    }
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: {
      const auto* api = reinterpret_cast<const CUpti_ActivityAPI*>(record);
      const char* name = "?";
      cuptiGetCallbackName(record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                                       : CUPTI_CB_DOMAIN_DRIVER_API,
                           api->cbid, &name);
      out.update({{"name", name},
                  {"start", api->start},
                  {"end", api->end},
                  {"thread", api->threadId},
                  {"correlation", api->correlationId},
                  {"result", api->returnValue}});
      break;
    }
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: {
      const auto* sync = reinterpret_cast<const CUpti_ActivitySynchronization*>(record);
      out.update({{"type", static_cast<uint32_t>(sync->type)}, {"stream", sync->streamId}});
      break;
    }
    case CUPTI_ACTIVITY_KIND_OVERHEAD: {
      const auto* overhead = reinterpret_cast<const CUpti_ActivityOverhead*>(record);
      out["overhead"] = static_cast<uint32_t>(overhead->overheadKind);
      break;
    }
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: {
      const auto* graph = reinterpret_cast<const CUpti_ActivityGraphTrace*>(record);
      out.update({{"start", graph->start},
                  {"end", graph->end},
                  {"correlation", graph->correlationId},
                  {"graph", graph->graphId}});
      break;
    }
    case CUPTI_ACTIVITY_KIND_DEVICE: {
      const auto* device = reinterpret_cast<const CUpti_ActivityDevice4*>(record);
      out.update({{"name", device->name}, {"id", device->id}});
      uint32_t version = 0;
      cuptiGetVersion(&version);
      if (version >= 130000) std::free(const_cast<char*>(device->name));
      break;
    }
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: {
      const auto* external = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
      out.update({{"id", external->externalId}, {"correlation", external->correlationId}});
      break;
    }
    default:
      break;
  }
  return out;
}

void Completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  std::lock_guard<std::mutex> lock(profiler.mutex);
  profiler.completions.push_back({{"tid", Tid()}, {"bytes", valid}});
  CUpti_Activity* record = nullptr;
  for (;;) {
    const CUptiResult result = cuptiActivityGetNextRecord(buffer, valid, &record);
    if (result == CUPTI_ERROR_INVALID_KIND) profiler.invalid_kind_seen = true;
    if (result != CUPTI_SUCCESS) break;
    profiler.records.push_back(Describe(record));
  }
  std::free(buffer);
}

struct BufferCounts {
  size_t requested;
  size_t completed;
};
BufferCounts BuffersSoFar() {
  std::lock_guard<std::mutex> lock(profiler.mutex);
  return {profiler.requests.size(), profiler.completions.size()};
}

void Callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* data) {
  Json entry = {{"domain", static_cast<uint32_t>(domain)}, {"cbid", cbid}};
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    const auto* call = static_cast<const CUpti_CallbackData*>(data);
    entry["site"] = call->callbackSite == CUPTI_API_ENTER ? "enter" : "exit";
    entry["symbol"] = call->symbolName == nullptr ? "" : call->symbolName;
    entry["correlation"] = call->correlationId;
  }
  if (domain == CUPTI_CB_DOMAIN_RESOURCE) {  // of the tests, all about nodes of graphs
    const auto* resource = static_cast<const CUpti_ResourceData*>(data);
    uint64_t node = 0;
    cuptiGetGraphNodeId(static_cast<CUpti_GraphData*>(resource->resourceDescriptor)->node, &node);
    entry["node"] = node;
  }
  std::lock_guard<std::mutex> lock(profiler.mutex);
  profiler.callbacks.push_back(entry);
}

CUptiResult SetPerThread(bool per_thread) {
  uint8_t value = per_thread ? 1 : 0;
  size_t size = sizeof(value);
  return cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, &size, &value);
}

// Until CUPTI's worker has delivered |count| buffers; gives up after ten seconds.
void AwaitCompletions(size_t count) {
  for (int i = 0; i < 10'000; ++i) {
    {
      std::lock_guard<std::mutex> lock(profiler.mutex);
      if (profiler.completions.size() >= count) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Json Subscribe(CUpti_SubscriberHandle* handle) {
  Json out;
  out["subscribe"] = cuptiSubscribe(handle, Callback, nullptr);
  char holder[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
  CUpti_SubscriberParams params = {};
  params.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  params.oldSubscriberName = holder;
  params.oldSubscriberSize = sizeof(holder);
  CUpti_SubscriberHandle second = nullptr;
  out["second"] = cuptiSubscribe_v2(&second, Callback, nullptr, &params);
  out["holder"] = holder;
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Json config = Json::parse(argc > 1 ? argv[1] : "{}");
  profiler.buffer_bytes = config.value("buffer_bytes", profiler.buffer_bytes);
  profiler.decline_after = config.value("decline_after", profiler.decline_after);
  Json out;
  CUpti_SubscriberHandle handle = nullptr;
  out["subscription"] = Subscribe(&handle);
  if (config.contains("per_thread")) SetPerThread(config["per_thread"].get<bool>());
  if (config.value("system_thread_ids", true)) {
    cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  }
  cuptiActivityRegisterCallbacks(Request, Completed);
  Json enabled = Json::array();
  for (uint32_t kind : config.value("kinds", std::vector<uint32_t>())) {
    enabled.push_back(cuptiActivityEnable(static_cast<CUpti_ActivityKind>(kind)));
  }
  for (uint32_t cbid : config.value("deny", std::vector<uint32_t>())) {
    cuptiActivityEnableRuntimeApi(cbid, 0);
  }
  for (uint32_t cbid : config.value("callbacks", std::vector<uint32_t>())) {
    cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API, cbid);
  }
  for (uint32_t cbid : config.value("node_callbacks", std::vector<uint32_t>())) {
    cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RESOURCE, cbid);
  }
  gpubound::sim::RegisterWorkloadKernels();
  out["enabled"] = enabled;
  out["workload"] = gpubound::sim::RunWorkload(config.value("workload", "none"));
  for (uint32_t cbid : config.value("late_callbacks", std::vector<uint32_t>())) {
    cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API, cbid);
  }
  AwaitCompletions(config.value("await_completions", size_t{0}));
  const std::string flush = config.value("flush", "forced");
  if (flush != "none") cuptiActivityFlushAll(flush == "forced" ? 1 : 0);
  const auto [requested, flushed] = BuffersSoFar();
  if (flush == "forced") AwaitCompletions(requested);  // may trail the return
  size_t dropped = 0;
  cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped);
  uint32_t version = 0;
  cuptiGetVersion(&version);
  std::lock_guard<std::mutex> lock(profiler.mutex);
  out.update({{"main_tid", Tid()},
              {"truncated_self", static_cast<uint32_t>(static_cast<uint64_t>(pthread_self()))},
              {"requests", profiler.requests},
              {"completions", profiler.completions},
              {"completed_at_flush", flushed},
              {"records", profiler.records},
              {"callbacks", profiler.callbacks},
              {"invalid_kind_seen", profiler.invalid_kind_seen},
              {"dropped", dropped},
              {"version", version}});
  std::printf("%s\n", out.dump().c_str());
  std::fflush(stdout);
  return 0;
}
