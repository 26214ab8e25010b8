// SPDX-License-Identifier: Apache-2.0
//
// graphs K R [added]: captures K kernels in operation `capture` and replays the graph R times in
// operation `inference`; with `added` the kernels are added and not captured, as XLA does. One
// thread.
#include <gpubound/annotate.h>

#include "tests/gpu/programs/spin.h"

namespace {

cudaGraphExec_t Capture(cudaStream_t stream, int kernels) {
  GPUBOUND_OPERATION("capture");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  Check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  for (int i = 0; i < kernels; ++i) LaunchSpin(stream, 5'000);
  Check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  Check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  return executable;
}

cudaGraphExec_t Build(int kernels) {
  GPUBOUND_OPERATION("capture");
  cudaGraph_t graph = nullptr;
  Check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  long long ns = 5'000;
  void* arguments[] = {&ns};
  cudaKernelNodeParams kernel = {};
  kernel.func = const_cast<void*>(SpinKernel());
  kernel.gridDim = dim3(1);
  kernel.blockDim = dim3(32);
  kernel.kernelParams = arguments;
  cudaGraphNode_t last = nullptr;
  for (int i = 0; i < kernels; ++i) {
    cudaGraphNode_t node = nullptr;
    Check(cudaGraphAddKernelNode(&node, graph, i == 0 ? nullptr : &last, i == 0 ? 0 : 1, &kernel),
          "cudaGraphAddKernelNode");
    last = node;
  }
  cudaGraphExec_t executable = nullptr;
  Check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  ns = 10'000;
  if (last != nullptr) {
    Check(cudaGraphExecKernelNodeSetParams(executable, last, &kernel), "SetParams");
  }
  return executable;
}

void Replay(cudaGraphExec_t executable, cudaStream_t stream) {
  GPUBOUND_OPERATION("inference");
  Check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  Check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace

int main(int argc, char** argv) {
  const int kernels = NumberAt(argc, argv, 1);
  const int replays = NumberAt(argc, argv, 2);
  cudaStream_t stream = nullptr;
  Check(cudaStreamCreate(&stream), "cudaStreamCreate");
  cudaGraphExec_t executable = argc > 3 ? Build(kernels) : Capture(stream, kernels);
  for (int i = 0; i < replays; ++i) Replay(executable, stream);
  std::printf("{\"nodes\": %d, \"replays\": %d}\n", kernels, replays);
  return 0;
}
