// SPDX-License-Identifier: Apache-2.0
//
// How far the program said that it is, and what all of its work will take. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_PROGRESS_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_PROGRESS_TEXT_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// "; 25 % of the work was done at 3.50 s, all of it takes about 5.00 s": times of the run, as its
// wall time is. Of a run that recorded but some iterations, where those times would be counted from
// somewhere in the middle of the work: "; 25 % of the work was done then, the rest takes about 1.50
// s". Empty where |process|, one of |run|, said nothing.
std::string ProgressText(const ReportRun& run, const ReportProcess& process,
                         const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_PROGRESS_TEXT_H_
