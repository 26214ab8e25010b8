// SPDX-License-Identifier: Apache-2.0
//
// What everything printed of a run on the simulated device says. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_SIMULATED_MARK_H_
#define GPUBOUND_ANALYSIS_REPORT_SIMULATED_MARK_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

inline constexpr char kSimulatedMark[] =
    "SIMULATED DEVICE: GPU times are those of a model, not of hardware.";

// Empty where the device was none of ours.
inline std::string SimulatedMark(const Report& report) {
  return report.device_kind == "simulated" ? kSimulatedMark : "";
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_SIMULATED_MARK_H_
