// SPDX-License-Identifier: Apache-2.0
//
// The stand-in's PM sampling: every sample of a device says what script key "counters" says, at the
// interval that was asked for, but for the first of a session, which says nonsense as the real one
// does. Checks the order of the calls, and that images are as large as it said.
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_cupti/cupti_monitor.h"
#include "tests/fake_cupti/gpu_runtime.h"
#include "tests/fake_cupti/sim_script.h"

#define GPUBOUND_CUPTI_API extern "C" __attribute__((visibility("default")))

using namespace gpubound::sim;  // NOLINT: this file defines C entry points

// What a host object was told, and what a config image says.
struct CUpti_Profiler_Host_Object {
  std::vector<std::string> metrics;
};

struct CUpti_PmSampling_Object {
  size_t device = 0;
  uint64_t interval_ns = 0;
  uint64_t next_ns = 0;  // where the next sample begins
  bool started = false;
  bool has_sampled = false;
};

namespace {

constexpr size_t kAvailabilityBytes = 16;
constexpr char kChip[] = "gpubound";

// Of a sample that began before the counters were set.
constexpr double kNonsense = 12'345;

struct Sample {
  uint64_t begin_ns, end_ns;
  bool is_nonsense;
};
// A counter data image.
struct Image {
  uint32_t capacity, count;
  Sample samples[1];
};
size_t ImageBytes(uint32_t samples) { return sizeof(Image) + samples * sizeof(Sample); }

std::mutex g_mutex;
// Devices that have a session. Never destroyed: a thread that samples may outlive main.
constexpr size_t kMostDevices = 64;
std::array<bool, kMostDevices> g_has_session{};

std::atomic<bool> g_is_torn_down{false};
struct TearDown {
  ~TearDown() { g_is_torn_down = true; }
};

uint64_t NowNs() {
  // Whatever a tool has CUPTI tell as the time.
  return static_cast<uint64_t>(GpuRuntime::Get().ToCuptiClock(RealtimeNs()));
}

// What the script wants |function| to fail with.
CUptiResult Fault(const char* function) {
  const CUptiResult unusable = CuptiMonitor::Get().UnusableHere();
  if (unusable != CUPTI_SUCCESS) return unusable;
  const CounterFigures& counters = Script().counters;
  if (counters.error_in != function) return CUPTI_SUCCESS;
  return static_cast<CUptiResult>(counters.error);
}

bool IsKnown(const std::string& metric) {
  const std::vector<std::string>& unknown = Script().counters.unknown_metrics;
  return std::none_of(unknown.begin(), unknown.end(),
                      [&](const std::string& name) { return metric.starts_with(name); });
}

double ValueOf(const std::string& metric) {
  const CounterFigures& counters = Script().counters;
  if (!counters.infinite.empty() && metric.starts_with(counters.infinite)) {
    return std::numeric_limits<double>::infinity();
  }
  if (metric.starts_with("sm__cycles_active")) return counters.sm_active;
  if (metric.starts_with("sm__warps_active")) return counters.warps_active;
  return counters.dram_throughput;
}

}  // namespace

GPUBOUND_CUPTI_API CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params*) {
  return Fault("cuptiProfilerInitialize");
}

GPUBOUND_CUPTI_API CUptiResult cuptiDeviceGetChipName(CUpti_Device_GetChipName_Params* params) {
  if (params->deviceIndex >= Script().device.devices) return CUPTI_ERROR_INVALID_DEVICE;
  params->pChipName = kChip;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiPmSamplingGetCounterAvailability(CUpti_PmSampling_GetCounterAvailability_Params* params) {
  if (params->pCounterAvailabilityImage == nullptr) {
    params->counterAvailabilityImageSize = kAvailabilityBytes;
  } else if (params->counterAvailabilityImageSize < kAvailabilityBytes) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  } else {
    std::memset(params->pCounterAvailabilityImage, 1, kAvailabilityBytes);
  }
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiProfilerHostInitialize(CUpti_Profiler_Host_Initialize_Params* params) {
  if (params->profilerType != CUPTI_PROFILER_TYPE_PM_SAMPLING ||
      std::strcmp(params->pChipName, kChip) != 0) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  params->pHostObject = new CUpti_Profiler_Host_Object;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiProfilerHostDeinitialize(CUpti_Profiler_Host_Deinitialize_Params* params) {
  delete params->pHostObject;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiProfilerHostConfigAddMetrics(CUpti_Profiler_Host_ConfigAddMetrics_Params* params) {
  for (size_t i = 0; i < params->numMetrics; ++i) {
    if (!IsKnown(params->ppMetricNames[i])) return CUPTI_ERROR_INVALID_METRIC_NAME;
    params->pHostObject->metrics.emplace_back(params->ppMetricNames[i]);
  }
  return CUPTI_SUCCESS;
}

// A config image is the names, each ended by 0.
GPUBOUND_CUPTI_API CUptiResult
cuptiProfilerHostGetConfigImageSize(CUpti_Profiler_Host_GetConfigImageSize_Params* params) {
  params->configImageSize = 0;
  for (const std::string& metric : params->pHostObject->metrics) {
    params->configImageSize += metric.size() + 1;
  }
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiProfilerHostGetConfigImage(CUpti_Profiler_Host_GetConfigImage_Params* params) {
  std::string image;
  for (const std::string& metric : params->pHostObject->metrics) image += metric + '\0';
  if (params->configImageSize < image.size()) return CUPTI_ERROR_INVALID_PARAMETER;
  std::memcpy(params->pConfigImage, image.data(), image.size());
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiProfilerHostGetNumOfPasses(CUpti_Profiler_Host_GetNumOfPasses_Params* params) {
  const std::string image(reinterpret_cast<const char*>(params->pConfigImage),
                          params->configImageSize);
  const std::string& dear = Script().counters.own_pass;
  params->numOfPasses = !dear.empty() && image.find(dear) != std::string::npos ? 2 : 1;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiProfilerHostEvaluateToGpuValues(CUpti_Profiler_Host_EvaluateToGpuValues_Params* params) {
  const auto* counted = reinterpret_cast<const Image*>(params->pCounterDataImage);
  if (params->rangeIndex >= counted->count) return CUPTI_ERROR_INVALID_PARAMETER;
  const bool is_nonsense = counted->samples[params->rangeIndex].is_nonsense;
  for (size_t i = 0; i < params->numMetrics; ++i) {
    const std::string metric = params->ppMetricNames[i];
    const std::vector<std::string>& told = params->pHostObject->metrics;
    if (std::find(told.begin(), told.end(), metric) == told.end()) {
      return CUPTI_ERROR_INVALID_METRIC_NAME;
    }
    params->pMetricValues[i] = is_nonsense ? kNonsense : ValueOf(metric);
  }
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiPmSamplingEnable(CUpti_PmSampling_Enable_Params* params) {
  static const TearDown tear_down;  // at exit this part goes first
  const CUptiResult fault = Fault("cuptiPmSamplingEnable");
  if (fault != CUPTI_SUCCESS) return fault;
  const std::lock_guard<std::mutex> lock(g_mutex);
  const size_t device = params->deviceIndex;
  if (device >= kMostDevices || g_has_session[device]) return CUPTI_ERROR_INVALID_OPERATION;
  g_has_session[device] = true;
  params->pPmSamplingObject = new CUpti_PmSampling_Object{params->deviceIndex};
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiPmSamplingDisable(CUpti_PmSampling_Disable_Params* params) {
  const std::lock_guard<std::mutex> lock(g_mutex);
  g_has_session[params->pPmSamplingObject->device] = false;
  delete params->pPmSamplingObject;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiPmSamplingSetConfig(CUpti_PmSampling_SetConfig_Params* params) {
  const bool timer = params->triggerMode == CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  if (timer && !Script().counters.has_timer) return CUPTI_ERROR_NOT_SUPPORTED;
  if (params->configSize == 0 || params->samplingInterval == 0)
    return CUPTI_ERROR_INVALID_PARAMETER;
  params->pPmSamplingObject->interval_ns = params->samplingInterval;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiPmSamplingGetCounterDataSize(CUpti_PmSampling_GetCounterDataSize_Params* params) {
  params->counterDataSize = ImageBytes(params->maxSamples);
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiPmSamplingCounterDataImageInitialize(
    CUpti_PmSampling_CounterDataImage_Initialize_Params* params) {
  auto* image = reinterpret_cast<Image*>(params->pCounterData);
  image->capacity =
      static_cast<uint32_t>((params->counterDataSize - sizeof(Image)) / sizeof(Sample));
  image->count = 0;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiPmSamplingStart(CUpti_PmSampling_Start_Params* params) {
  CUpti_PmSampling_Object* session = params->pPmSamplingObject;
  if (session->interval_ns == 0 || session->started) return CUPTI_ERROR_INVALID_OPERATION;
  session->started = true;
  session->next_ns = NowNs();
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult cuptiPmSamplingStop(CUpti_PmSampling_Stop_Params* params) {
  if (g_is_torn_down) {  // seen with CUPTI 13.0.1: freed twice
    std::fprintf(stderr, "stand-in libcupti: cuptiPmSamplingStop after its exit handlers\n");
    std::abort();
  }
  if (!params->pPmSamplingObject->started) return CUPTI_ERROR_INVALID_OPERATION;
  params->pPmSamplingObject->started = false;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiPmSamplingDecodeData(CUpti_PmSampling_DecodeData_Params* params) {
  CUpti_PmSampling_Object* session = params->pPmSamplingObject;
  if (!session->started) return CUPTI_ERROR_INVALID_OPERATION;
  const CUptiResult fault = Fault("cuptiPmSamplingDecodeData");
  if (fault != CUPTI_SUCCESS) return fault;
  auto* image = reinterpret_cast<Image*>(params->pCounterDataImage);
  params->overflow = Script().counters.overflow ? 1 : 0;
  for (const uint64_t now_ns = NowNs(); session->next_ns + session->interval_ns <= now_ns;) {
    if (image->count == image->capacity) {
      params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;
      return CUPTI_SUCCESS;
    }
    const uint64_t begin_ns = session->next_ns;
    session->next_ns += session->interval_ns;
    const bool is_first = !std::exchange(session->has_sampled, true);
    image->samples[image->count++] = {begin_ns, session->next_ns, is_first};
  }
  params->decodeStopReason = CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiPmSamplingGetCounterDataInfo(CUpti_PmSampling_GetCounterDataInfo_Params* params) {
  const auto* image = reinterpret_cast<const Image*>(params->pCounterDataImage);
  params->numTotalSamples = image->capacity;
  params->numPopulatedSamples = image->count;
  params->numCompletedSamples = image->count;
  return CUPTI_SUCCESS;
}

GPUBOUND_CUPTI_API CUptiResult
cuptiPmSamplingCounterDataGetSampleInfo(CUpti_PmSampling_CounterData_GetSampleInfo_Params* params) {
  const auto* image = reinterpret_cast<const Image*>(params->pCounterDataImage);
  if (params->sampleIndex >= image->count) return CUPTI_ERROR_INVALID_PARAMETER;
  params->startTimestamp = image->samples[params->sampleIndex].begin_ns;
  params->endTimestamp = image->samples[params->sampleIndex].end_ns;
  return CUPTI_SUCCESS;
}
