// SPDX-License-Identifier: Apache-2.0
//
// Lets the real collector record a virtual program: the virtual clock is the collector's clock, the
// virtual threads are registered threads, and the device's side arrives through SimSource. Scopes
// are written when they happen; drains and deliveries come in between, at random, so that a trace
// is cut into chunks in many ways.
//
// One thread of execution.
#ifndef GPUBOUND_TESTS_SIM_RECORDED_PROGRAM_H_
#define GPUBOUND_TESTS_SIM_RECORDED_PROGRAM_H_

#include <cstdint>
#include <string>

#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

struct RecordingOptions {
  std::string run_directory;
  uint64_t pid = 4242;
  uint64_t seed = 1;                                    // of when to drain and to deliver
  uint32_t drain_one_in = 20;                           // instants; 0: only at the end
  TimeNs source_offset_ns = 1'700'000'000'000'000'000;  // of the device source's clock
  bool reverse_batches = false;
  uint64_t segment_bytes = uint64_t{1} << 30;
};

// Executes |program| under a collector that writes into options.run_directory, and closes the
// trace. False when no collector could be made.
bool RecordProgram(const VirtualProgram& program, const RecordingOptions& options,
                   History* history);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_RECORDED_PROGRAM_H_
