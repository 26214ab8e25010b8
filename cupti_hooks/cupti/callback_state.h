// SPDX-License-Identifier: Apache-2.0
//
// What is learnt inside CUPTI's callbacks, on the program's threads, and what those need to know.
// Lives until the process ends, as CUPTI may call at any time.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CALLBACK_STATE_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CALLBACK_STATE_H_

#include <atomic>

#include "cupti_hooks/cupti/api_functions.h"
#include "cupti_hooks/cupti/call_counter.h"
#include "cupti_hooks/cupti/cupti_api.h"
#include "cupti_hooks/cupti/entry_times.h"
#include "cupti_hooks/cupti/graph_nodes.h"
#include "cupti_hooks/cupti/timed_calls.h"
#include "libprofiler/device_source.h"
#include "libprofiler/native_waits.h"

namespace gpubound {

struct CallbackState {
  // |host| and |worker|, which is woken when calls pile up, outlive the state.
  CallbackState(const CuptiApi& used_api, DeviceHost* host, const QuietApis& quiet,
                WakeSignal* worker)
      : api(used_api),
        functions(api, host, quiet),
        graphs(api, host),
        timed_calls(api, functions, worker) {}
  CallbackState(const CallbackState&) = delete;
  CallbackState& operator=(const CallbackState&) = delete;

  // The recording ends, or CUPTI is not to be called any more. Any thread.
  void StopTimingCalls() noexcept { timed_calls.Close(); }

  // Begin and end of a call whose callback is on.
  void OnCall(CUpti_CallbackDomain domain, CUpti_CallbackId id,
              const CUpti_CallbackData& call) noexcept {
    TimeEntry(domain, id, call.callbackSite);
    NoteDeviceCall(call.callbackSite == CUPTI_API_ENTER);
    const bool begins =
        call.callbackSite == CUPTI_API_ENTER && !IsWithinRuntimeCall(domain, call.correlationId);
    if (functions.IsQuiet(domain, id)) {
      if (begins && IsCountedHere(domain)) suppressed_calls.Count();
      return;
    }
    if (functions.IsGraphLaunch(domain, id)) {
      if (watches_graph_launches.load(std::memory_order_relaxed)) {
        graphs.OnGraphLaunch(domain, call);
      }
    } else if (functions.IsKernelLaunch(domain, id)) {
      GraphNodes::OnLaunch(call);
    } else if (const NodeFunction* function = functions.NodeFunctionOf(domain, id)) {
      if (names_graph_nodes.load(std::memory_order_relaxed)) graphs.OnNodeCall(*function, call);
    }
    timed_calls.OnCall(domain, id, call);
  }

  // First of all, and of a call that is called back for at its begin.
  void TimeEntry(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                 CUpti_ApiCallbackSite site) noexcept {
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      if (site == CUPTI_API_ENTER) entry_times.OnDriverBegin();
    } else if (site == CUPTI_API_ENTER) {
      entry_times.OnRuntimeBegin(id);
    } else {
      entry_times.OnRuntimeEnd();
    }
  }

  // At the begin of a call: whether it is the driver's, within a function of the runtime's that is
  // called back for too. Both then have one correlation id.
  static bool IsWithinRuntimeCall(CUpti_CallbackDomain domain, uint32_t correlation) noexcept {
    constinit static thread_local uint32_t runtime_call = 0;  // the thread's last; 0: none
    if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
      return correlation != 0 && correlation == runtime_call;
    }
    runtime_call = correlation;
    return false;
  }
  bool IsCountedHere(CUpti_CallbackDomain domain) const noexcept {
    return domain == CUPTI_CB_DOMAIN_DRIVER_API ||
           !has_runtime_queries.load(std::memory_order_relaxed);
  }

  const CuptiApi api;  // its own: it may outlive the source
  const ApiFunctions functions;
  GraphNodes graphs;
  CallCounter suppressed_calls;
  // Quiet functions of the runtime have records, which are counted.
  std::atomic<bool> has_runtime_queries{false};
  TimedCalls timed_calls;
  EntryTimes entry_times;
  std::atomic<bool> watches_graph_launches{false};  // graphs are recorded as a whole
  std::atomic<bool> names_graph_nodes{false};       // ... and their nodes are to have names
  // That of an earlier source of this process. Only here to be reachable: what lives until the end
  // on purpose is then no leak to those who look for leaks.
  CallbackState* previous = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CALLBACK_STATE_H_
