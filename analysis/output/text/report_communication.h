// SPDX-License-Identifier: Apache-2.0
//
// The section of the text report on collectives: who waited for whom, and what the late rank did.
// Empty where no rank ran any; ends in a newline otherwise. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_COMMUNICATION_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_COMMUNICATION_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

std::string CommunicationSection(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_COMMUNICATION_H_
