// SPDX-License-Identifier: Apache-2.0
//
// One thread, one session for each device. CUPTI is looked for when the first device is in use: by
// then the process has the copy that records its work, and that is the one to ask.
#include "cupti_hooks/sampling/counter_source.h"

#include <dlfcn.h>

#include <memory>
#include <vector>

#include "cupti_hooks/sampling/pm_sampler.h"
#include "libprofiler/clock.h"

namespace gpubound {
namespace {

constexpr uint32_t kMostDevices = 64;

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

void SayWhyNot(DeviceHost* host, const std::string& why) {
  host->Count(LedgerCounter::counters_unavailable, 1);
  host->Note("hardware counters are not sampled: " + why);
}

#if GPUBOUND_HAVE_PM_SAMPLING

// Nothing was sampled when the program ended. One that used no GPU misses nothing.
void SayWhyNotAtEnd(DeviceHost* host) {
  if (host->DevicesUsed() != 0) {
    SayWhyNot(host, "the program ended before its first work on the GPU was known");
  } else if (CuptiInUse().empty()) {
    SayWhyNot(host, "CUPTI does not record this program, so which GPU it uses is not known");
  }
}

// The sessions, one for each device in use.
class Sessions {
 public:
  Sessions(const PmSamplingApi* api, int64_t interval_ns, DeviceHost* host)
      : api_(api), interval_ns_(interval_ns), host_(host) {}

  // Opens those of devices that are used now and were not before. True when it tried.
  bool OpenNew() {
    const uint64_t used = host_->DevicesUsed() & ~tried_;
    for (uint32_t device = 0; device < kMostDevices; ++device) {
      const uint64_t bit = uint64_t{1} << device;
      if ((used & bit) == 0) continue;
      tried_ |= bit;
      auto session = std::make_unique<PmSampler>(api_);
      std::string why;
      if (session->Open(device, interval_ns_, &why)) {
        sessions_.push_back(std::move(session));
      } else {
        SayWhyNot(host_, "device " + std::to_string(device) + ": " + why);
      }
    }
    return used != 0;
  }

  // Without a call into CUPTI.
  void Abandon() {
    for (std::unique_ptr<PmSampler>& session : sessions_) {
      static_cast<void>(session.release());  // its destructor would call
    }
    sessions_.clear();
  }

  // True when samples came for the first time.
  bool Read() {
    const bool had_samples = has_samples_;
    std::erase_if(sessions_, [this](const std::unique_ptr<PmSampler>& session) {
      samples_.clear();
      const bool goes_on = session->Read(&samples_);
      for (const CounterSample& sample : samples_) host_->AddSample(sample);
      has_samples_ |= !samples_.empty();
      if (!goes_on) SayWhyNot(host_, "CUPTI ended the session");
      if (session->overflowed() && !said_overflow_) {
        said_overflow_ = true;
        host_->Count(LedgerCounter::counter_samples_lost, 1);
      }
      return !goes_on;
    });
    return has_samples_ && !had_samples;
  }

 private:
  const PmSamplingApi* const api_;
  const int64_t interval_ns_;
  DeviceHost* const host_;
  uint64_t tried_ = 0;
  std::vector<std::unique_ptr<PmSampler>> sessions_;
  std::vector<CounterSample> samples_;
  bool has_samples_ = false;
  bool said_overflow_ = false;
};

bool FindApi(const CounterOptions& options, PmSamplingApi* api, std::string* why) {
  CuptiApi cupti;
  size_t next = 0;
  const std::string in_use = CuptiInUse();
  const std::string& path = in_use.empty() ? options.library_path : in_use;
  if (!options.load(DescribeProcess(path), &next, &cupti, why)) return false;
  void* library = dlopen(cupti.path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    *why = cupti.path + " is not loaded";
    return false;
  }
  return ResolvePmSamplingApi(library, cupti, api, why);
}

void Sample(const CounterOptions& options, DeviceHost* host, SamplingThread::Control* control) {
  while (!control->stopping() && host->DevicesUsed() == 0) {
    control->SleepUntil(NowNs() + options.poll_ns);
  }
  if (control->stopping()) {
    if (!control->abandoned()) SayWhyNotAtEnd(host);
    return;
  }
  PmSamplingApi api;
  std::string why;
  if (!FindApi(options, &api, &why)) return SayWhyNot(host, why);
  Sessions sessions(&api, options.interval_ns, host);
  while (!control->stopping()) {
    if (sessions.OpenNew()) host->EndBeforeHandlersSoFar();
    control->SleepUntil(NowNs() + options.poll_ns);
    if (!control->abandoned() && sessions.Read()) host->EndBeforeHandlersSoFar();
  }
  if (control->abandoned()) sessions.Abandon();
}

#else

void Sample(const CounterOptions&, DeviceHost* host, SamplingThread::Control*) {
  SayWhyNot(host, "gpubound was built with CUPTI headers older than CUDA 12.6");
}

#endif

}  // namespace

bool CounterSource::Start(DeviceHost* host) {
  const bool made = thread()->Start(
      "gpubound-pm", [options = options_, host](auto* control) { Sample(options, host, control); });
  if (!made) SayWhyNot(host, "no thread could be made");
  return made;
}

}  // namespace gpubound
