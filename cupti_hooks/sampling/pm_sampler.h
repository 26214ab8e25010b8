// SPDX-License-Identifier: Apache-2.0
//
// Hardware counters of one device as a time series: a session of CUPTI's PM sampling. The counters
// are the device's, whoever uses it. One thread.
//
//   Open -> Read, Read, ... -> Close
//
// Source: CUPTI User's Guide, section "CUPTI PM Sampling API".
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_PM_SAMPLER_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_PM_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "cupti_hooks/sampling/pm_sampling_api.h"
#include "proto/event_model.h"

namespace gpubound {

#if GPUBOUND_HAVE_PM_SAMPLING

class PmSampler {
 public:
  // |api| outlives the object.
  explicit PmSampler(const PmSamplingApi* api) : api_(api) {}
  PmSampler(const PmSampler&) = delete;
  PmSampler& operator=(const PmSampler&) = delete;
  ~PmSampler() { Close(); }

  // Samples device number |device| of the process from now on, every |interval_ns|. False: |*why|
  // says in one line what stands in the way, and nothing is left switched on.
  bool Open(uint32_t device, int64_t interval_ns, std::string* why);

  // What was sampled since the last call, ascending, appended to |samples|; times are
  // CLOCK_MONOTONIC. False: the session has failed and samples no more.
  bool Read(std::vector<CounterSample>* samples);
  // The hardware's buffer ran over since Open: samples are missing.
  bool overflowed() const { return overflowed_; }

  void Close();

 private:
  bool Failed(const char* call, CUptiResult result, std::string* why) const;
  bool OpenHost(std::string* why);
  bool ChooseMetrics(std::string* why);
  bool Schedule(const std::vector<const char*>& metrics, std::vector<uint8_t>* config,
                size_t* passes);
  bool Configure(int64_t interval_ns, std::string* why);
  bool ClearImage();
  int64_t ClockOffset() const;
  bool Evaluate(size_t index, CounterSample* sample);

  const PmSamplingApi* const api_;
  uint32_t device_ = 0;
  const char* chip_ = nullptr;
  std::vector<uint8_t> availability_;
  CUpti_Profiler_Host_Object* host_ = nullptr;
  CUpti_PmSampling_Object* session_ = nullptr;
  std::vector<const char*> metrics_;  // what is sampled
  std::vector<size_t> quantities_;    // of each metric: its index in a CounterSample
  std::vector<uint8_t> config_;
  std::vector<uint8_t> image_;
  bool started_ = false;
  bool first_ = true;
  bool overflowed_ = false;
};

#endif

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_PM_SAMPLER_H_
