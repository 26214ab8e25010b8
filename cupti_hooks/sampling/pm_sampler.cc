// SPDX-License-Identifier: Apache-2.0
//
// The steps of CUPTI's PM sampling, in their order. Every structure says its own size, so that a
// newer library knows which fields we have.
#include "cupti_hooks/sampling/pm_sampler.h"

#include <array>
#include <cmath>
#include <utility>

#include "cupti_hooks/cupti/cupti_clock.h"
#include "libprofiler/clock.h"

namespace gpubound {

#if GPUBOUND_HAVE_PM_SAMPLING

namespace {

constexpr size_t kHardwareBufferBytes = 16 << 20;
constexpr uint32_t kSamplesInImage = 1024;

// What is asked for, by index in CounterSample::percent: names that mean it, the best first. Which
// of them a chip samples in one pass together with the others is asked of CUPTI.
constexpr std::array<std::array<const char*, 2>, kCounterQuantities> kMetrics = {{
    {"sm__cycles_active.avg.pct_of_peak_sustained_elapsed",
     "sm__cycles_active_realtime.avg.pct_of_peak_sustained_elapsed"},
    {"sm__warps_active.avg.pct_of_peak_sustained_elapsed",
     "sm__warps_active_realtime.avg.pct_of_peak_sustained_elapsed"},
    {"dram__throughput.avg.pct_of_peak_sustained_elapsed",
     "dramc__throughput.avg.pct_of_peak_sustained_elapsed"},
}};

// A structure of CUPTI's, zeroed but for its size.
template <typename Params>
Params Sized(size_t size) {
  Params params{};
  params.structSize = size;
  return params;
}
#define GPUBOUND_PARAMS(name, variable) auto variable = Sized<name>(name##_STRUCT_SIZE)

std::string Remedy(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "; run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0";
    case CUPTI_ERROR_INVALID_OPERATION:
      return "; another tool samples this device: one can";
    case CUPTI_ERROR_NOT_SUPPORTED:
    case CUPTI_ERROR_INVALID_DEVICE:
      return "; compute capability 7.5 is needed, and neither MIG, MPS nor a virtual GPU";
    default:
      return {};
  }
}

}  // namespace

bool PmSampler::Failed(const char* call, CUptiResult result, std::string* why) const {
  *why = std::string(call) + " says " + CuptiResultName(api_->cupti, result) + Remedy(result);
  return false;
}

bool PmSampler::Open(uint32_t device, int64_t interval_ns, std::string* why) {
  device_ = device;
  GPUBOUND_PARAMS(CUpti_Profiler_Initialize_Params, initialize);
  CUptiResult result = api_->cuptiProfilerInitialize(&initialize);
  if (result != CUPTI_SUCCESS) return Failed("cuptiProfilerInitialize", result, why);

  GPUBOUND_PARAMS(CUpti_Device_GetChipName_Params, name);
  name.deviceIndex = device;
  result = api_->cuptiDeviceGetChipName(&name);
  if (result != CUPTI_SUCCESS) return Failed("cuptiDeviceGetChipName", result, why);
  chip_ = name.pChipName;

  GPUBOUND_PARAMS(CUpti_PmSampling_GetCounterAvailability_Params, availability);
  availability.deviceIndex = device;
  result = api_->cuptiPmSamplingGetCounterAvailability(&availability);
  if (result == CUPTI_SUCCESS) {
    availability_.resize(availability.counterAvailabilityImageSize);
    availability.pCounterAvailabilityImage = availability_.data();
    result = api_->cuptiPmSamplingGetCounterAvailability(&availability);
  }
  if (result != CUPTI_SUCCESS) return Failed("cuptiPmSamplingGetCounterAvailability", result, why);

  if (ChooseMetrics(why) && Configure(interval_ns, why)) return true;
  Close();
  return false;
}

// A host object takes metrics and gives none back, so each attempt has a new one.
bool PmSampler::OpenHost(std::string* why) {
  if (host_ != nullptr) {
    GPUBOUND_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, end);
    end.pHostObject = host_;
    api_->cuptiProfilerHostDeinitialize(&end);
    host_ = nullptr;
  }
  GPUBOUND_PARAMS(CUpti_Profiler_Host_Initialize_Params, begin);
  begin.profilerType = CUPTI_PROFILER_TYPE_PM_SAMPLING;
  begin.pChipName = chip_;
  begin.pCounterAvailabilityImage = availability_.data();
  const CUptiResult result = api_->cuptiProfilerHostInitialize(&begin);
  if (result != CUPTI_SUCCESS) return Failed("cuptiProfilerHostInitialize", result, why);
  host_ = begin.pHostObject;
  return true;
}

// Whether the chip knows all of |metrics|, what that takes and in how many passes.
bool PmSampler::Schedule(const std::vector<const char*>& metrics, std::vector<uint8_t>* config,
                         size_t* passes) {
  std::string ignored;
  if (!OpenHost(&ignored)) return false;
  std::vector<const char*> names = metrics;
  GPUBOUND_PARAMS(CUpti_Profiler_Host_ConfigAddMetrics_Params, add);
  add.pHostObject = host_;
  add.ppMetricNames = names.data();
  add.numMetrics = names.size();
  if (api_->cuptiProfilerHostConfigAddMetrics(&add) != CUPTI_SUCCESS) return false;
  GPUBOUND_PARAMS(CUpti_Profiler_Host_GetConfigImageSize_Params, size);
  size.pHostObject = host_;
  if (api_->cuptiProfilerHostGetConfigImageSize(&size) != CUPTI_SUCCESS) return false;
  config->resize(size.configImageSize);
  GPUBOUND_PARAMS(CUpti_Profiler_Host_GetConfigImage_Params, image);
  image.pHostObject = host_;
  image.configImageSize = config->size();
  image.pConfigImage = config->data();
  if (api_->cuptiProfilerHostGetConfigImage(&image) != CUPTI_SUCCESS) return false;
  GPUBOUND_PARAMS(CUpti_Profiler_Host_GetNumOfPasses_Params, count);
  count.configImageSize = config->size();
  count.pConfigImage = config->data();
  if (api_->cuptiProfilerHostGetNumOfPasses(&count) != CUPTI_SUCCESS) return false;
  *passes = count.numOfPasses;
  return true;
}

// Of each quantity the first name that fits into the one pass which a time series has.
bool PmSampler::ChooseMetrics(std::string* why) {
  if (!OpenHost(why)) return false;
  for (size_t quantity = 0; quantity < kMetrics.size(); ++quantity) {
    for (const char* name : kMetrics[quantity]) {
      std::vector<const char*> together = metrics_;
      together.push_back(name);
      size_t passes = 0;
      if (!Schedule(together, &config_, &passes) || passes != 1) continue;
      metrics_ = std::move(together);
      quantities_.push_back(quantity);
      break;
    }
  }
  if (!metrics_.empty()) {  // the host evaluates what it was last told
    size_t passes = 0;
    if (Schedule(metrics_, &config_, &passes)) return true;
  }
  *why = std::string("chip ") + chip_ + " samples none of the metrics in one pass";
  return false;
}

bool PmSampler::Configure(int64_t interval_ns, std::string* why) {
  GPUBOUND_PARAMS(CUpti_PmSampling_Enable_Params, enable);
  enable.deviceIndex = device_;
  CUptiResult result = api_->cuptiPmSamplingEnable(&enable);
  if (result != CUPTI_SUCCESS) return Failed("cuptiPmSamplingEnable", result, why);
  session_ = enable.pPmSamplingObject;

  GPUBOUND_PARAMS(CUpti_PmSampling_SetConfig_Params, config);
  config.pPmSamplingObject = session_;
  config.configSize = config_.size();
  config.pConfig = config_.data();
  config.hardwareBufferSize = kHardwareBufferBytes;
  config.samplingInterval = static_cast<uint64_t>(interval_ns);
  config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL;
  config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_LATEST;
  result = api_->cuptiPmSamplingSetConfig(&config);
  if (result != CUPTI_SUCCESS) {
    // Turing and GA100 have no timer for it: cycles of the system clock, taken for 1 GHz, and a
    // buffer that stops when it is full.
    config.triggerMode = CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_SYSCLK_INTERVAL;
    config.hwBufferAppendMode = CUPTI_PM_SAMPLING_HARDWARE_BUFFER_APPEND_MODE_KEEP_OLDEST;
    result = api_->cuptiPmSamplingSetConfig(&config);
  }
  if (result != CUPTI_SUCCESS) return Failed("cuptiPmSamplingSetConfig", result, why);

  GPUBOUND_PARAMS(CUpti_PmSampling_GetCounterDataSize_Params, size);
  size.pPmSamplingObject = session_;
  size.pMetricNames = metrics_.data();
  size.numMetrics = metrics_.size();
  size.maxSamples = kSamplesInImage;
  result = api_->cuptiPmSamplingGetCounterDataSize(&size);
  if (result != CUPTI_SUCCESS) return Failed("cuptiPmSamplingGetCounterDataSize", result, why);
  image_.resize(size.counterDataSize);
  if (!ClearImage()) {
    *why = "cuptiPmSamplingCounterDataImageInitialize failed";
    return false;
  }

  GPUBOUND_PARAMS(CUpti_PmSampling_Start_Params, start);
  start.pPmSamplingObject = session_;
  result = api_->cuptiPmSamplingStart(&start);
  if (result != CUPTI_SUCCESS) return Failed("cuptiPmSamplingStart", result, why);
  started_ = true;
  return true;
}

bool PmSampler::ClearImage() {
  GPUBOUND_PARAMS(CUpti_PmSampling_CounterDataImage_Initialize_Params, clear);
  clear.pPmSamplingObject = session_;
  clear.counterDataSize = image_.size();
  clear.pCounterData = image_.data();
  return api_->cuptiPmSamplingCounterDataImageInitialize(&clear) == CUPTI_SUCCESS;
}

// What to add to a time of CUPTI's clock, which may be set at any moment.
int64_t PmSampler::ClockOffset() const {
  const auto before_ns = static_cast<int64_t>(ReadMonotonicNs());
  int64_t cupti_ns = 0;
  ReadCuptiClock(api_->cupti, &cupti_ns);
  const auto after_ns = static_cast<int64_t>(ReadMonotonicNs());
  return before_ns + (after_ns - before_ns) / 2 - cupti_ns;
}

bool PmSampler::Read(std::vector<CounterSample>* samples) {
  if (!started_) return false;
  const int64_t offset_ns = ClockOffset();
  for (bool full = true; full;) {
    GPUBOUND_PARAMS(CUpti_PmSampling_DecodeData_Params, decode);
    decode.pPmSamplingObject = session_;
    decode.pCounterDataImage = image_.data();
    decode.counterDataImageSize = image_.size();
    if (api_->cuptiPmSamplingDecodeData(&decode) != CUPTI_SUCCESS) return false;
    overflowed_ |= decode.overflow != 0;
    full = decode.decodeStopReason == CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL;

    GPUBOUND_PARAMS(CUpti_PmSampling_GetCounterDataInfo_Params, info);
    info.pCounterDataImage = image_.data();
    info.counterDataImageSize = image_.size();
    if (api_->cuptiPmSamplingGetCounterDataInfo(&info) != CUPTI_SUCCESS) return false;
    for (size_t index = 0; index < info.numCompletedSamples; ++index) {
      CounterSample sample;
      if (!Evaluate(index, &sample)) return false;
      sample.begin_ns += offset_ns;
      sample.end_ns += offset_ns;
      // The first one begins before the counters were set.
      if (!first_ && sample.begin_ns < sample.end_ns) samples->push_back(sample);
      first_ = false;
    }
    if (info.numCompletedSamples == 0) full = false;
    if (!ClearImage()) return false;
  }
  return true;
}

bool PmSampler::Evaluate(size_t index, CounterSample* sample) {
  GPUBOUND_PARAMS(CUpti_PmSampling_CounterData_GetSampleInfo_Params, times);
  times.pPmSamplingObject = session_;
  times.pCounterDataImage = image_.data();
  times.counterDataImageSize = image_.size();
  times.sampleIndex = index;
  if (api_->cuptiPmSamplingCounterDataGetSampleInfo(&times) != CUPTI_SUCCESS) return false;
  std::array<double, kCounterQuantities> values{};
  GPUBOUND_PARAMS(CUpti_Profiler_Host_EvaluateToGpuValues_Params, evaluate);
  evaluate.pHostObject = host_;
  evaluate.pCounterDataImage = image_.data();
  evaluate.counterDataImageSize = image_.size();
  evaluate.rangeIndex = index;
  evaluate.ppMetricNames = metrics_.data();
  evaluate.numMetrics = metrics_.size();
  evaluate.pMetricValues = values.data();
  if (api_->cuptiProfilerHostEvaluateToGpuValues(&evaluate) != CUPTI_SUCCESS) return false;
  sample->device = device_;
  sample->begin_ns = static_cast<int64_t>(times.startTimestamp);
  sample->end_ns = static_cast<int64_t>(times.endTimestamp);
  for (size_t i = 0; i < quantities_.size(); ++i) {
    if (std::isfinite(values[i])) sample->percent[quantities_[i]] = values[i];
  }
  return true;
}

void PmSampler::Close() {
  if (started_) {
    GPUBOUND_PARAMS(CUpti_PmSampling_Stop_Params, stop);
    stop.pPmSamplingObject = session_;
    api_->cuptiPmSamplingStop(&stop);
    started_ = false;
  }
  if (session_ != nullptr) {
    GPUBOUND_PARAMS(CUpti_PmSampling_Disable_Params, disable);
    disable.pPmSamplingObject = session_;
    api_->cuptiPmSamplingDisable(&disable);
    session_ = nullptr;
  }
  if (host_ != nullptr) {
    GPUBOUND_PARAMS(CUpti_Profiler_Host_Deinitialize_Params, end);
    end.pHostObject = host_;
    api_->cuptiProfilerHostDeinitialize(&end);
    host_ = nullptr;
  }
}

#endif

}  // namespace gpubound
