// SPDX-License-Identifier: Apache-2.0
//
// The sampling thread. NVML is opened on it and not before, since that takes time which cuInit,
// from which the source is started, should not lose.
#include "cupti_hooks/utilization_source.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <exception>

#include "cupti_hooks/nvml_api.h"
#include "cupti_hooks/process_tree.h"
#include "libprofiler/clock.h"

namespace gpubound {
namespace {

constexpr int64_t kEndPollNs = 1'000'000;

int64_t NowNs() { return static_cast<int64_t>(ReadMonotonicNs()); }

}  // namespace

UtilizationSource::~UtilizationSource() {
  if (state_ != nullptr && state_->ended.load(std::memory_order_acquire)) delete state_;
}

bool UtilizationSource::Start(DeviceHost* host) {
  if (options_.interval_ns == 0) return false;
  auto* state = new State{options_, host, {}, {}, {}, {}};
  // The program's signals are the program's: none is delivered to our thread.
  sigset_t all, before;
  sigfillset(&all);
  pthread_t thread{};
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool made = pthread_create(&thread, nullptr, &UtilizationSource::Main, state) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!made) {
    delete state;
    host->Note("no thread could be made to sample utilisation");
    return false;
  }
  pthread_setname_np(thread, "gpubound-nvml");
  pthread_detach(thread);
  state_ = state;
  return true;
}

bool UtilizationSource::ReadClock(int64_t* now_ns) {
  *now_ns = 0;
  return false;
}

void* UtilizationSource::Main(void* argument) {
  auto* state = static_cast<State*>(argument);
  try {
    Run(state);
  } catch (const std::exception&) {  // out of memory: no more samples
  }
  state->end.Set();
  state->ended.store(true, std::memory_order_release);
  return nullptr;
}

void UtilizationSource::Run(State* state) {
  NvmlApi nvml;
  std::string why;
  if (!nvml.Open(state->options.nvml, &why)) {
    state->host->Count(LedgerCounter::nvml_unavailable, 1);
  }
  const auto pid = static_cast<uint32_t>(getpid());
  int64_t next_ns = NowNs();
  while (!state->stop.load(std::memory_order_acquire)) {
    for (const NvmlApi::Device& device : nvml.devices()) {
      UtilizationSample sample = nvml.Read(device);
      sample.time_ns = NowNs();
      state->host->AddSample(sample, device.uuid);
    }
    ProcessTreeSample tree = MeasureProcessTree(state->options.proc, pid);
    tree.time_ns = NowNs();
    state->host->AddSample(tree);
    // A machine that sleeps or starves us must not be answered with a burst.
    next_ns = std::max(next_ns + state->options.interval_ns, NowNs());
    while (!state->stop.load(std::memory_order_acquire) && NowNs() < next_ns) {
      state->wake.Wait(next_ns - NowNs());
    }
  }
}

void UtilizationSource::Stop(int64_t deadline_ns) {
  if (state_ == nullptr) return;
  state_->stop.store(true, std::memory_order_release);
  state_->wake.Set();
  while (!state_->ended.load(std::memory_order_acquire) && NowNs() < deadline_ns) {
    state_->end.Wait(std::min(kEndPollNs, deadline_ns - NowNs()));
  }
}

}  // namespace gpubound
