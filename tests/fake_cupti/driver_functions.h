// SPDX-License-Identifier: Apache-2.0
//
// Which function of the driver each function of the runtime calls, as far as anybody looks: on an
// H100 (driver 580) CUPTI calls back for both, the driver's inside the runtime's, with one
// correlation id. Where both have parameters, they are the same handles at the same places, but for
// the nodes of graphs (cudart_nodes.cc).
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_DRIVER_FUNCTIONS_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_DRIVER_FUNCTIONS_H_

#include <cupti_driver_cbid.h>
#include <cupti_runtime_cbid.h>

#include <cstdint>

namespace gpubound::sim {

struct DriverFunction {
  uint32_t runtime_cbid;
  uint32_t cbid;
  const char* name;
};

inline constexpr DriverFunction kDriverFunctions[] = {
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
     "cuLaunchKernel"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
     "cuLaunchKernelEx"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch,
     "cuGraphLaunch"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddKernelNode_v10000,
     CUPTI_DRIVER_TRACE_CBID_cuGraphAddKernelNode_v2, "cuGraphAddKernelNode_v2"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddNode_v12030, CUPTI_DRIVER_TRACE_CBID_cuGraphAddNode_v2,
     "cuGraphAddNode_v2"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGraphKernelNodeSetParams_v10000,
     CUPTI_DRIVER_TRACE_CBID_cuGraphKernelNodeSetParams_v2, "cuGraphKernelNodeSetParams_v2"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecKernelNodeSetParams_v10010,
     CUPTI_DRIVER_TRACE_CBID_cuGraphExecKernelNodeSetParams_v2,
     "cuGraphExecKernelNodeSetParams_v2"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, CUPTI_DRIVER_TRACE_CBID_cuMemsetD8Async,
     "cuMemsetD8Async"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, CUPTI_DRIVER_TRACE_CBID_cuMemcpyAsync,
     "cuMemcpyAsync"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaEventRecord_v3020, CUPTI_DRIVER_TRACE_CBID_cuEventRecord,
     "cuEventRecord"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaEventRecordWithFlags_v11010,
     CUPTI_DRIVER_TRACE_CBID_cuEventRecordWithFlags, "cuEventRecordWithFlags"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaEventQuery_v3020, CUPTI_DRIVER_TRACE_CBID_cuEventQuery,
     "cuEventQuery"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaStreamQuery_v3020, CUPTI_DRIVER_TRACE_CBID_cuStreamQuery,
     "cuStreamQuery"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaEventSynchronize_v3020,
     CUPTI_DRIVER_TRACE_CBID_cuEventSynchronize, "cuEventSynchronize"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaStreamSynchronize_v3020,
     CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, "cuStreamSynchronize"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaStreamWaitEvent_v3020, CUPTI_DRIVER_TRACE_CBID_cuStreamWaitEvent,
     "cuStreamWaitEvent"},
    {CUPTI_RUNTIME_TRACE_CBID_cudaDeviceSynchronize_v3020, CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize,
     "cuCtxSynchronize"},
};

// Null: none that is known.
inline const DriverFunction* DriverFunctionOf(uint32_t runtime_cbid) {
  for (const DriverFunction& function : kDriverFunctions) {
    if (function.runtime_cbid == runtime_cbid) return &function;
  }
  return nullptr;
}

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_DRIVER_FUNCTIONS_H_
