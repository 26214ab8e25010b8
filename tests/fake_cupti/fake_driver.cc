// SPDX-License-Identifier: Apache-2.0
//
// Of the stand-in libcuda.so.1: the names of kernels, which the driver tells since 12.3. Functions
// of the stand-in runtime are kernels, whose name comes first (CUkern_st).
#include <cuda.h>

#include "tests/fake_cupti/cudart_state.h"

namespace {

CUresult NameOf(const CUkern_st* kernel, const char** name) {
  if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = kernel->name.c_str();
  return CUDA_SUCCESS;
}

}  // namespace

GPUBOUND_CUDART_API CUresult cuFuncGetName(const char** name, CUfunction function) {
  return NameOf(reinterpret_cast<const CUkern_st*>(function), name);
}

GPUBOUND_CUDART_API CUresult cuKernelGetName(const char** name, CUkernel kernel) {
  return NameOf(kernel, name);
}
