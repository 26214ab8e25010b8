// SPDX-License-Identifier: Apache-2.0
//
// What recording an event costs the program that is recorded, per kind of event: what calibration
// measures and what the replay takes out of the timeline. Plain values without a thread rule; times
// are ns on the thread that made the event.
#ifndef GPUBOUND_ANALYSIS_CALIBRATION_COST_MODEL_H_
#define GPUBOUND_ANALYSIS_CALIBRATION_COST_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "analysis/calibration/machine_key.h"
#include "analysis/calibration/similar_call.h"
#include "proto/other_work.h"

namespace gpubound {

enum class CostKind : uint8_t {
  kNativeScope,      // begin and end of a scope from C or C++, foreign ranges (NVTX) included
  kPythonScope,      // gpubound.operation() and its like, with what the interpreter does for them
  kInterceptedCall,  // a call that a hook wrapped: the wrapper and its two slots
  kInstant,          // step, phase, counter, mark
  kApiCall,  // a CUDA API call recorded by CUPTI; CostModel::api where it was measured alone
};
inline constexpr size_t kCostKindCount = 5;

// One occurrence. An event has two time stamps, or one: what was spent between them is inside, what
// was spent before the first and after the second is outside.
struct Cost {
  double inside_ns = 0;
  double outside_ns = 0;
  double variance_ns2 = 0;       // of one occurrence's total, or more (docs/calibration.md)
  double standard_error_ns = 0;  // of the mean total, as calibration measured it
  uint64_t samples = 0;          // 0: not measured
  // Of the mean, beside |standard_error_ns|, in the rows of a run: in its total what other costs
  // are off by takes that back.
  double row_error_ns = 0;
  // Of a CUDA call: how long CUPTI took to enter those that were measured; 0: not known.
  double entry_ns = 0;

  double total_ns() const { return inside_ns + outside_ns; }
  Cost Times(double factor) const {
    return {inside_ns * factor,
            outside_ns * factor,
            variance_ns2 * factor * factor,
            standard_error_ns * factor,
            samples,
            row_error_ns * factor,
            entry_ns};
  }
};

// Time without an event of the thread, from which on what recording needs is taken to have been
// driven out of the nearest caches.
inline constexpr int64_t kOtherWorkNs = 1'000;

struct CostModel {
  std::array<Cost, kCostKindCount> kinds;
  // With the first of its two time stamps behind other work, where that was measured: what it costs
  // more than |kinds| falls to each time stamp with at least kOtherWorkNs before it.
  std::array<Cost, kCostKindCount> kinds_after_other_work;
  Cost python_instant;              // of kInstant by way of the interpreter, where it was measured
  std::map<std::string, Cost> api;  // by function name without its versioned suffix
  // Of calls that begin kOtherWorkBeforeCallNs or more behind their thread's call before, where
  // that was measured: all that they cost then. |kinds_after_other_work| has that of any call.
  std::map<std::string, Cost> api_after_other_work;
  // They hold for whatever a process does between two calls; else only for one with an interpreter,
  // which executes as much code there as calibration does.
  bool knows_calls_behind_work = false;
  // Measured in other programs than those that it is taken out of, as a stored calibration is.
  bool of_other_programs = false;
  std::optional<MachineKey> measured_on;  // absent: the costs hold for any process

  const Cost& Of(CostKind kind) const { return kinds[static_cast<size_t>(kind)]; }
  Cost& Of(CostKind kind) { return kinds[static_cast<size_t>(kind)]; }
  const Cost& AfterOtherWork(CostKind kind) const {
    return kinds_after_other_work[static_cast<size_t>(kind)];
  }
  Cost& AfterOtherWork(CostKind kind) { return kinds_after_other_work[static_cast<size_t>(kind)]; }
  // Of one call of |function|: its own cost where it was measured, that of a function that does the
  // same where that was (SimilarCall), else that of any call.
  const Cost& OfApi(const std::string& function) const {
    const auto found = FindCall(api, function);
    return found == api.end() ? Of(CostKind::kApiCall) : found->second;
  }
  // Likewise behind other work; without samples where that is not known.
  const Cost& OfApiAfterOtherWork(const std::string& function) const {
    const auto found = FindCall(api_after_other_work, function);
    return found == api_after_other_work.end() ? AfterOtherWork(CostKind::kApiCall) : found->second;
  }
  // In |api| or |api_after_other_work|; the end of it where nothing like |function| was measured.
  static std::map<std::string, Cost>::const_iterator FindCall(
      const std::map<std::string, Cost>& functions, const std::string& function) {
    const auto found = functions.find(function);
    return found != functions.end() ? found : functions.find(std::string(SimilarCall(function)));
  }
  // Calls |act| with each Cost* of scopes, of instants and of calls, in a tight loop and behind
  // other work.
  template <typename Act>
  void ForScopes(const Act& act) {
    for (const CostKind kind :
         {CostKind::kNativeScope, CostKind::kPythonScope, CostKind::kInterceptedCall}) {
      ForKind(kind, act);
    }
  }
  template <typename Act>
  void ForInstants(const Act& act) {
    act(&Of(CostKind::kInstant));
    act(&python_instant);
  }
  template <typename Act>
  void ForCalls(const Act& act) {
    ForKind(CostKind::kApiCall, act);
    for (auto* const functions : {&api, &api_after_other_work}) {
      for (auto& [name, cost] : *functions) act(&cost);
    }
  }

  // Why the costs are not those of |process|; empty where they are.
  std::string WhyNotOf(const ProcessTrace& process) const {
    return measured_on ? WhyNotServing(*measured_on, KeyOf(process)) : "";
  }

 private:
  template <typename Act>
  void ForKind(CostKind kind, const Act& act) {
    act(&Of(kind));
    act(&AfterOtherWork(kind));
  }
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALIBRATION_COST_MODEL_H_
