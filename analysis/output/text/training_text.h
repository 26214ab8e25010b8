// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the training itself (report_training.h), as text. Each is empty where there
// is nothing to say, and ends in a newline otherwise. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_TRAINING_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_TRAINING_TEXT_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"

namespace gpubound {

// "reached", with the time, or why it was not. Not wrapped, without the target and a full stop.
// |brief|: for a line of its own.
std::string TargetText(const ReportTarget& target, const TextOptions& options, bool brief = false);

// What the first screen says of the process whose iterations are the run's: how much of the device's
// peak it uses, its weight syncs where they hold it up, and waste; and what the roles of processes
// cost each other.
std::string TrainingLines(const Report& report, const TextOptions& options);

// All that is known beside targets, at length.
std::string TrainingSection(const Report& report, const TextOptions& options);

// A paragraph for each target that was asked for.
std::string TargetLines(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_TRAINING_TEXT_H_
