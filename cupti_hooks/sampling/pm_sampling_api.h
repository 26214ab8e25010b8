// SPDX-License-Identifier: Apache-2.0
//
// CUPTI's functions for sampling hardware counters (PM sampling, CUDA 12.6), found by dlsym in the
// libcupti that the process has. Immutable once filled.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_PM_SAMPLING_API_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_PM_SAMPLING_API_H_

// A toolkit before 12.6 has no such header; then nothing is sampled, and the reason is said.
#if __has_include(<cupti_pmsampling.h>)
#define GPUBOUND_HAVE_PM_SAMPLING 1
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>
#else
#define GPUBOUND_HAVE_PM_SAMPLING 0
#endif

#include <string>

#include "cupti_hooks/cupti/cupti_api.h"

namespace gpubound {

#if GPUBOUND_HAVE_PM_SAMPLING

#define GPUBOUND_PM_SAMPLING_FUNCTIONS(X)      \
  X(cuptiProfilerInitialize)                   \
  X(cuptiDeviceGetChipName)                    \
  X(cuptiProfilerHostInitialize)               \
  X(cuptiProfilerHostDeinitialize)             \
  X(cuptiProfilerHostConfigAddMetrics)         \
  X(cuptiProfilerHostGetConfigImageSize)       \
  X(cuptiProfilerHostGetConfigImage)           \
  X(cuptiProfilerHostGetNumOfPasses)           \
  X(cuptiProfilerHostEvaluateToGpuValues)      \
  X(cuptiPmSamplingGetCounterAvailability)     \
  X(cuptiPmSamplingEnable)                     \
  X(cuptiPmSamplingDisable)                    \
  X(cuptiPmSamplingSetConfig)                  \
  X(cuptiPmSamplingStart)                      \
  X(cuptiPmSamplingStop)                       \
  X(cuptiPmSamplingDecodeData)                 \
  X(cuptiPmSamplingGetCounterDataSize)         \
  X(cuptiPmSamplingCounterDataImageInitialize) \
  X(cuptiPmSamplingGetCounterDataInfo)         \
  X(cuptiPmSamplingCounterDataGetSampleInfo)

struct PmSamplingApi {
#define GPUBOUND_X(name) decltype(&::name) name = nullptr;
  GPUBOUND_PM_SAMPLING_FUNCTIONS(GPUBOUND_X)
#undef GPUBOUND_X
  CuptiApi cupti;  // for its clock and the names of its results
};

// Fills |api| from |library|, opened by dlopen, of which |cupti| was made. False: |*why| says which
// function is missing.
bool ResolvePmSamplingApi(void* library, const CuptiApi& cupti, PmSamplingApi* api,
                          std::string* why);

#endif

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_PM_SAMPLING_API_H_
