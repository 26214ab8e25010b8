// SPDX-License-Identifier: Apache-2.0
//
// What sources have in common that only sample, on a thread of their own: no clock, and nothing of
// the device is lost with them.
#ifndef GPUBOUND_CUPTI_HOOKS_SAMPLING_SAMPLING_SOURCE_H_
#define GPUBOUND_CUPTI_HOOKS_SAMPLING_SAMPLING_SOURCE_H_

#include <cstdint>

#include "cupti_hooks/sampling/sampling_thread.h"
#include "libprofiler/device_source.h"

namespace gpubound {

class SamplingSource : public DeviceSource {
 public:
  bool records_device_work() const final { return false; }
  bool ReadClock(int64_t* now_ns) final {
    *now_ns = 0;
    return false;
  }
  void PrepareStop(int64_t, AfterStop) final { thread_.RequestStop(); }
  bool Stop(int64_t deadline_ns, AfterStop after) final {
    const bool ended = thread_.Stop(deadline_ns);
    if (after == AfterStop::kProgramEnds) thread_.Abandon();
    return ended;
  }
  bool HasStopped() const final { return thread_.HasEnded(); }
  void Abandon() noexcept final { thread_.Abandon(); }
  void AbandonInForkChild() noexcept final { thread_.AbandonInForkChild(); }

 protected:
  SamplingThread* thread() { return &thread_; }

 private:
  SamplingThread thread_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_SAMPLING_SAMPLING_SOURCE_H_
