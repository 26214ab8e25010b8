// SPDX-License-Identifier: Apache-2.0
//
// What a random program (random_program.h) may have beside scopes and calls. Each feature is added
// to a program that exists, so that programs without it stay what they are.
// Pure.
#ifndef GPUBOUND_TESTS_SIM_RANDOM_FEATURES_H_
#define GPUBOUND_TESTS_SIM_RANDOM_FEATURES_H_

#include <cstdint>

#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

// Annotations of three domains, one of them a library's, nested and as start/end ranges that any
// thread ends. One program in four has them in place of all its operations.
void AddAnnotations(uint64_t seed, VirtualProgram* program);

// Launch geometry and limits of the device. Some kernels have none, some do not fit, and one device
// in six does not tell its limits.
void AddGeometry(uint64_t seed, VirtualProgram* program);

// CPU and device time of up to 400 ms, so that spans have several windows of nvidia-smi.
void AddLongTimes(uint64_t seed, VirtualProgram* program);

// Pauses, on any thread, and outages. The last feature to be added, since an outage is a time.
void AddUnknownTime(uint64_t seed, VirtualProgram* program);

// A random program with all of them.
VirtualProgram RandomProgramWithEverything(uint64_t seed);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_RANDOM_FEATURES_H_
