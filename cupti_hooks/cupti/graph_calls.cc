// SPDX-License-Identifier: Apache-2.0
//
// The table of graph_calls.h, and how a kernel lies in a node's parameters. No state.
#include "cupti_hooks/cupti/graph_calls.h"

#include <cstddef>

namespace gpubound {
namespace {

constexpr NodeFunction kFunctions[] = {
    {"cuGraphAddKernelNode", NodeChange::kAdded, 4, false, false},
    {"cuGraphAddKernelNode_v2", NodeChange::kAdded, 4, false, true},
    {"cuGraphAddNode", NodeChange::kAdded, 4, true, true},
    {"cuGraphAddNode_v2", NodeChange::kAdded, 5, true, true},
    {"cuGraphExecKernelNodeSetParams", NodeChange::kSetInExecutable, 2, false, false},
    {"cuGraphExecKernelNodeSetParams_v2", NodeChange::kSetInExecutable, 2, false, true},
    {"cuGraphExecNodeSetParams", NodeChange::kSetInExecutable, 2, true, true},
    {"cuGraphKernelNodeSetParams", NodeChange::kSet, 1, false, false},
    {"cuGraphKernelNodeSetParams_v2", NodeChange::kSet, 1, false, true},
    {"cuGraphNodeSetParams", NodeChange::kSet, 1, true, true},
};

// CUDA_KERNEL_NODE_PARAMS_v2, and _v3 of CUDA 12.2, which is the same so far; _v1 ends before the
// kernel.
using KernelParameters = CUDA_KERNEL_NODE_PARAMS_v2;
static_assert(offsetof(KernelParameters, func) == 0 && offsetof(KernelParameters, kern) == 56);

// Of CUgraphNodeParams, which the headers of CUDA 12.0 do not have: where those of a kernel begin.
constexpr size_t kKernelAt = 16;
#if CUDA_VERSION >= 12020
static_assert(offsetof(CUgraphNodeParams, type) == 0 &&
              offsetof(CUgraphNodeParams, kernel) == kKernelAt);
#endif

}  // namespace

const NodeFunction* NodeFunctionCalled(std::string_view name) {
  for (const NodeFunction& function : kFunctions) {
    if (function.name == name) return &function;
  }
  return nullptr;
}

const char* KernelNameOf(const CuptiApi& api, const NodeFunction& function,
                         const CUpti_CallbackData& call) {
  if (call.functionParams == nullptr) return nullptr;
  const auto* bytes = static_cast<const uint8_t*>(ParameterOf(call, function.parameters_at));
  if (bytes == nullptr) return nullptr;
  if (function.of_any_type) {
    if (NumberAt(bytes, 0) != CU_GRAPH_NODE_TYPE_KERNEL) return nullptr;
    bytes += kKernelAt;
  }
  const auto* kernel = reinterpret_cast<const KernelParameters*>(bytes);
  const char* name = nullptr;
  if (kernel->func != nullptr) {
    const bool told =
        api.cuFuncGetName != nullptr && api.cuFuncGetName(&name, kernel->func) == CUDA_SUCCESS;
    return told ? name : nullptr;
  }
  if (!function.knows_kernels || kernel->kern == nullptr || api.cuKernelGetName == nullptr) {
    return nullptr;
  }
  return api.cuKernelGetName(&name, kernel->kern) == CUDA_SUCCESS ? name : nullptr;
}

}  // namespace gpubound
