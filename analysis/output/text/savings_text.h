// SPDX-License-Identifier: Apache-2.0
//
// What parts that are made faster would save, as text. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_SAVINGS_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_SAVINGS_TEXT_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/diagnosis/saving_words.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report.h"

namespace gpubound {

// "kernel gemm", "CPU code of update": a ReportSaving's part and name.
std::string SavingName(const std::string& part, const std::string& of, const TextOptions& options);
std::string WholeSavingName(const std::string& part, const std::string& of);

// Of |names| those that read alike where |whole|, one for each, do not: their whole names, which a
// table then cuts where they differ.
void TellApart(const std::vector<std::string>& whole, std::vector<std::string>* names);

// The cells of the largest |most| savings, none below one part in a hundred, and of the heads above
// them. |bars|: takes a bar for each; may be null.
std::vector<std::string> SavingsHeads(const Report& report, const TextOptions& options);
std::vector<std::vector<std::string>> SavingsRows(const Report& report, const TextOptions& options,
                                                  size_t most,
                                                  std::vector<std::string>* bars = nullptr);

// The largest |most| savings as a table with an empty line before it, none below one part in a
// hundred. Empty where there is none, and where the run was not replayed.
std::string SavingsSection(const Report& report, const TextOptions& options, size_t most);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_SAVINGS_TEXT_H_
