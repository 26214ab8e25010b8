// SPDX-License-Identifier: Apache-2.0
//
// What the stand-in libcudart.so.13 keeps: the objects behind CUDA's opaque handles, the calling
// thread's state, and ApiCall, the frame that every API function is built on. Used by cudart_*.cc
// only.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_CUDART_STATE_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_CUDART_STATE_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_cupti/gpu_runtime.h"
#include "tests/sim/include/gpubound_sim.h"

#define GPUBOUND_CUDART_API extern "C" __attribute__((visibility("default")))

struct CUgraph_st {
  uint32_t id = 0;
  std::vector<gpubound::sim::GraphNode> nodes;
  std::vector<gpubound::sim::CopyEnds> ends;  // of each node
  std::vector<CUstream_st*> streams;          // in the capture in progress; the first began it
};

// Of a node that the program added, for good; of others while a profiler is told of the node.
struct CUgraphNode_st {
  uint64_t id = 0;
  CUgraph_st* graph = nullptr;  // where the program added it
};

struct CUgraphExec_st {
  uint32_t id = 0;
  CUgraph_st graph;  // its own, with the same id
  bool is_recorded_whole = false;
};

struct CUstream_st {
  gpubound::sim::StreamIndex index = 0;
  gpubound::sim::Place place;
  unsigned int flags = 0;
  int priority = 0;
  // Capture: the graph under construction and the nodes that the next one waits for.
  CUgraph_st* capture = nullptr;
  std::vector<uint32_t> capture_tail;
};

struct CUevent_st {
  gpubound::sim::EventIndex index = 0;
  uint64_t id = 0;
  unsigned int flags = 0;
  bool recorded = false;
  CUgraph_st* capture = nullptr;  // recorded inside a capture: where in it
  std::vector<uint32_t> capture_tail;
};

struct CUkern_st {
  std::string name;
  gpubound_sim_body body = nullptr;
  std::vector<size_t> argument_sizes;
  uint32_t registers_per_thread = 0;
  uint32_t static_shared_bytes = 0;
};

namespace gpubound::sim {

// Frame of one API call: initialises CUDA on first use, takes the correlation id, tells the
// profiler and the truth, and sets the thread's last error.
//
//     ApiCall call(CUPTI_RUNTIME_TRACE_CBID_cudaFree_v3020, "cudaFree", &params);
//     if (!call.ok()) return call.Fail();
//     ...
//     return call.Return(cudaSuccess);
class ApiCall {
 public:
  struct Launch {
    const char* symbol;  // kernel name, null for graphs
  };
  // |driver_params| are those of the driver's function, where they are others.
  ApiCall(uint32_t cbid, const char* name, const void* params = nullptr,
          const Launch* launch = nullptr, const void* driver_params = nullptr);
  ~ApiCall();
  ApiCall(const ApiCall&) = delete;
  ApiCall& operator=(const ApiCall&) = delete;

  bool ok() const { return ok_; }
  cudaError_t Fail() { return Return(cudaErrorInitializationError); }
  cudaError_t Return(cudaError_t result);
  uint32_t correlation() const { return info_.correlation; }
  TimeNs start_ns() const { return info_.start_ns; }

 private:
  // What recording this call is to cost.
  TimeNs OverheadNs(const InjectedOverhead& overhead) const;

  ApiInfo info_;
  bool ok_ = false;
  TimeNs overhead_ns_ = 0;
};

struct ThreadState {
  int device = 0;
  cudaError_t last_error = cudaSuccess;
  TimeNs last_call_end_ns = 0;
  std::vector<CUstream_st*> per_thread_streams;  // cudaStreamPerThread, by device
  struct LaunchConfiguration {
    dim3 grid, block;
    size_t shared;
    cudaStream_t stream;
  };
  std::vector<LaunchConfiguration> configurations;
};
ThreadState& CurrentThread();

inline uint32_t DeviceCount() { return GpuRuntime::Get().script().device.devices; }
inline uint32_t ContextOf(uint32_t device) { return device + 1; }

// The object behind |stream|, resolving null, cudaStreamLegacy and cudaStreamPerThread.
CUstream_st* ResolveStream(cudaStream_t stream);
CUstream_st* NewStream(uint32_t device, bool blocking, unsigned int flags, int priority);

// Ids of nodes: unique over the process, telling graph and position.
inline uint64_t NodeId(uint32_t graph, size_t node) { return (uint64_t{graph} << 32) | (node + 1); }
inline size_t NodePosition(uint64_t id) { return (id & UINT32_MAX) - 1; }
uint32_t NextGraphId();

// Puts |spec| at the end of |stream|: into its capture, or onto the device, with its record.
// Returns the operation, 0 when captured.
OpId SubmitTo(CUstream_st* stream, OpSpec spec, const CopyEnds& ends, const ApiCall& call);

// Blocks until |op| has completed and tells the profiler of a synchronisation of |type|.
void SynchronizeOp(OpId op, uint32_t type, CUstream_st* stream, uint64_t event,
                   const ApiCall& call);

// Objects behind handles that a program may never destroy: kept in sight of leak checkers, which
// would otherwise blame the program under test for what a real driver holds.
void KeepHandle(const void* handle);
void ForgetHandle(const void* handle);
template <typename T>
T* NewHandle(T value) {
  T* handle = new T(std::move(value));
  KeepHandle(handle);
  return handle;
}
template <typename T>
void DeleteHandle(T* handle) {
  ForgetHandle(handle);
  delete handle;
}

// Kernels, by the address of their host function.
CUkern_st* FindKernel(const void* function);
void RegisterKernel(const void* function, CUkern_st kernel);
// What a launch of |kernel| is for the device. |args| are copied.
OpSpec KernelOp(const CUkern_st& kernel, dim3 grid, dim3 block, void** args, size_t shared);

// How |pointer| was allocated: a CUpti_ActivityMemoryKind.
uint8_t MemoryKindOf(const void* pointer);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_CUDART_STATE_H_
