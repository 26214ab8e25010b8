// SPDX-License-Identifier: Apache-2.0
//
// How far the program said that it is, and what all of its work will take. Pure.
#ifndef GPUBOUND_ANALYSIS_PROGRESS_TEXT_H_
#define GPUBOUND_ANALYSIS_PROGRESS_TEXT_H_

#include <string>

#include "analysis/report.h"
#include "analysis/report_text.h"

namespace gpubound {

// "; 25 % of the work was done at 3.50 s, all of it takes about 5.00 s": times of the run, as its
// wall time is. Empty where |process| said nothing.
std::string ProgressText(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROGRESS_TEXT_H_
