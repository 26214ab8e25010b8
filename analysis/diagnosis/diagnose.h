// SPDX-License-Identifier: Apache-2.0
//
// From the figures of a report to what limits the run, what to do about it and what that would
// bring: one set of rules for recorded and imported runs, independent of who asks. Pure.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_DIAGNOSE_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_DIAGNOSE_H_

#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

// What limits the run first, with what its action would bring, and the run's largest saving of at
// least kWorthSaving where it was replayed; then what else is worth knowing. Never empty.
// |report.diagnosis| is not read.
std::vector<ReportDiagnosis> Diagnose(const Report& report);

// A saving below this is not worth an action.
inline constexpr double kWorthSaving = 0.05;

// The largest saving, where it is worth an action; null otherwise.
const ReportSaving* LargestSaving(const ReportRun& run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DIAGNOSIS_DIAGNOSE_H_
