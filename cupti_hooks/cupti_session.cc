// SPDX-License-Identifier: Apache-2.0
//
// Each step of cupti_session.h, in CUPTI's documented order.
#include "cupti_hooks/cupti_session.h"

#include "cupti_hooks/api_functions.h"

namespace gpubound {
namespace {

struct Kind {
  CUpti_ActivityKind kind;
  bool is_device_work;
  const char* name;
};

// DEVICE first: its records come with each context. Kernels as CONCURRENT_KERNEL, because KERNEL
// makes them run one after another. API kinds are switched on once and stay on: switching them off
// and on again loses the kernels of graphs captured before.
constexpr Kind kKinds[] = {
    {CUPTI_ACTIVITY_KIND_DEVICE, false, "devices"},
    {CUPTI_ACTIVITY_KIND_RUNTIME, false, "runtime calls"},
    {CUPTI_ACTIVITY_KIND_DRIVER, false, "driver calls"},
    {CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, false, "synchronisation"},
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

void SetAttributes(const CuptiApi& api, Optional* optional) {
  if (api.cuptiActivitySetAttribute == nullptr) return;
  uint8_t yes = 1;
  size_t size = sizeof(yes);
  (*optional)(
      api.cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &yes));
  if (api.version >= kCuptiPerThreadBuffersSafe) {
    size = sizeof(yes);
    (*optional)(api.cuptiActivitySetAttribute(kPerThreadBuffers, &size, &yes));
  }
}

// Failure is no loss: the records are then skipped when they arrive.
uint32_t SilenceNoisyFunctions(const CuptiApi& api) {
  const ApiFunctions functions(api, nullptr);
  uint32_t silenced = 0;
  const auto silence = [&](CUpti_CallbackDomain domain, auto function) {
    if (function == nullptr) return;
    for (CUpti_CallbackId id : functions.NoisyIds(domain)) {
      if (function(id, 0) == CUPTI_SUCCESS) ++silenced;
    }
  };
  silence(CUPTI_CB_DOMAIN_RUNTIME_API, api.cuptiActivityEnableRuntimeApi);
  silence(CUPTI_CB_DOMAIN_DRIVER_API, api.cuptiActivityEnableDriverApi);
  return silenced;
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

CuptiSetupResult SetUpCupti(const CuptiApi& api, const CuptiCallbacks& callbacks) {
  CuptiSetupResult setup;
  CUptiResult result = api.cuptiSubscribe(&setup.subscriber, callbacks.event, nullptr);
  if (IsHeldByOther(result)) {
    setup.subscriber = nullptr;
    setup.outcome = CuptiSetup::kHeldByOther;
    setup.problem = HolderOf(api, callbacks.event);
    return setup;
  }
  if (result != CUPTI_SUCCESS) {
    setup.subscriber = nullptr;
    return Fail(api, "cuptiSubscribe", result, &setup);
  }

  Optional optional(&setup.api_errors);
  setup.system_thread_ids =
      optional(api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
  SetAttributes(api, &optional);
  result = api.cuptiActivityRegisterCallbacks(callbacks.request, callbacks.complete);
  if (result != CUPTI_SUCCESS) return Fail(api, "cuptiActivityRegisterCallbacks", result, &setup);

  setup.outcome = CuptiSetup::kRecording;
  for (const Kind& kind : kKinds) {
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
  // After the kind: enabling a kind puts all its functions back on.
  setup.quiet_functions = SilenceNoisyFunctions(api);
  if (api.cuptiActivityEnableAllSyncRecords != nullptr) {
    optional(api.cuptiActivityEnableAllSyncRecords(0));  // not those of polling
  }
  if (api.cuptiEnableCallback != nullptr) {
    optional(api.cuptiEnableCallback(1, setup.subscriber, CUPTI_CB_DOMAIN_STATE,
                                     CUPTI_CBID_STATE_FATAL_ERROR));
  }
  return setup;
}

void DisableKinds(const CuptiApi& api) {
  if (api.cuptiActivityDisable == nullptr) return;
  for (const Kind& kind : kKinds) api.cuptiActivityDisable(kind.kind);
}

void Unsubscribe(const CuptiApi& api, CUpti_SubscriberHandle subscriber) {
  api.cuptiUnsubscribe(subscriber);
}

}  // namespace gpubound
