// SPDX-License-Identifier: Apache-2.0
//
// graphs K R: captures K kernels in operation `capture` and replays the graph R times in operation
// `inference`. One thread.
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
  cudaGraphExec_t executable = Capture(stream, kernels);
  for (int i = 0; i < replays; ++i) Replay(executable, stream);
  std::printf("{\"nodes\": %d, \"replays\": %d}\n", kernels, replays);
  return 0;
}
