// SPDX-License-Identifier: Apache-2.0
//
// What core_program can live through. Each scenario runs in a process of its own, on the shipped
// core; what it should leave behind is checked by the test that started it.
#ifndef GPUBOUND_TESTS_LIBPROFILER_CORE_SCENARIOS_H_
#define GPUBOUND_TESTS_LIBPROFILER_CORE_SCENARIOS_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "annotate/include/gpubound/api.h"

namespace gpubound {

// The core as the shim sees it.
struct Core {
  const gpubound_api* api;
  void (*finish)(const char* how);
  int (*initialize_injection)();

  uint32_t Operation(const std::string& name) const {
    return api->label(GPUBOUND_LABEL_OPERATION, 0, nullptr, name.data(), name.size());
  }
  // The core may exchange the two entries at any time.
  void Begin(uint32_t label) const { __atomic_load_n(&api->begin, __ATOMIC_RELAXED)(label); }
  void End(uint32_t label) const { __atomic_load_n(&api->end, __ATOMIC_RELAXED)(label); }
  void Scopes(const std::string& name, int count) const {
    const uint32_t label = Operation(name);
    for (int i = 0; i < count; ++i) {
      Begin(label);
      End(label);
    }
  }
};

// What a process that is about to be killed has completed, in memory that its killer shares.
struct HammerProgress {
  static constexpr int kThreads = 2;
  struct alignas(64) Counter {
    std::atomic<uint64_t> completed;
    std::atomic<uint32_t> tid;
  };
  Counter threads[kThreads];
};

// The core is loaded by |load| while another thread's fork, which began before, is under way.
int ForkAroundTheLoad(const std::function<Core()>& load);

// A fork handler: a fork takes as long on a thread that has said so, as in a program of 50 GB.
void StretchFork();

// By name: runs and returns the exit status of the process.
using Scenario = std::function<int(const Core& core, const std::string& argument)>;
const std::map<std::string, Scenario>& Scenarios();

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIBPROFILER_CORE_SCENARIOS_H_
