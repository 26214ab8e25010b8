// SPDX-License-Identifier: Apache-2.0
//
// Stream capture and graphs of the stand-in libcudart.so.13.
#include <cupti_runtime_cbid.h>
#include <generated_cuda_runtime_api_meta.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "tests/fake_cupti/cudart_state.h"

namespace gpubound::sim {

uint32_t NextGraphId() {
  static std::atomic<uint32_t> next{1};
  return next.fetch_add(1);
}

namespace {

cudaError_t Instantiate(ApiCall& call, cudaGraphExec_t* executable, cudaGraph_t graph) {
  if (!call.ok()) return call.Fail();
  if (executable == nullptr || graph == nullptr) return call.Return(cudaErrorInvalidValue);
  CUgraphExec_st* made = NewHandle(CUgraphExec_st{.id = NextGraphId(), .graph = *graph});
  made->graph.id = made->id;
  *executable = made;
  if (ProfilerTap* tap = GpuRuntime::Get().tap()) {
    for (size_t i = 0; i < graph->nodes.size(); ++i) {
      tap->GraphNodeMade({.graph = &made->graph,
                          .node = NodeId(made->id, i),
                          .original = NodeId(graph->id, i),
                          .kind = graph->nodes[i].spec.kind});
    }
    made->is_recorded_whole = tap->RecordsGraphsWhole();
    tap->GraphInstantiated(made);
  }
  return call.Return(cudaSuccess);
}

void LaunchGraph(const CUgraphExec_st& executable, CUstream_st* stream, const ApiCall& call) {
  GpuRuntime& runtime = GpuRuntime::Get();
  ProfilerTap* tap = runtime.tap();
  std::vector<GraphNode> nodes = executable.graph.nodes;
  uint64_t graph_record = 0;
  // From before the profiler asked for whole graphs: neither the graph nor its nodes.
  const bool is_lost = tap != nullptr && tap->RecordsGraphsWhole() && !executable.is_recorded_whole;
  if (is_lost) tap = nullptr;
  if (tap != nullptr) {
    graph_record = tap->ReserveGraph(executable.id, call.correlation(), stream->place);
  }
  for (size_t i = 0; i < nodes.size(); ++i) {
    OpSpec& spec = nodes[i].spec;
    spec.tid = SystemThreadId();
    spec.graph = executable.id;
    spec.graph_node = NodeId(executable.id, i);
    spec.correlation = runtime.script().faults.separate_graph_correlations
                           ? runtime.NextCorrelation()
                           : call.correlation();
    if (tap != nullptr && graph_record == 0 && IsDeviceWork(spec.kind)) {
      spec.user = tap->Reserve(spec, stream->place, executable.graph.ends[i]);
    }
  }
  runtime.WaitForRoom(stream->index);
  runtime.WithModel([&](SimDevice& model) {
    for (const GraphNode& node : nodes) {
      if (node.spec.external_body) runtime.CountExternalBody();
    }
    model.SubmitGraph(stream->index, nodes, graph_record, std::max(RealtimeNs(), model.now()));
  });
}

// Whether the nodes of |update| are those of |graph|, but for what each does.
bool HaveSameTopology(const CUgraph_st& graph, const CUgraph_st& update) {
  return std::equal(graph.nodes.begin(), graph.nodes.end(), update.nodes.begin(),
                    update.nodes.end(), [](const GraphNode& own, const GraphNode& other) {
                      return own.spec.kind == other.spec.kind && own.after == other.after;
                    });
}

// From the last node to the first, as real CUPTI tells of them.
void TellOfUpdate(CUgraphExec_st* executable, const CUgraph_st& update) {
  ProfilerTap* tap = GpuRuntime::Get().tap();
  if (tap == nullptr) return;
  for (size_t i = update.nodes.size(); i-- > 0;) {
    tap->GraphNodeUpdated({.executable = executable,
                           .node = NodeId(executable->id, i),
                           .source = NodeId(update.id, i),
                           .kind = update.nodes[i].spec.kind});
  }
}

}  // namespace
}  // namespace gpubound::sim

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

GPUBOUND_CUDART_API cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamBeginCapture_v10000, "cudaStreamBeginCapture");
  if (!call.ok()) return call.Fail();
  const bool legacy = handle == nullptr || handle == cudaStreamLegacy;
  if (legacy) return call.Return(cudaErrorStreamCaptureUnsupported);
  CUstream_st* stream = ResolveStream(handle);
  if (stream->capture != nullptr) return call.Return(cudaErrorStreamCaptureUnsupported);
  stream->capture = NewHandle(CUgraph_st());
  stream->capture->id = NextGraphId();
  stream->capture->streams = {stream};
  stream->capture_tail.clear();
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaStreamEndCapture_v10000, "cudaStreamEndCapture");
  if (!call.ok()) return call.Fail();
  CUstream_st* stream = ResolveStream(handle);
  if (stream->capture == nullptr || stream->capture->streams.front() != stream) {
    return call.Return(cudaErrorStreamCaptureUnmatched);
  }
  *graph = stream->capture;
  for (CUstream_st* joined : std::exchange((*graph)->streams, {})) {
    joined->capture = nullptr;
    joined->capture_tail.clear();
  }
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaStreamIsCapturing(cudaStream_t handle,
                                                      cudaStreamCaptureStatus* status) {
  const bool capturing = ResolveStream(handle)->capture != nullptr;
  *status = capturing ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}

GPUBOUND_CUDART_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                     unsigned long long) {  // NOLINT: CUDA's type
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiate_v12000, "cudaGraphInstantiate");
  return Instantiate(call, executable, graph);
}

GPUBOUND_CUDART_API cudaError_t
cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                              unsigned long long) {  // NOLINT: CUDA's type
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphInstantiateWithFlags_v11040,
               "cudaGraphInstantiateWithFlags");
  return Instantiate(call, executable, graph);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
  const ApiCall::Launch launch = {nullptr};
  const cudaGraphLaunch_v10000_params params = {executable, handle};
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch", &params,
               &launch);
  if (!call.ok()) return call.Fail();
  if (executable == nullptr) return call.Return(cudaErrorInvalidValue);
  LaunchGraph(*executable, ResolveStream(handle), call);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                                    cudaGraphExecUpdateResultInfo* result) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecUpdate_v10020, "cudaGraphExecUpdate");
  if (!call.ok()) return call.Fail();
  if (executable == nullptr || graph == nullptr || result == nullptr) {
    return call.Return(cudaErrorInvalidValue);
  }
  *result = {};
  if (!HaveSameTopology(executable->graph, *graph)) {
    result->result = cudaGraphExecUpdateErrorTopologyChanged;
    return call.Return(cudaErrorGraphExecUpdateFailure);
  }
  executable->graph.nodes = graph->nodes;
  executable->graph.ends = graph->ends;
  TellOfUpdate(executable, *graph);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphExecDestroy_v10000, "cudaGraphExecDestroy");
  if (!call.ok()) return call.Fail();
  DeleteHandle(executable);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaGraphDestroy_v10000, "cudaGraphDestroy");
  if (!call.ok()) return call.Fail();
  DeleteHandle(graph);
  return call.Return(cudaSuccess);
}

GPUBOUND_CUDART_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes,
                                                  size_t* count) {
  if (graph == nullptr || count == nullptr) return cudaErrorInvalidValue;
  if (nodes != nullptr) return cudaErrorNotSupported;  // only the count is modelled
  *count = graph->nodes.size();
  return cudaSuccess;
}
