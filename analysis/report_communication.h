// SPDX-License-Identifier: Apache-2.0
//
// The section of the text report on collectives: who waited for whom, and what the late rank did.
// Empty where no rank ran any; ends in a newline otherwise. Pure.
#ifndef GPUBOUND_ANALYSIS_REPORT_COMMUNICATION_H_
#define GPUBOUND_ANALYSIS_REPORT_COMMUNICATION_H_

#include <string>

#include "analysis/report.h"
#include "analysis/report_text.h"

namespace gpubound {

std::string CommunicationSection(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_COMMUNICATION_H_
