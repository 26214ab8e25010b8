// SPDX-License-Identifier: Apache-2.0
//
// What a report says of the training itself (report_training.h), as text. Each is empty where there
// is nothing to say, and ends in a newline otherwise. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_TRAINING_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_TRAINING_TEXT_H_

#include <string>
#include <vector>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"
#include "analysis/report/report_training.h"

namespace gpubound {

// "reached", with the time, or why it was not. Not wrapped, without the target and a full stop.
// |brief|: for a line of its own.
std::string TargetText(const ReportTarget& target, const TextOptions& options, bool brief = false);

// The same with the target before it and, unless |brief|, where the time went after it.
std::string TargetSentence(const ReportTarget& target, const TextOptions& options, bool brief);

// What is said of the training at length, without full stops; empty where there is nothing to say.
struct TrainingWords {
  std::vector<std::string> targets;  // as those of the report; likewise |work|
  std::vector<std::string> work;
  std::string bubbles;  // of roles, as the next four
  std::string overlap;
  std::string bound;
  std::string tail;
  std::string inferred;
  std::string staleness;  // of samples, as the next two
  std::string waste;
  std::string goodput;
  std::string flops;  // of |process|, as |weight_sync|
  std::string weight_sync;
  const ReportProcess* process = nullptr;  // of the report; null: it has none
};
TrainingWords WordsOfTraining(const Report& report, const TextOptions& options);

// What the first screen says of the process whose iterations are the run's: how much of the device's
// peak it uses, its weight syncs where they hold it up, and waste; and, |with_roles|, what the roles
// cost each other.
std::string TrainingLines(const Report& report, const TextOptions& options, bool with_roles);

// All that is known beside targets, at length.
std::string TrainingSection(const Report& report, const TextOptions& options);

// A paragraph for each target that was asked for.
std::string TargetLines(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_TRAINING_TEXT_H_
