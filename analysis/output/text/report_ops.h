// SPDX-License-Identifier: Apache-2.0
//
// Device work by the operator of a framework that launched it, as --by op,shape prints it. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OPS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OPS_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// Of |process|, by operator; a sentence where none is known.
std::string OpTable(const ReportProcess& process, const TextOptions& options);

// By operator and the shapes of its inputs, with what is reached of the device.
std::string ShapeTable(const ReportProcess& process, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_OPS_H_
