// SPDX-License-Identifier: Apache-2.0
//
// Of the stand-in libcuda.so.1: the names of kernels, which the driver tells since 12.3. Functions
// of the stand-in runtime are kernels, whose name comes first (CUkern_st). A profiler is told of
// these calls as of any other.
#include <cuda.h>
#include <cupti_driver_cbid.h>

#include "tests/fake_cupti/cudart_state.h"

namespace gpubound::sim {
namespace {

CUresult NameOf(uint32_t cbid, const char* function, const CUkern_st* kernel, const char** name) {
  GpuRuntime& runtime = GpuRuntime::Get();
  ProfilerTap* tap = runtime.tap();
  ApiInfo call;
  call.domain = ApiDomain::kDriver;
  call.cbid = cbid;
  call.name = function;
  call.correlation = runtime.NextCorrelation();
  call.start_ns = RealtimeNs();
  if (tap != nullptr) tap->ApiEnter(&call);
  if (kernel == nullptr || name == nullptr) {
    call.result = CUDA_ERROR_INVALID_VALUE;
  } else {
    *name = kernel->name.c_str();
  }
  call.end_ns = RealtimeNs();
  if (tap != nullptr) tap->ApiExit(&call);
  return static_cast<CUresult>(call.result);
}

}  // namespace
}  // namespace gpubound::sim

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

GPUBOUND_CUDART_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  return NameOf(CUPTI_DRIVER_TRACE_CBID_cuFuncGetName, "cuFuncGetName",
                reinterpret_cast<const CUkern_st*>(function), name);
}

GPUBOUND_CUDART_API CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return NameOf(CUPTI_DRIVER_TRACE_CBID_cuKernelGetName, "cuKernelGetName", kernel, name);
}
