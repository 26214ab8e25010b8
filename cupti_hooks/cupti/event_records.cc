// SPDX-License-Identifier: Apache-2.0
#include "cupti_hooks/cupti/event_records.h"

namespace gpubound {
namespace {

SyncRecord At(SyncRecord event, uint64_t start_ns, uint64_t end_ns) {
  event.start_ns = start_ns;
  event.end_ns = end_ns;
  return event;
}

}  // namespace

bool EventRecords::IsEventRecord(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    switch (id) {
      case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020:
      case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_ptsz_v7000:
      case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010:
      case CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_ptsz_v11010:
        return true;
      default:
        return false;
    }
  }
  switch (id) {
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecord:
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecord_ptsz:
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags:
    case CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags_ptsz:
      return domain == CUPTI_CB_DOMAIN_DRIVER_API;
    default:
      return false;
  }
}

bool EventRecords::OnEvent(const SyncRecord& event, SyncRecord* joined) {
  if (const auto call = calls_.find(event.correlation); call != calls_.end()) {
    *joined = At(event, call->second.start_ns, call->second.end_ns);
    calls_.erase(call);
    return true;
  }
  if (events_.size() >= kMostWaiting) events_.clear();
  events_[event.correlation] = event;
  return false;
}

bool EventRecords::OnCall(const ApiRecord& call, SyncRecord* joined) {
  if (const auto event = events_.find(call.correlation); event != events_.end()) {
    *joined = At(event->second, call.start_ns, call.end_ns);
    events_.erase(event);
    return true;
  }
  if (calls_.size() >= kMostWaiting) calls_.clear();
  calls_[call.correlation] = {call.start_ns, call.end_ns};
  return false;
}

}  // namespace gpubound
