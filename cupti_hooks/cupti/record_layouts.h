// SPDX-License-Identifier: Apache-2.0
//
// The structures through which CUPTI's records are read, those of 11.8, and what later ones added
// at their end. The assertions pin the fields that were checked to lie at the same place in 11.8 to
// 13.0. Constants.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_RECORD_LAYOUTS_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_RECORD_LAYOUTS_H_

#include <cstddef>
#include <cstdint>

#include "cupti_hooks/cupti/cupti_api.h"

namespace gpubound {

using KernelRecord = CUpti_ActivityKernel5;
using MemcpyRecord = CUpti_ActivityMemcpy5;
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using MemsetRecord = CUpti_ActivityMemset4;
using GraphRecord = CUpti_ActivityGraphTrace;
using DeviceLimitsRecord = CUpti_ActivityDevice4;

static_assert(offsetof(KernelRecord, correlationId) == 92 && offsetof(KernelRecord, name) == 104 &&
              offsetof(KernelRecord, graphNodeId) == 144 && offsetof(KernelRecord, graphId) == 156);
static_assert(offsetof(MemcpyRecord, correlationId) == 44 &&
              offsetof(MemcpyRecord, graphNodeId) == 64 && offsetof(MemcpyRecord, graphId) == 72);
static_assert(offsetof(PeerCopyRecord, correlationId) == 60 &&
              offsetof(PeerCopyRecord, graphNodeId) == 72 &&
              offsetof(PeerCopyRecord, graphId) == 80);
static_assert(offsetof(MemsetRecord, correlationId) == 44 &&
              offsetof(MemsetRecord, graphNodeId) == 64 && offsetof(MemsetRecord, graphId) == 72);
static_assert(offsetof(GraphRecord, streamId) == 36 && offsetof(DeviceLimitsRecord, id) == 112 &&
              offsetof(DeviceLimitsRecord, uuid) == 120 &&
              offsetof(DeviceLimitsRecord, migUuid) == 160);
static_assert(offsetof(CUpti_ActivitySynchronization, cudaEventId) == 36 &&
              offsetof(CUpti_ActivityCudaEvent, streamId) == 12 &&
              offsetof(CUpti_ActivityCudaEvent, eventId) == 16 &&
              offsetof(CUpti_ActivityOverhead, end) == 32 &&
              offsetof(CUpti_ActivityAPI, returnValue) == 36);

// CUpti_ActivityContext2, which headers before 12.4 do not have, as far as it is read.
struct ContextRecord {
  CUpti_ActivityKind kind;
  uint32_t context;
  uint32_t device;
  uint16_t api_kind;
  uint16_t null_stream;
  uint32_t parent;
  uint8_t is_green;
  uint8_t padding;
  uint16_t multiprocessors;
};
static_assert(offsetof(ContextRecord, parent) == 16 && sizeof(ContextRecord) == 24);

// CUpti_ActivityGreenContext, which headers before 13.2 do not have, as far as it is read.
struct GreenContextRecord {
  CUpti_ActivityKind kind;
  uint32_t context;
  uint32_t parent;
  uint32_t device;
  uint32_t tpcs;
  uint16_t multiprocessors;
};
static_assert(offsetof(GreenContextRecord, device) == 12 &&
              offsetof(GreenContextRecord, multiprocessors) == 20);

// CUpti_ActivityOverhead2::correlationId, which headers before 12.3 do not have.
inline constexpr size_t kOverheadCorrelationOffset = 40;

// CUpti_ActivityGraphTrace2::endDeviceId and endContextId, likewise: since then a graph may begin
// on the host, in a node of the program's own.
inline constexpr size_t kGraphEndDeviceOffset = 48, kGraphEndContextOffset = 52;
inline constexpr uint32_t kOnHost = INT32_MAX;

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_RECORD_LAYOUTS_H_
