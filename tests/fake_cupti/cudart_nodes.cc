// SPDX-License-Identifier: Apache-2.0
//
// Graphs of the stand-in libcudart.so.13 that a program makes node by node, of kernels. A runtime
// function is given the address of a kernel's host function; the driver's, which it calls, a
// CUfunction (cudaGraphAddKernelNode and the like) or a CUkernel (cudaGraphAddNode).
#include <cuda.h>
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include <utility>

#include "tests/fake_cupti/cudart_state.h"

namespace gpubound::sim {
namespace {

// The driver's parameters, as generated_cuda_meta.h has them, which needs types that cuda.h keeps
// to itself.
struct DriverAddKernelNode {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* dependencies;
  size_t count;
  const CUDA_KERNEL_NODE_PARAMS* parameters;
};
struct DriverAddNode {
  CUgraphNode* node;
  CUgraph graph;
  const CUgraphNode* dependencies;
  const CUgraphEdgeData* edges;
  size_t count;
  CUgraphNodeParams* parameters;
};
struct DriverSetNode {
  CUgraphNode node;
  const CUDA_KERNEL_NODE_PARAMS* parameters;
};
struct DriverSetNodeOf {
  CUgraphExec executable;
  CUgraphNode node;
  const CUDA_KERNEL_NODE_PARAMS* parameters;
};

// What a node is to run, and the same in the driver's words.
struct KernelNode {
  CUkern_st* kernel = nullptr;
  dim3 grid, block;
  unsigned int shared = 0;
  void** args = nullptr;

  template <typename Parameters>
  explicit KernelNode(const Parameters& from)
      : kernel(FindKernel(from.func)),
        grid(from.gridDim),
        block(from.blockDim),
        shared(from.sharedMemBytes),
        args(from.kernelParams) {}

  template <typename Parameters>
  void Write(Parameters* to) const {
    to->gridDimX = grid.x;
    to->gridDimY = grid.y;
    to->gridDimZ = grid.z;
    to->blockDimX = block.x;
    to->blockDimY = block.y;
    to->blockDimZ = block.z;
    to->sharedMemBytes = shared;
    to->kernelParams = args;
  }
  CUDA_KERNEL_NODE_PARAMS AsFunction() const {
    CUDA_KERNEL_NODE_PARAMS parameters = {};
    Write(&parameters);
    parameters.func = reinterpret_cast<CUfunction>(kernel);
    return parameters;
  }
  CUgraphNodeParams AsKernel() const {
    CUgraphNodeParams parameters = {};
    parameters.type = CU_GRAPH_NODE_TYPE_KERNEL;
    Write(&parameters.kernel);
    parameters.kernel.kern = kernel;
    return parameters;
  }
  OpSpec Op() const { return KernelOp(*kernel, grid, block, args, shared); }
};

cudaError_t Add(ApiCall& call, const KernelNode& from, cudaGraph_t graph,
                const cudaGraphNode_t* dependencies, size_t count, cudaGraphNode_t* node) {
  if (!call.ok()) return call.Fail();
  if (graph == nullptr || node == nullptr) return call.Return(cudaErrorInvalidValue);
  if (from.kernel == nullptr) return call.Return(cudaErrorInvalidDeviceFunction);
  GraphNode added = {.spec = from.Op(), .after = {}};
  for (size_t i = 0; i < count; ++i) {
    added.after.push_back(static_cast<uint32_t>(NodePosition(dependencies[i]->id)));
  }
  const uint64_t id = NodeId(graph->id, graph->nodes.size());
  graph->nodes.push_back(std::move(added));
  graph->ends.emplace_back();
  *node = NewHandle(CUgraphNode_st{.id = id, .graph = graph});
  if (ProfilerTap* tap = GpuRuntime::Get().tap()) {
    tap->GraphNodeMade({.graph = graph, .node = id, .original = 0, .kind = OpKind::kKernel});
  }
  return call.Return(cudaSuccess);
}

// Also the one of |executable| that was made of |node|.
bool IsIn(const CUgraph_st& graph, cudaGraphNode_t node) {
  return node != nullptr && NodePosition(node->id) < graph.nodes.size();
}

}  // namespace
}  // namespace gpubound::sim

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

GPUBOUND_CUDART_API cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphCreate_v10000, "cudaGraphCreate");
  if (!call.ok()) return call.Fail();
  *graph = NewHandle(CUgraph_st());
  (*graph)->id = NextGraphId();
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                       const cudaGraphNode_t* dependencies,
                                                       size_t count,
                                                       const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const KernelNode kernel(*parameters);
  const CUDA_KERNEL_NODE_PARAMS inner = kernel.AsFunction();
  const cudaGraphAddKernelNode_v10000_params params = {node, graph, dependencies, count,
                                                       parameters};
  const DriverAddKernelNode driver_params = {node, graph, dependencies, count, &inner};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddKernelNode_v10000, "cudaGraphAddKernelNode",
               &params, nullptr, &driver_params);
  return Add(call, kernel, graph, dependencies, count, node);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                                 const cudaGraphNode_t* dependencies,
                                                 const cudaGraphEdgeData* edges, size_t count,
                                                 cudaGraphNodeParams* parameters) {
  if (parameters == nullptr || parameters->type != cudaGraphNodeTypeKernel) {
    return cudaErrorNotSupported;  // only kernels are modelled
  }
  const KernelNode kernel(parameters->kernel);
  CUgraphNodeParams inner = kernel.AsKernel();
  const cudaGraphAddNode_v12030_params params = {node,  graph, dependencies,
                                                 edges, count, parameters};
  const DriverAddNode driver_params = {node, graph, dependencies, nullptr, count, &inner};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphAddNode_v12030, "cudaGraphAddNode", &params,
               nullptr, &driver_params);
  return Add(call, kernel, graph, dependencies, count, node);
}

GPUBOUND_CUDART_API cudaError_t
cudaGraphKernelNodeSetParams(cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const KernelNode kernel(*parameters);
  const CUDA_KERNEL_NODE_PARAMS inner = kernel.AsFunction();
  const cudaGraphKernelNodeSetParams_v10000_params params = {node, parameters};
  const DriverSetNode driver_params = {node, &inner};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphKernelNodeSetParams_v10000,
               "cudaGraphKernelNodeSetParams", &params, nullptr, &driver_params);
  if (!call.ok()) return call.Fail();
  if (node == nullptr || node->graph == nullptr || kernel.kernel == nullptr) {
    return call.Return(cudaErrorInvalidValue);
  }
  node->graph->nodes[NodePosition(node->id)].spec = kernel.Op();
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphExecKernelNodeSetParams(
    cudaGraphExec_t executable, cudaGraphNode_t node, const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const KernelNode kernel(*parameters);
  const CUDA_KERNEL_NODE_PARAMS inner = kernel.AsFunction();
  const cudaGraphExecKernelNodeSetParams_v10010_params params = {executable, node, parameters};
  const DriverSetNodeOf driver_params = {executable, node, &inner};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecKernelNodeSetParams_v10010,
               "cudaGraphExecKernelNodeSetParams", &params, nullptr, &driver_params);
  if (!call.ok()) return call.Fail();
  if (executable == nullptr || kernel.kernel == nullptr || !IsIn(executable->graph, node)) {
    return call.Return(cudaErrorInvalidValue);
  }
  const size_t position = NodePosition(node->id);
  executable->graph.nodes[position].spec = kernel.Op();
  if (ProfilerTap* tap = GpuRuntime::Get().tap()) {
    tap->GraphNodeUpdated({.executable = executable,
                           .node = NodeId(executable->id, position),
                           .source = 0,
                           .kind = OpKind::kKernel});
  }
  return call.Return(cudaSuccess);
}
