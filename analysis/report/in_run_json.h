// SPDX-License-Identifier: Apache-2.0
//
// What a run said of the costs that are taken out of it, as JSON (docs/report.md). No state.
#ifndef GPUBOUND_ANALYSIS_REPORT_IN_RUN_JSON_H_
#define GPUBOUND_ANALYSIS_REPORT_IN_RUN_JSON_H_

#include "analysis/report/in_run_check.h"
#include "analysis/report/json_rows.h"

namespace gpubound {

OrderedJson InRunJson(const InRunCheck& check);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_IN_RUN_JSON_H_
