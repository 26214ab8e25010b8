// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the training (report_training.h), as JSON (docs/report.md). No state.
#ifndef GPUBOUND_ANALYSIS_REPORT_TRAINING_JSON_H_
#define GPUBOUND_ANALYSIS_REPORT_TRAINING_JSON_H_

#include "analysis/report/json_rows.h"
#include "analysis/report/report_training.h"

namespace gpubound {

// null where nothing is said.
OrderedJson TrainingJson(const RunTraining* training);
OrderedJson TrainingJson(const ProcessTraining* training);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_TRAINING_JSON_H_
