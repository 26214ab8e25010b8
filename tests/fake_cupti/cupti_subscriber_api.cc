// SPDX-License-Identifier: Apache-2.0
//
// The stand-in's entry points of the interface in which every call names its subscriber (CUDA
// 13.3), as the headers of 13.5 declare them. One subscriber can be had; script key "shared_by"
// stands for another tool that came before.
#include <cupti.h>

#include <cstring>

#include "tests/fake_cupti/cupti_monitor.h"

#define GPUBOUND_CUPTI_API extern "C" __attribute__((visibility("default")))

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

namespace {

constexpr uint32_t kPerSubscriberSince = 130300;
constexpr uint32_t kFunctionsPerSubscriberSince = 130400;
// Attributes that the headers we compile against do not have.
constexpr int kMultipleSubscriberState = 12;
constexpr int kAllSyncRecords = 16;
constexpr int kGraphsAsAWhole = 20;
constexpr int kThreadIdType = 21;
constexpr uint8_t kNotSetYet = 2;  // a value of kMultipleSubscriberState

using RequestV2 = void (*)(uint8_t**, size_t*, size_t*, void*);
using CompleteV2 = void (*)(uint8_t*, size_t, size_t, void*);
RequestV2 g_request = nullptr;
CompleteV2 g_complete = nullptr;

// Of the request and complete callbacks' information: a size and nothing that we read.
struct CallbackInfo {
  size_t bytes = sizeof(CallbackInfo);
  uint64_t thread = 0;
  void* layouts = nullptr;
  size_t layout_count = 0;
};

void OnRequest(uint8_t** buffer, size_t* size, size_t* max_records) {
  CallbackInfo info;
  g_request(buffer, size, max_records, &info);
}

void OnComplete(CUcontext, uint32_t, uint8_t* buffer, size_t size, size_t valid) {
  CallbackInfo info;
  g_complete(buffer, size, valid, &info);
}

// What a call of |subscriber|'s says before it does anything.
CUptiResult Admit(CUpti_SubscriberHandle subscriber, uint32_t since = kPerSubscriberSince) {
  const CuptiMonitor& monitor = CuptiMonitor::Get();
  if (monitor.version() < since) return CUPTI_ERROR_NOT_SUPPORTED;
  return monitor.IsSubscriber(subscriber) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult Answer(size_t* size, void* value, uint8_t answer) {
  if (size == nullptr || value == nullptr || *size < 1) return CUPTI_ERROR_INVALID_PARAMETER;
  *static_cast<uint8_t*>(value) = answer;
  return CUPTI_SUCCESS;
}

}  // namespace

GPUBOUND_CUPTI_API CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber,
                                                    uint64_t* timestamp) {
  const CUptiResult admitted = Admit(subscriber);
  return admitted == CUPTI_SUCCESS ? cuptiGetTimestamp(timestamp) : admitted;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber,
                                                                 RequestV2 request,
                                                                 CompleteV2 complete) {
  const CUptiResult admitted = Admit(subscriber);
  if (admitted != CUPTI_SUCCESS) return admitted;
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  g_request = request;
  g_complete = complete;
  CuptiMonitor::Get().buffers().Register(&OnRequest, &OnComplete);
  return CUPTI_SUCCESS;
}

// Graphs are recorded as the tool that came first chose, if one did.
GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber,
                                                      CUpti_ActivityKind kind, void*) {
  const CUptiResult admitted = Admit(subscriber);
  if (admitted != CUPTI_SUCCESS) return admitted;
  CuptiMonitor& monitor = CuptiMonitor::Get();
  const bool is_first = monitor.faults().shared_by.empty();
  if (kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE && !is_first &&
      !monitor.faults().shared_graphs_whole) {
    return CUPTI_ERROR_NOT_COMPATIBLE;
  }
  return monitor.EnableKind(kind, true, false);
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber,
                                                       CUpti_ActivityKind kind, void*) {
  const CUptiResult admitted = Admit(subscriber);
  return admitted == CUPTI_SUCCESS ? CuptiMonitor::Get().EnableKind(kind, false, false) : admitted;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle subscriber,
                                                            CUpti_ActivityAttribute attribute,
                                                            size_t* size, void* value) {
  const CUptiResult admitted = Admit(subscriber);
  if (admitted != CUPTI_SUCCESS) return admitted;
  switch (static_cast<int>(attribute)) {
    case kAllSyncRecords:
    case kGraphsAsAWhole:
      return size != nullptr && *size == 1 ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
    case kThreadIdType: {
      CUpti_ActivityThreadIdType type;
      if (size == nullptr || *size != sizeof(type)) return CUPTI_ERROR_INVALID_PARAMETER;
      std::memcpy(&type, value, sizeof(type));
      CuptiMonitor::Get().set_thread_id_type(type);
      return CUPTI_SUCCESS;
    }
    default:
      return cuptiActivitySetAttribute(attribute, size, value);
  }
}

// The state may be asked for before there is a subscriber.
GPUBOUND_CUPTI_API CUptiResult cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle,
                                                            CUpti_ActivityAttribute attribute,
                                                            size_t* size, void* value) {
  const CuptiMonitor& monitor = CuptiMonitor::Get();
  if (monitor.version() < kPerSubscriberSince) return CUPTI_ERROR_NOT_SUPPORTED;
  switch (static_cast<int>(attribute)) {
    case kMultipleSubscriberState:
      return Answer(size, value, monitor.per_subscriber() ? 1 : kNotSetYet);
    case kGraphsAsAWhole:
      return Answer(size, value, monitor.faults().shared_graphs_whole ? 1 : 0);
    default:
      return cuptiActivityGetAttribute(attribute, size, value);
  }
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber,
                                                             uint8_t* buffer, size_t valid,
                                                             CUpti_Activity** record) {
  const CUptiResult admitted = Admit(subscriber);
  return admitted == CUPTI_SUCCESS ? cuptiActivityGetNextRecord(buffer, valid, record) : admitted;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityGetNumDroppedRecords_v2(
    CUpti_SubscriberHandle subscriber, CUcontext context, uint32_t stream, size_t* dropped) {
  const CUptiResult admitted = Admit(subscriber);
  return admitted == CUPTI_SUCCESS ? cuptiActivityGetNumDroppedRecords(context, stream, dropped)
                                   : admitted;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle subscriber,
                                                                CUpti_CallbackId cbid,
                                                                uint8_t enable) {
  const CUptiResult admitted = Admit(subscriber, kFunctionsPerSubscriberSince);
  return admitted == CUPTI_SUCCESS ? cuptiActivityEnableRuntimeApi(cbid, enable) : admitted;
}

GPUBOUND_CUPTI_API CUptiResult cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle subscriber,
                                                               CUpti_CallbackId cbid,
                                                               uint8_t enable) {
  const CUptiResult admitted = Admit(subscriber, kFunctionsPerSubscriberSince);
  return admitted == CUPTI_SUCCESS ? cuptiActivityEnableDriverApi(cbid, enable) : admitted;
}
