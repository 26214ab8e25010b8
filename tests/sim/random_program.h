// SPDX-License-Identifier: Apache-2.0
//
// Random virtual programs for property tests: seeded, so that a failure names its seed and repeats.
// Pure.
#ifndef GPUBOUND_TESTS_SIM_RANDOM_PROGRAM_H_
#define GPUBOUND_TESTS_SIM_RANDOM_PROGRAM_H_

#include <cstdint>

#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

// A program of one to four threads with nested, repeated and overlapping scopes, phases, steps and
// every kind of API call. The same seed always gives the same program.
VirtualProgram RandomProgram(uint64_t seed);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_RANDOM_PROGRAM_H_
