// SPDX-License-Identifier: Apache-2.0
//
// The table of workloads.
#include "tools/calibrate/calibration_plan.h"

#include "analysis/calibration/calibration.h"

namespace gpubound {
namespace {

constexpr CalibrationProgram kNative = CalibrationProgram::kNative;
constexpr CalibrationProgram kPython = CalibrationProgram::kPython;

// Reports rest on what calls cost most of all, and of a round most of the time is its start: more
// pairs of them take little.
constexpr int kPairsOfCalls = 20;

constexpr CalibrationWorkload ApiCall(const char* function) {
  return {kNative, function, CostKind::kApiCall, "", function, 128, 1.0, kPairsOfCalls};
}

// One by one behind other work; named as the program knows it.
constexpr CalibrationWorkload ApiCallBetween(const char* name, const char* function) {
  return {kPython,       name, CostKind::kApiCall,   kAfterOtherWork, function, 256, 1.0,
          kPairsOfCalls, 1,    "calibration between"};
}

constexpr CalibrationWorkload kPlan[] = {
    {kNative, "scope", CostKind::kNativeScope, "", "calibration scope", 4'000, 0.5},
    {kNative, "named_scope", CostKind::kNativeScope, "name known at run time",
     "calibration named scope", 4'000, 0.5},
    {kNative, "cold_scope", CostKind::kNativeScope, "cold caches", "calibration cold scope", 8,
     0.5},
    {kNative, "two_threads", CostKind::kNativeScope, "2 threads", "calibration thread scope", 4'000,
     0.5, 8, 2},
    {kNative, "counter", CostKind::kInstant, "", nullptr, 4'000, 0},
    {kPython, "operation", CostKind::kPythonScope, "", "calibration operation", 1'000, 0.5},
    {kPython, "call", CostKind::kInterceptedCall, "", "calibration.call", 1'000, 1.0},
    {kPython, "operation_between", CostKind::kPythonScope, kAfterOtherWork,
     "calibration operation between", 60, 0.5},
    {kPython, "call_between", CostKind::kInterceptedCall, kAfterOtherWork, "calibration.between",
     60, 1.0},
    {kPython, "counter", CostKind::kInstant, kFromPython, nullptr, 1'000, 0},
    ApiCall("cudaLaunchKernel"),
    ApiCall("cudaMemcpyAsync"),
    ApiCall("cudaMemsetAsync"),
    ApiCall("cudaEventRecord"),
    ApiCall("cudaStreamWaitEvent"),
    ApiCall("cudaStreamSynchronize"),
    ApiCallBetween("cudaLaunchKernel_between", "cudaLaunchKernel"),
    ApiCallBetween("cudaMemcpyAsync_between", "cudaMemcpyAsync"),
    ApiCallBetween("cudaMemsetAsync_between", "cudaMemsetAsync"),
    ApiCallBetween("cudaEventRecord_between", "cudaEventRecord"),
    ApiCallBetween("cudaStreamWaitEvent_between", "cudaStreamWaitEvent"),
    ApiCallBetween("cudaStreamSynchronize_between", "cudaStreamSynchronize"),
};

}  // namespace

std::span<const CalibrationWorkload> CalibrationPlan() { return kPlan; }

}  // namespace gpubound
