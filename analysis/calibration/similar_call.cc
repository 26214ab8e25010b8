// SPDX-License-Identifier: Apache-2.0
//
// By how names begin.
#include "analysis/calibration/similar_call.h"

namespace gpubound {
namespace {

struct Kin {
  std::string_view begin;  // of the names of functions
  std::string_view measured;
};

constexpr Kin kKin[] = {{"cudaLaunchKernel", "cudaLaunchKernel"},
                        {"cudaLaunchCooperativeKernel", "cudaLaunchKernel"},
                        {"cuLaunchKernel", "cudaLaunchKernel"},
                        {"cuLaunchCooperativeKernel", "cudaLaunchKernel"},
                        {"cudaMemcpy", "cudaMemcpyAsync"},
                        {"cuMemcpy", "cudaMemcpyAsync"},
                        {"cudaMemset", "cudaMemsetAsync"},
                        {"cuMemset", "cudaMemsetAsync"},
                        {"cudaEventRecord", "cudaEventRecord"},
                        {"cuEventRecord", "cudaEventRecord"},
                        {"cudaStreamWaitEvent", "cudaStreamWaitEvent"},
                        {"cuStreamWaitEvent", "cudaStreamWaitEvent"},
                        {"cudaStreamSynchronize", "cudaStreamSynchronize"},
                        {"cuStreamSynchronize", "cudaStreamSynchronize"},
                        {"cudaEventSynchronize", "cudaStreamSynchronize"},
                        {"cuEventSynchronize", "cudaStreamSynchronize"},
                        {"cudaDeviceSynchronize", "cudaStreamSynchronize"},
                        {"cuCtxSynchronize", "cudaStreamSynchronize"}};

}  // namespace

std::string_view SimilarCall(std::string_view function) {
  for (const Kin& kin : kKin) {
    if (function.starts_with(kin.begin)) return kin.measured;
  }
  return {};
}

}  // namespace gpubound
