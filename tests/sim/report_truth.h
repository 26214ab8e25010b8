// SPDX-License-Identifier: Apache-2.0
//
// Compares a report with the truth about a virtual program, figure by figure, and analyses such a
// program's facts without recording them. No thread rule; failures are GoogleTest's.
#ifndef GPUBOUND_TESTS_SIM_REPORT_TRUTH_H_
#define GPUBOUND_TESTS_SIM_REPORT_TRUTH_H_

#include "analysis/attribution/process_report.h"
#include "analysis/report/report.h"
#include "tests/sim/virtual_program.h"
#include "tests/sim/virtual_truth.h"

namespace gpubound::sim {

// Of the facts as the reader would hand them over.
ProcessAnalysis AnalyseHistory(const History& history);

// Every figure of |report| that the truth knows, to the nanosecond. SM fill, which the report
// counts in 2^-30 of the device and rounds down, is at most that much for each nanosecond of each
// kernel below the truth; shares are quotients of equal integers.
void ExpectEqualsTruth(const ReportProcess& report, const Truth& truth);

// The same of a run with one process and one device.
void ExpectRunEqualsTruth(const Report& report, const Truth& truth);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_REPORT_TRUTH_H_
