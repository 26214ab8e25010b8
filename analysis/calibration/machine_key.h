// SPDX-License-Identifier: Apache-2.0
//
// The machine and software that costs were measured with, and whether they hold for a process that
// was recorded. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_CALIBRATION_MACHINE_KEY_H_
#define GPUBOUND_ANALYSIS_CALIBRATION_MACHINE_KEY_H_

#include <cstddef>
#include <optional>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

// Everything that costs depend on and that one machine has one of at a time. An empty part: the
// processes had none (no CUDA, no Python).
struct MachineKey {
  std::string cpu_model;
  std::string device_kind;  // real | simulated | none
  std::string driver;
  std::string cupti;
  std::string python;    // 3.11
  std::string gpubound;  // version of the recorder
  friend bool operator==(const MachineKey&, const MachineKey&) = default;
};

MachineKey KeyOf(const ProcessTrace& process);

// What the processes of |run| on the host of its first process have together.
MachineKey KeyOf(const Run& run);

// The first part in which they differ, as words: "with Python 3.12". |agreeing| parts before it are
// the same.
struct KeyDifference {
  size_t agreeing = 0;
  std::string measured;
  std::string recorded;
};

// Absent where costs that were measured under |measured| hold for what was recorded under
// |recorded|. What was not used (Python, CUDA) does not matter.
std::optional<KeyDifference> DifferenceOf(const MachineKey& measured, const MachineKey& recorded);

// Why costs that were measured under |measured| do not hold for what was recorded under |recorded|;
// empty where they do.
std::string WhyNotServing(const MachineKey& measured, const MachineKey& recorded);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALIBRATION_MACHINE_KEY_H_
