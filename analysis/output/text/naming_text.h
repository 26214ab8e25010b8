// SPDX-License-Identifier: Apache-2.0
//
// How much of the training loop has a name, in words. No state.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_NAMING_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_NAMING_TEXT_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// A sentence of shares of the iterations' time; empty of a process without iterations.
std::string NamingSentence(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_NAMING_TEXT_H_
