// SPDX-License-Identifier: Apache-2.0
//
// State of the monitor, subscribers and callbacks. Records are made in cupti_records.cc.
#include "tests/fake_cupti/cupti_monitor.h"

#include "tests/fake_cupti/driver_functions.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace gpubound::sim {
namespace {

// CUPTI before this version crashed when no buffer was given (12.9).
constexpr uint32_t kBufferRejectionSurvived = 27;
constexpr uint32_t kPerThreadByDefault = 130000;

const char* const kSubscriberPrefix = "CUPTI for ";

// There is one subscriber, so one handle.
CUpti_SubscriberHandle TheHandle() { return reinterpret_cast<CUpti_SubscriberHandle>(0x1); }

// Whether |part| is in the path that this library was loaded from.
bool IsThisLibrary(const std::string& part) {
  Dl_info self;
  return dladdr(reinterpret_cast<const void*>(&TheHandle), &self) != 0 &&
         std::string(self.dli_fname).find(part) != std::string::npos;
}

bool IsLegacyKind(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_EVENT:
    case CUPTI_ACTIVITY_KIND_METRIC:
    case CUPTI_ACTIVITY_KIND_EVENT_INSTANCE:
    case CUPTI_ACTIVITY_KIND_METRIC_INSTANCE:
      return true;
    default:
      return false;
  }
}

}  // namespace

CuptiMonitor& CuptiMonitor::Get() {
  static auto* const monitor = [] {
    auto* created = new CuptiMonitor();
    GpuRuntime::Get().set_tap(created);
    return created;
  }();
  return *monitor;
}

CuptiMonitor::CuptiMonitor()
    : script_(Script()),
      buffers_({.abort_when_declined = script_.cupti_version < kBufferRejectionSurvived,
                .reverse_records = script_.faults.shuffle_records,
                .completion_delay_ms = script_.faults.completion_delay_ms}) {
  buffers_.set_per_thread(script_.cupti_version >= kPerThreadByDefault);
}

CUptiResult CuptiMonitor::EnableKind(uint32_t kind, bool enable, bool dump) {
  if (kind == 0 || kind >= kMaxKinds || kind == CUPTI_ACTIVITY_KIND_MODULE ||
      kind == CUPTI_ACTIVITY_KIND_DEVICE_GRAPH_TRACE) {
    return CUPTI_ERROR_INVALID_KIND;
  }
  if (IsLegacyKind(kind)) return CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED;
  const uint32_t exclusive =
      kind == CUPTI_ACTIVITY_KIND_KERNEL              ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
      : kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ? CUPTI_ACTIVITY_KIND_KERNEL
                                                      : 0;
  if (enable && exclusive != 0 && IsEnabled(exclusive)) return CUPTI_ERROR_NOT_COMPATIBLE;
  // Enabling an API kind again overrides what was said of single functions.
  if (enable && kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
    for (auto& denied : denied_runtime_) denied = false;
  }
  if (enable && kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    for (auto& denied : denied_driver_) denied = false;
  }
  kinds_[kind] = enable;
  if (!enable || !dump) return CUPTI_SUCCESS;
  std::vector<Place> contexts;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    contexts = contexts_;
  }
  for (const Place& place : contexts) {
    if (kind == CUPTI_ACTIVITY_KIND_DEVICE) PutDevice(place);
    if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) PutContext(place);
    if (kind == CUPTI_ACTIVITY_KIND_STREAM) PutStream(place, 0);
  }
  return CUPTI_SUCCESS;
}

bool CuptiMonitor::IsAnyEnabled() const {
  return std::any_of(kinds_.begin(), kinds_.end(), [](const auto& kind) { return kind.load(); });
}

// With the kind off this changes nothing that is recorded, as observed with real CUPTI.
CUptiResult CuptiMonitor::EnableFunction(ApiDomain domain, uint32_t cbid, bool enable) {
  if (cbid == 0 || cbid >= kMaxCallbackIds) return CUPTI_ERROR_INVALID_PARAMETER;
  (domain == ApiDomain::kRuntime ? denied_runtime_ : denied_driver_)[cbid] = !enable;
  return CUPTI_SUCCESS;
}

void CuptiMonitor::FlushAll(bool forced) {
  GpuRuntime& runtime = GpuRuntime::Get();
  const TimeNs start = RealtimeNs();
  runtime.Poll();  // what has ended by now is complete
  SpinFor(script_.overhead.flush_ns);
  // Its own record goes with what is flushed: a last flush leaves no buffer behind.
  PutOverhead(CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH, start, RealtimeNs(), 0);
  buffers_.FlushAll(forced);
}

CUptiResult CuptiMonitor::UnusableHere() const {
  const bool here = faults().subscribe_error != 0 && IsThisLibrary(faults().subscribe_error_in);
  return here ? static_cast<CUptiResult>(faults().subscribe_error) : CUPTI_SUCCESS;
}

CUptiResult CuptiMonitor::Subscribe(CUpti_SubscriberHandle* handle, CUpti_CallbackFunc callback,
                                    void* userdata, CUpti_SubscriberParams* params) {
  if (handle == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  std::string holder;
  CUptiResult result = CUPTI_SUCCESS;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (UnusableHere() != CUPTI_SUCCESS) {
      result = UnusableHere();
      holder = faults().held_by;
    } else if (!faults().shared_by.empty() && !per_subscriber_) {
      result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
      holder = faults().shared_by;
    } else if (subscribed_) {
      result = CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
      holder = subscriber_name_;
    } else {
      is_in_use_ = false;
      subscribed_ = true;
      callback_ = callback;
      userdata_ = userdata;
      subscriber_name_ = params != nullptr && params->subscriberName != nullptr
                             ? kSubscriberPrefix + std::string(params->subscriberName)
                             : "";
    }
  }
  const bool tell = result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && params != nullptr &&
                    params->oldSubscriberName != nullptr;
  if (tell) {
    std::snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", holder.c_str());
  }
  if (result == CUPTI_SUCCESS) *handle = TheHandle();
  return result;
}

CUptiResult CuptiMonitor::SubscribeShared(CUpti_SubscriberHandle* handle,
                                          CUpti_CallbackFunc callback, void* userdata,
                                          CUpti_SubscriberParams* params) {
  if (subscribed_) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  per_subscriber_ = true;
  const CUptiResult result = Subscribe(handle, callback, userdata, params);
  if (result != CUPTI_SUCCESS) per_subscriber_ = false;
  return result;
}

bool CuptiMonitor::IsSubscriber(CUpti_SubscriberHandle handle) const {
  return per_subscriber_ && subscribed_ && handle == TheHandle();
}

// Succeeds however often it is called, as real CUPTI does.
CUptiResult CuptiMonitor::Unsubscribe(CUpti_SubscriberHandle handle) {
  if (handle != TheHandle()) return CUPTI_ERROR_INVALID_PARAMETER;
  std::lock_guard<std::mutex> lock(mutex_);
  subscribed_ = false;
  per_subscriber_ = false;
  callback_ = nullptr;
  for (Flags& domain : callbacks_) {
    for (auto& enabled : domain) enabled = false;
  }
  return CUPTI_SUCCESS;
}

// What CUPTI leaves to its client: that no two calls switch callbacks at once, and that none of a
// call's is switched on while the program runs. The real library then loses what a thread does that
// is in the function meanwhile, from there on, or takes the program down. There it is chance; here
// it is not.
class CuptiMonitor::Switching {
 public:
  Switching(CuptiMonitor* monitor, uint32_t domain, bool enable) : monitor_(monitor) {
    const bool is_of_calls =
        domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API;
    if (monitor_->switches_.exchange(true)) Abort("two threads switch callbacks at once");
    if (enable && is_of_calls && monitor_->is_in_use_) {
      Abort("a callback is switched on while the program runs");
    }
  }
  ~Switching() { monitor_->switches_ = false; }
  Switching(const Switching&) = delete;
  Switching& operator=(const Switching&) = delete;

 private:
  [[noreturn]] static void Abort(const char* why) {
    std::fprintf(stderr, "stand-in libcupti: %s\n", why);
    std::abort();
  }

  CuptiMonitor* const monitor_;
};

CUptiResult CuptiMonitor::EnableCallback(CUpti_SubscriberHandle handle, uint32_t domain,
                                         uint32_t cbid, bool enable) {
  if (handle != TheHandle() || !subscribed_ || domain == 0 || domain >= CUPTI_CB_DOMAIN_SIZE ||
      cbid >= kMaxCallbackIds) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const Switching switching(this, domain, enable);
  callbacks_[domain][cbid] = enable;
  return CUPTI_SUCCESS;
}

CUptiResult CuptiMonitor::EnableDomain(CUpti_SubscriberHandle handle, uint32_t domain,
                                       bool enable) {
  if (handle != TheHandle() || !subscribed_ || domain == 0 || domain >= CUPTI_CB_DOMAIN_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const Switching switching(this, domain, enable);
  for (auto& flag : callbacks_[domain]) flag = enable;
  return CUPTI_SUCCESS;
}

bool CuptiMonitor::IsCallbackEnabled(uint32_t domain, uint32_t cbid) const {
  return domain < CUPTI_CB_DOMAIN_SIZE && cbid < kMaxCallbackIds && callbacks_[domain][cbid];
}

gpubound_sim_listening CuptiMonitor::Listening() const {
  gpubound_sim_listening now = {};
  for (const auto& kind : kinds_) now.kinds += kind ? 1 : 0;
  for (const Flags& domain : callbacks_) {
    for (const auto& enabled : domain) now.callbacks += enabled ? 1 : 0;
  }
  now.subscribers = subscribed_ ? 1 : 0;
  return now;
}

void CuptiMonitor::CallBack(uint32_t domain, uint32_t cbid, const void* data) {
  const CUpti_CallbackFunc callback = callback_;
  if (callback == nullptr || !IsCallbackEnabled(domain, cbid)) return;
  callback(userdata_, static_cast<CUpti_CallbackDomain>(domain), cbid, data);
}

void CuptiMonitor::EndItself() {
  if (has_ended_itself_.exchange(true)) return;
  CUpti_StateData data = {};
  data.notification.result = CUPTI_ERROR_UNKNOWN;
  data.notification.message = "scripted";
  CallBack(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &data);
}

void CuptiMonitor::CallBackApi(ApiInfo* info, CUpti_ApiCallbackSite site) {
  CUpti_CallbackData data = {};
  data.callbackSite = site;
  data.functionName = info->name;
  data.functionParams = info->params;
  data.functionReturnValue = site == CUPTI_API_EXIT ? &info->result : nullptr;
  data.symbolName = info->symbol;
  data.context = reinterpret_cast<CUcontext>(uintptr_t{info->context});
  data.contextUid = info->context;
  data.correlationData = &info->correlation_data;
  data.correlationId = info->correlation;
  const uint32_t domain = info->domain == ApiDomain::kRuntime ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                              : CUPTI_CB_DOMAIN_DRIVER_API;
  CallBack(domain, info->cbid, &data);
}

void CuptiMonitor::CallBackDriver(ApiInfo* info, CUpti_ApiCallbackSite site) {
  if (info->domain != ApiDomain::kRuntime) return;
  const DriverFunction* function = DriverFunctionOf(info->cbid);
  if (function == nullptr) return;
  ApiInfo inner = *info;
  inner.domain = ApiDomain::kDriver;
  inner.cbid = function->cbid;
  inner.name = function->name;
  inner.params = info->driver_params;
  inner.correlation_data = info->driver_correlation_data;
  CallBackApi(&inner, site);
  info->driver_correlation_data = inner.correlation_data;
}

}  // namespace gpubound::sim
