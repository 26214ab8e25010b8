// SPDX-License-Identifier: Apache-2.0
//
// The callback and the queue. A call's begin is kept in the place that CUPTI gives each call for
// its subscriber.
#include "cupti_hooks/cupti/timed_calls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "proto/sync_types.h"

namespace gpubound {
namespace {

// Calls of the runtime that the calling thread is in.
constinit thread_local uint32_t t_runtime_calls = 0;

uint32_t ThisThread() noexcept {
  constinit static thread_local uint32_t tid = 0;
  if (tid == 0) tid = static_cast<uint32_t>(syscall(SYS_gettid));
  return tid;
}

uint32_t SyncTypeOf(Awaited awaited) {
  switch (awaited) {
    case Awaited::kStream:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
    case Awaited::kContext:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE;
    case Awaited::kEvent:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE;
    case Awaited::kEventByStream:
      return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT;
    case Awaited::kEventRecorded:
      return kSyncEventRecorded;
    case Awaited::kNone:
      break;
  }
  return CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_UNKNOWN;
}

}  // namespace

ApiRecord ApiRecordOf(const TimedCall& call, LabelId label) {
  ApiRecord record{};
  record.start_ns = call.start_ns;
  record.end_ns = call.end_ns;
  record.correlation = call.correlation;
  record.tid = call.tid;
  record.label = label;
  record.result = call.result;
  return record;
}

SyncRecord SyncRecordOf(const TimedCall& call) {
  SyncRecord record{};
  record.start_ns = call.start_ns;
  record.end_ns = call.end_ns;
  record.event = call.event;
  record.correlation = call.correlation;
  record.type = SyncTypeOf(call.awaited);
  record.context = call.context;
  record.stream = call.stream;
  return record;
}

TimedCalls::TimedCalls(const CuptiApi& api, const ApiFunctions& functions, WakeSignal* worker)
    : api_(api),
      functions_(functions),
      worker_(worker),
      slots_(static_cast<Slot*>(std::calloc(kSize, sizeof(Slot)))) {}

uint64_t TimedCalls::Now() const noexcept {
  uint64_t now_ns = 0;
  return api_.cuptiGetTimestamp(&now_ns) == CUPTI_SUCCESS ? now_ns : 0;
}

void TimedCalls::OnCall(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                        const CUpti_CallbackData& call) noexcept {
  const bool enters = call.callbackSite == CUPTI_API_ENTER;
  const bool has_record = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  if (!has_record) {
    if (t_runtime_calls != 0) return;
  } else {
    if (enters) {
      ++t_runtime_calls;
    } else if (t_runtime_calls != 0) {
      --t_runtime_calls;
    }
    if (functions_.AwaitedBy(domain, id) == Awaited::kNone) return;
  }
  if (call.correlationData == nullptr || closed_.load(std::memory_order_relaxed)) return;
  if (enters) {
    const uint64_t now_ns = Now();
    *call.correlationData = now_ns;
    if (now_ns == 0) lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  TimedCall timed;
  timed.start_ns = *call.correlationData;
  timed.end_ns = Now();
  if (timed.start_ns == 0) return;  // it began before calls were timed, or is counted as lost
  if (timed.end_ns == 0) {
    lost_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (timed.end_ns < timed.start_ns) {
    inverted_.fetch_add(1, std::memory_order_relaxed);
    timed.end_ns = timed.start_ns;
  }
  timed.correlation = call.correlationId;
  timed.tid = ThisThread();
  timed.id = id;
  timed.domain = domain;
  timed.has_record = has_record;
  if (call.functionReturnValue != nullptr) {
    timed.result = *static_cast<const int32_t*>(call.functionReturnValue);
  }
  if (timed.result == 0) Describe(domain, call, &timed);
  Put(timed);
}

void TimedCalls::Describe(CUpti_CallbackDomain domain, const CUpti_CallbackData& call,
                          TimedCall* to) const {
  const Awaited awaited = functions_.AwaitedBy(domain, to->id);
  if (awaited == Awaited::kNone) return;
  if (awaited != Awaited::kContext && call.functionParams == nullptr) return;
  to->awaited = awaited;
  to->context = call.contextUid;
  to->stream = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  switch (awaited) {
    case Awaited::kStream:
      to->stream = StreamOf(domain, call, ParameterOf(call, 0), to->id);
      return;
    case Awaited::kEvent:
      to->event = reinterpret_cast<uintptr_t>(ParameterOf(call, 0));
      return;
    case Awaited::kEventByStream:
      to->stream = StreamOf(domain, call, ParameterOf(call, 0), to->id);
      to->event = reinterpret_cast<uintptr_t>(ParameterOf(call, 1));
      return;
    case Awaited::kEventRecorded:
      to->event = reinterpret_cast<uintptr_t>(ParameterOf(call, 0));
      to->stream = StreamOf(domain, call, ParameterOf(call, 1), to->id);
      return;
    default:
      return;
  }
}

uint32_t TimedCalls::StreamOf(CUpti_CallbackDomain domain, const CUpti_CallbackData& call,
                              void* handle, CUpti_CallbackId id) const {
  uint32_t stream = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  if (api_.cuptiGetStreamIdEx == nullptr) return stream;
  const uint8_t per_thread = functions_.IsPerThread(domain, id) ? 1 : 0;
  api_.cuptiGetStreamIdEx(call.context, static_cast<CUstream>(handle), per_thread, &stream);
  return stream;
}

void TimedCalls::Put(const TimedCall& call) noexcept {
  uint64_t place = next_put_.load(std::memory_order_relaxed);
  while (slots_ != nullptr) {
    Slot& slot = slots_[place % kSize];
    const uint64_t free = place / kSize * 2;
    const uint64_t turn = slot.turn.load(std::memory_order_acquire);
    if (turn < free) break;  // still filled, from one lap ago
    if (turn == free && next_put_.compare_exchange_weak(place, place + 1)) {
      slot.call = call;
      slot.turn.store(free + 1, std::memory_order_release);
      if (place % (kSize / 4) == 0) worker_->Set();
      return;
    }
    if (turn != free) place = next_put_.load(std::memory_order_relaxed);
  }
  lost_.fetch_add(1, std::memory_order_relaxed);
}

bool TimedCalls::Take(TimedCall* call) noexcept {
  if (slots_ == nullptr) return false;
  Slot& slot = slots_[next_take_ % kSize];
  const uint64_t free = next_take_ / kSize * 2;
  if (slot.turn.load(std::memory_order_acquire) != free + 1) return false;
  *call = slot.call;
  slot.turn.store(free + 2, std::memory_order_release);
  ++next_take_;
  return true;
}

}  // namespace gpubound
