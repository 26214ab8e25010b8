// SPDX-License-Identifier: Apache-2.0
//
// Calibration measures a few functions of CUDA. Others do the same by another name: what recording
// these costs is closer to that than to the mean of all. Pure.
#ifndef GPUBOUND_ANALYSIS_CALIBRATION_SIMILAR_CALL_H_
#define GPUBOUND_ANALYSIS_CALIBRATION_SIMILAR_CALL_H_

#include <string_view>

namespace gpubound {

// The function that may have been measured and does what |function| does, as cudaLaunchKernel for
// cudaLaunchKernelExC, cuLaunchKernel and cudaLaunchKernel_ptsz; empty where there is none.
std::string_view SimilarCall(std::string_view function);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALIBRATION_SIMILAR_CALL_H_
