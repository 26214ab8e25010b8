// SPDX-License-Identifier: Apache-2.0
//
// The simulated GPU in real time: SimDevice driven by CLOCK_REALTIME (CUPTI's clock), with the
// threads that keep it moving. One per process, shared by libcudart.so.13 (which submits work) and
// libcupti.so.13 (which watches through a ProfilerTap). Never destroyed: a process may end with
// device threads running, as it may with a real driver.
//
// Thread rule: everything is thread safe unless said otherwise. One lock guards the model; no
// method of a tap but Complete is called under it, and no program's code ever is.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_GPU_RUNTIME_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_GPU_RUNTIME_H_

#include <sys/types.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "tests/fake_cupti/profiler_tap.h"
#include "tests/fake_cupti/sim_script.h"
#include "tests/sim/sim_device.h"

#define GPUBOUND_SIM_EXPORT __attribute__((visibility("default")))

namespace gpubound::sim {

// CLOCK_REALTIME: the clock that the model runs on.
GPUBOUND_SIM_EXPORT TimeNs RealtimeNs();
// Waits without sleeping, so that the duration is kept to within the clock's own cost.
GPUBOUND_SIM_EXPORT void SpinFor(TimeNs duration_ns);
GPUBOUND_SIM_EXPORT uint32_t SystemThreadId();

class GPUBOUND_SIM_EXPORT GpuRuntime {
 public:
  static GpuRuntime& Get();

  enum class State : uint8_t { kReady, kForkChild };

  // What cuInit does: on first use starts the clock of the knobs, loads $CUDA_INJECTION64_PATH and
  // calls its InitializeInjection. A CUDA call made by the injected library itself passes through.
  // kForkChild in a process forked after that: CUDA is unusable there.
  State Enter();
  // True in a process that was forked from one that had initialised.
  bool InForkChild() const;

  void set_tap(ProfilerTap* tap) { tap_.store(tap, std::memory_order_release); }
  ProfilerTap* tap() const { return tap_.load(std::memory_order_acquire); }

  const SimScript& script() const { return script_; }
  uint32_t NextCorrelation() { return next_correlation_.fetch_add(1); }

  // CUPTI's view of a time of the model: with the step of the clock that the script asks for.
  TimeNs ToCuptiClock(TimeNs realtime_ns) const;
  TimeNs initialised_ns() const { return initialised_ns_.load(); }

  // The model, under its lock, moved up to now. |use| must be short and must not block.
  template <typename Use>
  auto WithModel(Use&& use) {
    std::unique_lock<std::mutex> lock(mutex_);
    MoveUpToNow();
    struct Finish {
      GpuRuntime* runtime;
      ~Finish() { runtime->AfterSubmit(); }
    } finish{this};
    return use(model_);
  }

  // Blocks until |stream| takes another operation; returns the time spent blocked.
  TimeNs WaitForRoom(StreamIndex stream);
  void WaitForOp(OpId op);
  void WaitForDevice(uint32_t device);
  // Moves the model up to now without anything else: what has ended is completed.
  void Poll() {
    WithModel([](SimDevice&) {});
  }

  // A submission must report each operation with a body that an executor runs.
  void CountExternalBody() { ++external_bodies_; }

 private:
  GpuRuntime();
  void Initialise();
  void MoveUpToNow();     // lock held
  void AfterSubmit();     // lock held
  void DispatchBodies();  // lock held
  void WaitUntil(const std::function<bool()>& done);
  void DeviceThread();
  void ExecutorThread();

  const SimScript& script_;
  std::atomic<ProfilerTap*> tap_{nullptr};
  std::atomic<uint32_t> next_correlation_;
  std::atomic<pid_t> initialised_pid_{0};
  std::atomic<TimeNs> initialised_ns_{0};
  std::mutex initialise_mutex_;
  std::atomic<pid_t> initialising_tid_{0};

  std::mutex mutex_;
  SimDevice model_;
  std::condition_variable progress_;   // something completed
  std::condition_variable device_;     // the device thread has an earlier deadline
  std::condition_variable executors_;  // a body is waiting for an executor
  std::deque<OpId> bodies_;
  uint32_t external_bodies_ = 0;  // submitted and not completed
  uint32_t waiters_ = 0;
  uint32_t executors_started_ = 0;
  uint32_t executors_idle_ = 0;
  bool threads_started_ = false;
  TimeNs device_deadline_ns_ = 0;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_GPU_RUNTIME_H_
