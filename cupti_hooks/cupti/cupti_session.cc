// SPDX-License-Identifier: Apache-2.0
//
// Each step of cupti_session.h, in CUPTI's documented order.
#include "cupti_hooks/cupti/cupti_session.h"

#include <utility>

#include "cupti_hooks/cupti/graph_nodes.h"

namespace gpubound {
namespace {

struct Kind {
  CUpti_ActivityKind kind;
  bool is_device_work;
  const char* name;
  uint32_t since = 0;  // the version that brought it

  bool IsOf(const CuptiApi& api) const { return api.version >= since; }
};

// DEVICE first: its records come with each context, as those of CONTEXT do. Kernels as
// CONCURRENT_KERNEL, because KERNEL makes them run one after another. RUNTIME is switched on once
// and stays on: switching it off and on again loses the kernels of graphs captured before.
//
// Not DRIVER, SYNCHRONIZATION and CUDA_EVENT: they make CUPTI listen within the driver, and each
// call of the runtime then costs more. On an H100 (driver 580) a kernel's launch with its queries
// took 5 us instead of 2 (docs/results/gpu.md). Callbacks tell the same (timed_calls.h).
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_DEVICE, false, "devices"},
    {CUPTI_ACTIVITY_KIND_CONTEXT, false, "contexts"},
    {kGreenContextKind, false, "green contexts", kCuptiGreenContextKind},
    {CUPTI_ACTIVITY_KIND_RUNTIME, false, "runtime calls"},
    {CUPTI_ACTIVITY_KIND_OVERHEAD, false, "overhead"},
    {CUPTI_ACTIVITY_KIND_MEMCPY, true, "copies"},
    {CUPTI_ACTIVITY_KIND_MEMCPY2, true, "copies between devices"},
    {CUPTI_ACTIVITY_KIND_MEMSET, true, "memory sets"},
    {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, true, "kernels"},
};

// By number: the headers of CUDA 12.0 do not have it.
constexpr auto kPerThreadBuffers = static_cast<CUpti_ActivityAttribute>(9);

// The name of whoever holds CUPTI; empty when it cannot be told.
std::string HolderOf(const CuptiApi& api, CUpti_CallbackFunc callback) {
  if (api.cuptiSubscribe_v2 == nullptr) return {};
  char holder[256] = {};
  CuptiSubscriberNames names = {sizeof(CuptiSubscriberNames), "gpubound", holder, sizeof(holder)};
  CUpti_SubscriberHandle subscriber = nullptr;
  if (api.cuptiSubscribe_v2(&subscriber, callback, nullptr, &names) == CUPTI_SUCCESS) {
    // Let go in this very moment. Start stays the simple story: the tool had it when we asked.
    api.cuptiUnsubscribe(subscriber);
  }
  holder[sizeof(holder) - 1] = '\0';
  return holder;
}

bool IsHeldByOther(CUptiResult result) {
  return result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED ||
         result == CUPTI_ERROR_MAX_LIMIT_REACHED;  // what it was called before 11.x
}

// What a libcupti says that is too old for the GPU, and one that is too new for the driver.
bool IsWrongLibrary(CUptiResult result) {
  return result == CUPTI_ERROR_INVALID_DEVICE || result == CUPTI_ERROR_NOT_INITIALIZED;
}

// Counts the calls that recording can do without.
class Optional {
 public:
  explicit Optional(uint64_t* errors) : errors_(errors) {}
  bool operator()(CUptiResult result) {
    if (result != CUPTI_SUCCESS) ++*errors_;
    return result == CUPTI_SUCCESS;
  }

 private:
  uint64_t* const errors_;
};

CUptiResult SetAttribute(const CuptiApi& api, CUpti_ActivityAttribute attribute, uint8_t value) {
  if (api.cuptiActivitySetAttribute == nullptr) return CUPTI_SUCCESS;
  size_t size = sizeof(value);
  return api.cuptiActivitySetAttribute(attribute, &size, &value);
}

void SetAttributes(const CuptiApi& api, Optional* optional) {
  (*optional)(SetAttribute(api, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1));
  if (api.version >= kCuptiPerThreadBuffersSafe) {
    (*optional)(SetAttribute(api, kPerThreadBuffers, 1));
  }
}

// CUPTI's settings are the process's, not the subscriber's. The next tool expects the defaults: one
// that hands out buffers which it did not zero would read garbage, and one that matches threads by
// pthread_self would find none.
void RestoreDefaults(const CuptiApi& api) {
  SetAttribute(api, CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 0);
  if (api.version >= kCuptiPerThreadBuffersSafe && api.version < kCuptiPerThreadByDefault) {
    SetAttribute(api, kPerThreadBuffers, 0);
  }
  api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT);
}

// Switches callbacks on, for what no record tells.
class Callbacks {
 public:
  Callbacks(const CuptiApi& api, CUpti_SubscriberHandle subscriber, Optional* optional)
      : api_(api), subscriber_(subscriber), optional_(optional) {}

  // Of one that older releases do not have.
  void Try(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    if (api_.cuptiEnableCallback != nullptr) api_.cuptiEnableCallback(1, subscriber_, domain, id);
  }
  void Enable(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
    if (api_.cuptiEnableCallback == nullptr) return;
    (*optional_)(api_.cuptiEnableCallback(1, subscriber_, domain, id));
  }

 private:
  const CuptiApi& api_;
  CUpti_SubscriberHandle const subscriber_;
  Optional* const optional_;
};

// Failure is no loss: the records are then skipped when they arrive, and counted. What CUPTI does
// not record, a callback counts, where that is asked for.
void SilenceQuietFunctions(const CuptiApi& api, const ApiFunctions& functions,
                           const RecordingLevels& levels, Callbacks* callbacks,
                           CuptiSetupResult* setup) {
  std::vector<CUpti_CallbackId> recorded;
  std::vector<CUpti_CallbackId> unrecorded;
  for (CUpti_CallbackId id : functions.QuietIds(CUPTI_CB_DOMAIN_RUNTIME_API)) {
    const bool silenced = api.cuptiActivityEnableRuntimeApi != nullptr &&
                          api.cuptiActivityEnableRuntimeApi(id, 0) == CUPTI_SUCCESS;
    if (silenced) ++setup->quiet_functions;
    if (!functions.IsCounted(CUPTI_CB_DOMAIN_RUNTIME_API, id)) continue;
    (silenced ? unrecorded : recorded).push_back(id);
  }
  // Called back for all the same, or what they ask the driver for would be taken for calls.
  setup->has_runtime_queries = unrecorded.empty() && !recorded.empty();
  const auto& runtime = setup->has_runtime_queries ? recorded : unrecorded;
  std::vector<CUpti_CallbackId> driver = functions.QuietIds(CUPTI_CB_DOMAIN_DRIVER_API);
  std::erase_if(driver, [&functions](CUpti_CallbackId id) {
    return !functions.IsCounted(CUPTI_CB_DOMAIN_DRIVER_API, id);
  });
  if (!levels.count_queries) {
    setup->leaves_queries_uncounted = !runtime.empty() || !driver.empty();
    return;
  }
  for (CUpti_CallbackId id : runtime) callbacks->Enable(CUPTI_CB_DOMAIN_RUNTIME_API, id);
  for (CUpti_CallbackId id : driver) callbacks->Enable(CUPTI_CB_DOMAIN_DRIVER_API, id);
}

// Before any graph is instantiated; those that are, are seen from now on.
void RecordGraphsWhole(const CuptiApi& api, CuptiSetupResult* setup) {
  if (setup->graphs == GraphLevel::kNode) return;
  const CUptiResult result = api.cuptiActivityEnable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
  if (result == CUPTI_SUCCESS) return;
  setup->graphs = GraphLevel::kNode;
  setup->graph_problem = CuptiResultName(api, result);
}

// Of both APIs, so that a driver function that a runtime function calls is known for a part of it.
void WatchCalls(const ApiFunctions& functions, Callbacks* callbacks) {
  for (CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    for (CUpti_CallbackId id : functions.LoudIds(domain)) callbacks->Enable(domain, id);
  }
}

void WatchGraphs(const ApiFunctions& functions, GraphLevel level, Callbacks* callbacks) {
  const auto resource = [&](CUpti_CallbackId id) {
    callbacks->Enable(CUPTI_CB_DOMAIN_RESOURCE, id);
  };
  const auto calls = [&](auto ids_of) {
    for (CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
      for (CUpti_CallbackId id : (functions.*ids_of)(domain)) callbacks->Enable(domain, id);
    }
  };
  resource(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED);
  if (level != GraphLevel::kNode) calls(&ApiFunctions::GraphLaunchIds);
  if (level == GraphLevel::kGraph) return;
  resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
  resource(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);
  resource(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
  for (CUpti_CallbackId id : GraphNodes::kUpdateIds) callbacks->Try(CUPTI_CB_DOMAIN_RESOURCE, id);
  if (level == GraphLevel::kNode) return;  // the records of kernels have their names
  calls(&ApiFunctions::LaunchIds);
  calls(&ApiFunctions::NodeIds);
}

CuptiSetupResult& Fail(const CuptiApi& api, const char* call, CUptiResult result,
                       CuptiSetupResult* setup) {
  setup->outcome = CuptiSetup::kUnusable;
  setup->problem = std::string(call) + " failed with " + CuptiResultName(api, result);
  if (setup->subscriber != nullptr) Unsubscribe(api, setup->subscriber);
  setup->subscriber = nullptr;
  return *setup;
}

}  // namespace

bool ParseGraphLevel(std::string_view text, GraphLevel* level) {
  if (text == "node") return *level = GraphLevel::kNode, true;
  if (text == "graph") return *level = GraphLevel::kGraph, true;
  if (text == "auto") return *level = GraphLevel::kAuto, true;
  return false;
}

CuptiSetupResult SetUpCupti(const CuptiApi& api, const CuptiCallbacks& callbacks,
                            const ApiFunctions& functions, const RecordingLevels& levels) {
  CuptiSetupResult setup;
  setup.graphs = levels.graphs;
  CUptiResult result = api.cuptiSubscribe(&setup.subscriber, callbacks.event, nullptr);
  if (IsHeldByOther(result)) {
    setup.subscriber = nullptr;
    setup.outcome = CuptiSetup::kHeldByOther;
    setup.problem = HolderOf(api, callbacks.event);
    return setup;
  }
  if (result != CUPTI_SUCCESS) {
    setup.subscriber = nullptr;
    setup.wrong_library = IsWrongLibrary(result);
    return Fail(api, "cuptiSubscribe", result, &setup);
  }

  // Kernels of graphs then come with their graph only, whatever was asked for.
  const bool whole = api.graphs_are_whole != nullptr && api.graphs_are_whole();
  if (whole && levels.graphs == GraphLevel::kNode) setup.graphs = GraphLevel::kGraph;

  Optional optional(&setup.api_errors);
  setup.system_thread_ids =
      optional(api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  SetAttributes(api, &optional);
  result = api.cuptiActivityRegisterCallbacks(callbacks.request, callbacks.complete);
  if (result != CUPTI_SUCCESS) return Fail(api, "cuptiActivityRegisterCallbacks", result, &setup);

  setup.outcome = CuptiSetup::kRecording;
  RecordGraphsWhole(api, &setup);
  for (const Kind& kind : kKinds) {
    if (!kind.IsOf(api)) continue;
    result = api.cuptiActivityEnable(kind.kind);
    if (result == CUPTI_SUCCESS) continue;
    if (kind.kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      DisableKinds(api);
      return Fail(api, "recording kernels", result, &setup);
    }
    ++setup.api_errors;
    if (kind.is_device_work) {
      setup.outcome = CuptiSetup::kIncomplete;
      if (!setup.problem.empty()) setup.problem += ", ";
      setup.problem += std::string(kind.name) + " (" + CuptiResultName(api, result) + ")";
    }
  }
  Callbacks enable(api, setup.subscriber, &optional);
  // After the kind: enabling a kind puts all its functions back on.
  SilenceQuietFunctions(api, functions, levels, &enable, &setup);
  WatchCalls(functions, &enable);
  WatchGraphs(functions, setup.graphs, &enable);
  enable.Enable(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR);
  return setup;
}

void DisableKinds(const CuptiApi& api) {
  if (api.cuptiActivityDisable == nullptr) return;
  for (const Kind& kind : kKinds) {
    if (kind.IsOf(api)) api.cuptiActivityDisable(kind.kind);
  }
  api.cuptiActivityDisable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
}

void Unsubscribe(const CuptiApi& api, CUpti_SubscriberHandle subscriber) {
  RestoreDefaults(api);
  api.cuptiUnsubscribe(subscriber);
}

}  // namespace gpubound
