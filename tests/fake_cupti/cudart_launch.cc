// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the stand-in libcudart.so.13: registration (by nvcc's start-up code, or with a host
// body through gpubound_sim.h) and every form of launch.
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include <cstring>
#include <utility>

#include "tests/fake_cupti/cudart_state.h"

namespace gpubound::sim {
namespace {

// Arguments of one launch, copied when it is made: the program may reuse its own at once.
struct LaunchArguments {
  std::vector<std::vector<unsigned char>> storage;
  std::vector<void*> pointers;
};

std::function<void()> BindBody(const CUkern_st& kernel, dim3 grid, dim3 block, void** args) {
  if (kernel.body == nullptr) return nullptr;
  auto copied = std::make_shared<LaunchArguments>();
  for (size_t i = 0; i < kernel.argument_sizes.size(); ++i) {
    const auto* bytes = static_cast<const unsigned char*>(args[i]);
    copied->storage.emplace_back(bytes, bytes + kernel.argument_sizes[i]);
  }
  for (auto& argument : copied->storage) copied->pointers.push_back(argument.data());
  return [body = kernel.body, grid, block, copied] {
    const gpubound_sim_launch launch = {
        {grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, copied->pointers.data()};
    body(&launch);
  };
}

cudaError_t Launch(ApiCall& call, const CUkern_st* kernel, dim3 grid, dim3 block, void** args,
                   size_t shared, cudaStream_t stream) {
  if (!call.ok()) return call.Fail();
  if (kernel == nullptr) return call.Return(cudaErrorInvalidDeviceFunction);
  const bool empty = grid.x * grid.y * grid.z == 0 || block.x * block.y * block.z == 0;
  if (empty || block.x * block.y * block.z > 1024) {
    return call.Return(cudaErrorInvalidConfiguration);
  }
  SubmitTo(ResolveStream(stream), KernelOp(*kernel, grid, block, args, shared), {}, call);
  return call.Return(cudaSuccess);
}

cudaError_t LaunchFunction(uint32_t cbid, const char* name, const void* function, dim3 grid,
                           dim3 block, void** args, size_t shared, cudaStream_t stream) {
  cudaLaunchKernel_v7000_params params = {};
  params.func = function;
  params.gridDim = grid;
  params.blockDim = block;
  params.args = args;
  params.sharedMem = shared;
  params.stream = stream;
  const CUkern_st* kernel = FindKernel(function);
  const ApiCall::Launch launch = {kernel == nullptr ? nullptr : kernel->name.c_str()};
  ApiCall call(cbid, name, &params, &launch);
  return Launch(call, kernel, grid, block, args, shared, stream);
}

}  // namespace

OpSpec KernelOp(const CUkern_st& kernel, dim3 grid, dim3 block, void** args, size_t shared) {
  OpSpec spec;
  spec.kind = OpKind::kKernel;
  spec.name = kernel.name;
  spec.work = {.kind = WorkKind::kKernel,
               .copy_kind = 0,
               .grid = {grid.x, grid.y, grid.z},
               .block = {block.x, block.y, block.z},
               .registers_per_thread = kernel.registers_per_thread,
               .static_shared_bytes = kernel.static_shared_bytes,
               .dynamic_shared_bytes = static_cast<uint32_t>(shared)};
  spec.body = BindBody(kernel, grid, block, args);
  spec.external_body = spec.body != nullptr;
  return spec;
}

}  // namespace gpubound::sim

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

GPUBOUND_CUDART_API const int gpubound_simulated_device = 1;

GPUBOUND_CUDART_API int gpubound_sim_register_kernel(
    const void* function, const char* name, gpubound_sim_body body, const size_t* argument_sizes,
    uint32_t argument_count, uint32_t registers_per_thread, uint32_t static_shared_bytes) {
  if (function == nullptr || name == nullptr) return -1;
  if (argument_count > 0 && argument_sizes == nullptr) return -1;
  RegisterKernel(function, {.name = name,
                            .body = body,
                            .argument_sizes = {argument_sizes, argument_sizes + argument_count},
                            .registers_per_thread = registers_per_thread,
                            .static_shared_bytes = static_shared_bytes});
  return 0;
}

// --- What nvcc's start-up code calls. The device code itself is never looked at.

GPUBOUND_CUDART_API void** __cudaRegisterFatBinary(void* fat_binary) {
  return NewHandle(fat_binary);
}
GPUBOUND_CUDART_API void __cudaRegisterFatBinaryEnd(void**) {}
GPUBOUND_CUDART_API void __cudaUnregisterFatBinary(void** handle) { DeleteHandle(handle); }
GPUBOUND_CUDART_API char __cudaInitModule(void**) { return 1; }
GPUBOUND_CUDART_API void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int,
                                           int) {}
GPUBOUND_CUDART_API void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t,
                                                  int, int) {}
GPUBOUND_CUDART_API void __cudaRegisterFunction(void**, const char* host_function, char*,
                                                const char* device_name, int, uint3*, uint3*, dim3*,
                                                dim3*, int*) {
  if (FindKernel(host_function) != nullptr) return;  // a host body was given first
  RegisterKernel(host_function, {.name = device_name,
                                 .body = nullptr,
                                 .argument_sizes = {},
                                 .registers_per_thread = 32,
                                 .static_shared_bytes = 0});
}

GPUBOUND_CUDART_API unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                                         CUstream_st* stream) {
  CurrentThread().configurations.push_back({grid, block, shared, stream});
  return 0;
}

GPUBOUND_CUDART_API cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared,
                                                           void* stream) {
  auto& configurations = CurrentThread().configurations;
  if (configurations.empty()) return cudaErrorMissingConfiguration;
  *grid = configurations.back().grid;
  *block = configurations.back().block;
  *shared = configurations.back().shared;
  *static_cast<cudaStream_t*>(stream) = configurations.back().stream;
  configurations.pop_back();
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  *kernel = FindKernel(function);
  return *kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

// --- Launches

GPUBOUND_CUDART_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                   void** args, size_t shared,
                                                   cudaStream_t stream) {
  cudaLaunchKernel_v7000_params params = {};
  params.func = kernel;
  params.gridDim = grid;
  params.blockDim = block;
  params.args = args;
  params.sharedMem = shared;
  params.stream = stream;
  const ApiCall::Launch launch = {kernel == nullptr ? nullptr : kernel->name.c_str()};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel", &params,
               &launch);
  return Launch(call, kernel, grid, block, args, shared, stream);
}

GPUBOUND_CUDART_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                        void** args, size_t shared,
                                                        cudaStream_t stream) {
  return __cudaLaunchKernel(kernel, grid, block, args, shared,
                            stream == nullptr ? cudaStreamPerThread : stream);
}

GPUBOUND_CUDART_API cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block,
                                                 void** args, size_t shared, cudaStream_t stream) {
  return LaunchFunction(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel",
                        function, grid, block, args, shared, stream);
}

GPUBOUND_CUDART_API cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid,
                                                            dim3 block, void** args, size_t shared,
                                                            cudaStream_t stream) {
  return LaunchFunction(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
                        "cudaLaunchCooperativeKernel", function, grid, block, args, shared, stream);
}

GPUBOUND_CUDART_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config,
                                                    const void* function, void** args) {
  return LaunchFunction(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, "cudaLaunchKernelExC",
                        function, config->gridDim, config->blockDim, args, config->dynamicSmemBytes,
                        config->stream);
}

GPUBOUND_CUDART_API cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function,
                                                   void* user_data) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchHostFunc_v10000, "cudaLaunchHostFunc");
  if (!call.ok()) return call.Fail();
  OpSpec spec;
  spec.kind = OpKind::kHostFunction;
  spec.external_body = true;
  spec.body = [function, user_data] { function(user_data); };
  SubmitTo(ResolveStream(stream), std::move(spec), {}, call);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes,
                                                      const void* function) {
  const CUkern_st* kernel = FindKernel(function);
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  *attributes = {};
  attributes->numRegs = static_cast<int>(kernel->registers_per_thread);
  attributes->sharedSizeBytes = kernel->static_shared_bytes;
  attributes->maxThreadsPerBlock = 1024;
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute, int) {
  return FindKernel(function) == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}
