// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_cupti/gpu_runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "tests/fake_cupti/truth_recorder.h"

namespace gpubound::sim {
namespace {

// A wait shorter than this is spun: a sleep would overshoot it by the cost of waking up.
constexpr TimeNs kSpinBelowNs = 20'000;
// How far the model may lag behind the clock while nobody waits for it and no body is due.
constexpr TimeNs kLazyNs = 1'000'000;

int64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void NameThread(const char* name) {
  pthread_setname_np(pthread_self(), name);
  prctl(PR_SET_TIMERSLACK, 1000UL);  // the default of 50 us would show in every short kernel
}

// What a look at the maps of a process that uses CUDA finds: a page of /dev/nvidia-uvm. Where no
// such page can be had the stand-in works all the same.
void MapContextDevice() {
  const int file = memfd_create("dev/nvidia-uvm", MFD_CLOEXEC);
  if (file < 0) return;
  mmap(nullptr, 1, PROT_NONE, MAP_SHARED, file, 0);
  close(file);
}

}  // namespace

TimeNs RealtimeNs() { return ReadClock(CLOCK_REALTIME); }

void SpinFor(TimeNs duration_ns) {
  if (duration_ns <= 0) return;
  const int64_t end = ReadClock(CLOCK_MONOTONIC) + duration_ns;
  while (ReadClock(CLOCK_MONOTONIC) < end) {
  }
}

uint32_t SystemThreadId() {
  static thread_local pid_t cached_pid = 0;
  static thread_local uint32_t cached_tid = 0;
  const pid_t pid = getpid();
  if (cached_pid != pid) {  // first use, or a fork child
    cached_pid = pid;
    cached_tid = static_cast<uint32_t>(syscall(SYS_gettid));
  }
  return cached_tid;
}

GpuRuntime& GpuRuntime::Get() {
  static auto* const runtime = new GpuRuntime();
  return *runtime;
}

GpuRuntime::GpuRuntime()
    : script_(Script()), next_correlation_(script_.correlation_start), model_(script_.device) {
  model_.set_on_complete([this](const Op& op) {
    if (op.external_body) --external_bodies_;
    if (op.user != 0) {
      if (ProfilerTap* watching = tap()) watching->Complete(op.user, op.start_ns, op.end_ns);
    }
    if (IsDeviceWork(op.kind)) TruthRecorder::Get().AddOp(op);
  });
}

bool GpuRuntime::InForkChild() const {
  const pid_t initialised = initialised_pid_.load(std::memory_order_acquire);
  return initialised != 0 && initialised != getpid();
}

GpuRuntime::State GpuRuntime::Enter() {
  const pid_t initialised = initialised_pid_.load(std::memory_order_acquire);
  if (initialised != 0) return initialised == getpid() ? State::kReady : State::kForkChild;
  const auto tid = static_cast<pid_t>(SystemThreadId());
  if (initialising_tid_.load(std::memory_order_acquire) == tid) return State::kReady;
  std::lock_guard<std::mutex> lock(initialise_mutex_);
  if (initialised_pid_.load(std::memory_order_acquire) == 0) {
    initialising_tid_.store(tid, std::memory_order_release);
    Initialise();
    initialising_tid_.store(0, std::memory_order_release);
    initialised_pid_.store(getpid(), std::memory_order_release);
  }
  return State::kReady;
}

void GpuRuntime::Initialise() {
  initialised_ns_.store(RealtimeNs());
  // Before the injected library registers its own exit handler, so that ours runs after it.
  TruthRecorder::Get().DumpAtExit();
  if (const char* path = std::getenv("CUDA_INJECTION64_PATH"); path != nullptr && *path != '\0') {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    auto* initialize = library == nullptr
                           ? nullptr
                           : reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
    if (initialize != nullptr) {
      initialize();
    } else {
      std::fprintf(stderr, "gpubound-sim: CUDA_INJECTION64_PATH=%s: %s\n", path, dlerror());
    }
  }
  MapContextDevice();
  if (ProfilerTap* watching = tap()) {
    for (uint32_t device = 0; device < script_.device.devices; ++device) {
      for (uint32_t number = 0; number < script_.contexts; ++number) {
        const uint32_t context = ContextOf(script_, device, number);
        watching->ContextCreated({.device = device, .context = context, .stream = 7});
      }
    }
  }
}

TimeNs GpuRuntime::ToCuptiClock(TimeNs realtime_ns) const {
  const CuptiFaults& faults = script_.faults;
  if (faults.realtime_step_ns == 0) return realtime_ns;
  const TimeNs start = initialised_ns();
  if (start == 0 || realtime_ns < start + faults.realtime_step_after_ns) return realtime_ns;
  return realtime_ns + faults.realtime_step_ns;
}

void GpuRuntime::MoveUpToNow() {
  model_.Advance(std::max(RealtimeNs(), model_.now()));
  DispatchBodies();
}

void GpuRuntime::DispatchBodies() {
  for (OpId op : model_.TakeDispatched()) {
    bodies_.push_back(op);
    if (executors_idle_ > 0) {
      executors_.notify_one();
    } else if (executors_started_ < script_.device.body_slots) {
      ++executors_started_;
      std::thread([this] { ExecutorThread(); }).detach();
    }
  }
}

void GpuRuntime::AfterSubmit() {
  if (model_.Idle()) return;
  if (!threads_started_) {
    threads_started_ = true;
    std::thread([this] { DeviceThread(); }).detach();
    return;
  }
  const auto next = model_.NextEventNs();
  if (next && external_bodies_ > 0 && *next < device_deadline_ns_) device_.notify_one();
  if (next && device_deadline_ns_ == INT64_MAX) device_.notify_one();
}

// Keeps the model moving when no CUDA call does. Punctual while a body or a waiter depends on it,
// lazy otherwise: starts and ends are the model's and do not depend on when they are noticed.
void GpuRuntime::DeviceThread() {
  NameThread("sim-device");
  std::unique_lock<std::mutex> lock(mutex_);
  bool was_idle = false;
  for (;;) {
    MoveUpToNow();
    if (waiters_ > 0) progress_.notify_all();
    const auto next = model_.NextEventNs();
    // A device that keeps up with a storm of launches is idle between any two of them: to be woken
    // by each would cost the program more than the launch.
    if (!next && was_idle) {
      device_deadline_ns_ = INT64_MAX;
      device_.wait(lock);
      was_idle = false;
      continue;
    }
    was_idle = !next;
    const TimeNs now = RealtimeNs();
    const TimeNs lazy = std::max(next.value_or(now), now + kLazyNs);
    device_deadline_ns_ = next && external_bodies_ > 0 ? *next : lazy;
    const TimeNs wait_ns = device_deadline_ns_ - now;
    if (wait_ns > 0) device_.wait_for(lock, std::chrono::nanoseconds(wait_ns));
  }
}

void GpuRuntime::ExecutorThread() {
  NameThread("sim-executor");
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    ++executors_idle_;
    executors_.wait(lock, [this] { return !bodies_.empty(); });
    --executors_idle_;
    const OpId id = bodies_.front();
    bodies_.pop_front();
    // The operation stays in the model until FinishBody, so its body may run without the lock.
    const Op* op = model_.Find(id);
    const TimeNs not_before = op->start_ns;
    lock.unlock();
    const TimeNs start = std::max(not_before, RealtimeNs());
    op->body();
    const TimeNs end = std::max(start, RealtimeNs());
    lock.lock();
    model_.FinishBody(id, start, end);
    MoveUpToNow();
    AfterSubmit();
    if (waiters_ > 0) progress_.notify_all();
  }
}

void GpuRuntime::WaitUntil(const std::function<bool()>& done) {
  std::unique_lock<std::mutex> lock(mutex_);
  ++waiters_;
  for (;;) {
    MoveUpToNow();
    if (done()) break;
    const auto next = model_.NextEventNs();
    if (!next) {  // everything left hangs on a body
      progress_.wait(lock);
      continue;
    }
    const TimeNs remaining = *next - RealtimeNs();
    if (remaining > kSpinBelowNs) {
      progress_.wait_for(lock, std::chrono::nanoseconds(remaining - kSpinBelowNs));
    } else {
      lock.unlock();
      SpinFor(std::max<TimeNs>(remaining, 0));
      lock.lock();
    }
  }
  --waiters_;
}

TimeNs GpuRuntime::WaitForRoom(StreamIndex stream) {
  const bool has_room = WithModel([&](SimDevice& model) { return model.HasRoom(stream); });
  if (has_room) return 0;
  const TimeNs start = RealtimeNs();
  WaitUntil([&] { return model_.HasRoom(stream); });
  return RealtimeNs() - start;
}

void GpuRuntime::WaitForOp(OpId op) {
  WaitUntil([&] { return model_.IsComplete(op); });
}

void GpuRuntime::WaitForDevice(uint32_t device) {
  const std::vector<OpId> tails = WithModel([&](SimDevice& model) { return model.Tails(device); });
  for (OpId tail : tails) WaitForOp(tail);
}

}  // namespace gpubound::sim
