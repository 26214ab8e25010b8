// SPDX-License-Identifier: Apache-2.0
//
// What parts that are made faster would save, as text. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_SAVINGS_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_SAVINGS_TEXT_H_

#include <cstddef>
#include <string>

#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// "kernel gemm", "CPU code of update": a ReportSaving's part and name.
std::string SavingName(const std::string& part, const std::string& of, const TextOptions& options);

// "44 % (41 to 46)"; the interval is rounded outwards, so that it says no more than is known.
std::string SavesText(const ReportSaving& saving);

// The largest |most| savings as a table with an empty line before it, none below one part in a
// hundred; or the sentence that there is none. Empty where the run was not replayed.
std::string SavingsSection(const Report& report, const TextOptions& options, size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_SAVINGS_TEXT_H_
