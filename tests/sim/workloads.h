// SPDX-License-Identifier: Apache-2.0
//
// Random training loops on virtual time, of the shapes that decide how an overhead acts: where it
// adds to the run, where a wait absorbs it, where it delays a device. Seeded, so that a failure
// names its seed and repeats. Pure.
#ifndef GPUBOUND_TESTS_SIM_WORKLOADS_H_
#define GPUBOUND_TESTS_SIM_WORKLOADS_H_

#include <cstdint>

#include "analysis/calibration/cost_model.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

enum class Workload : uint8_t {
  kCpuBound,
  kLaunchBound,
  kGpuBound,
  kSynchronising,
  kMultiStream,
  kGraph,
  kTwoProcesses,
};
inline constexpr int kWorkloads = 7;

const char* WorkloadName(Workload workload);

inline constexpr uint64_t kShortLoop = 100'000;

// A loop of some |statements| with the operations simulation, inference and backpropagation, under
// a profiler that costs 0.1 to 10 microseconds per event, on average.
VirtualProgram MakeWorkload(Workload workload, uint64_t seed, uint64_t statements = kShortLoop);

// The same program as it runs when nobody looks.
VirtualProgram Uninstrumented(VirtualProgram program);

// What a calibration of |samples| occurrences of each kind would say of the program's profiler.
CostModel CalibratedCosts(const VirtualProgram& program, uint64_t samples);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_WORKLOADS_H_
