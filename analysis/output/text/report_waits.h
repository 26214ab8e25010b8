// SPDX-License-Identifier: Apache-2.0
//
// Waits for other processes, as text: "Waiting for simulation in 8 workers: 2.1 s". Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_WAITS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_WAITS_H_

#include <string>
#include <vector>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// For whom |process| waited, longest first, by what they mostly did meanwhile; empty where it did
// not wait for a known process.
std::string WaitSentence(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_WAITS_H_
