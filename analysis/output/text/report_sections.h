// SPDX-License-Identifier: Apache-2.0
//
// Sections of the text report beside the breakdown tables: iterations, idle causes, gaps, lanes and
// devices. Each is empty where there is nothing to say, and ends in a newline otherwise. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_SECTIONS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_SECTIONS_H_

#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// That GPU times are not those of hardware; empty where they are.
std::string SimulatedLine(const Report& report, const TextOptions& options);

// What the GPU's work was, what the headline is about where that is not the whole span, and what a
// faster GPU would save.
std::string HeadlineScope(const Report& report, const TextOptions& options);

// How busy the GPU is from the first to the last work; empty where the other figures say that too.
std::string WorkWindowText(const ReportRun& run, const TextOptions& options);

// That the program failed, and how; empty where all was well or is not known.
std::string FailureLine(const Report& report, const TextOptions& options);

// How long start-up, loop and shutdown of the process took whose iterations are the run's; empty
// without any.
std::string LoopLine(const Report& report, const TextOptions& options);

// Which iterations were recorded, where some were asked for; empty otherwise.
std::string StepsLine(const Report& report, const TextOptions& options);

// How long the run took, corrected or why not, and how long it will take where it told how far it
// had come.
std::string WallTimeLine(const Report& report, const TextOptions& options);

// What it ran on. Not wrapped, and without a newline.
std::string DeviceLine(const Report& report);

// A paragraph each, for --full and the page.
std::string IdleSentence(const Report& report, const ReportProcess& process,
                         const TextOptions& options);
std::string CorrectionSentence(const ReportProcess& process, const TextOptions& options,
                               bool has_gpu);
std::string IterationSentence(const ReportProcess& process, const TextOptions& options);

// Tables.
std::string IterationTables(const ReportProcess& process, const TextOptions& options);
std::string GapTable(const Report& report, const ReportProcess& process,
                     const TextOptions& options);
std::string LaneTables(const ReportProcess& process, const TextOptions& options);
std::string DeviceTables(const Report& report, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_REPORT_SECTIONS_H_
