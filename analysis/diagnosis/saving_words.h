// SPDX-License-Identifier: Apache-2.0
//
// What parts that are made faster are called, and what that saves. Pure.
#ifndef GPUBOUND_ANALYSIS_DIAGNOSIS_SAVING_WORDS_H_
#define GPUBOUND_ANALYSIS_DIAGNOSIS_SAVING_WORDS_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// "kernel gemm", "CPU code of update": a ReportSaving's part and name, which takes |width| columns
// at most.
std::string SavingName(const std::string& part, const std::string& of, int width, bool unicode);

// "44 % (41 to 46)"; the interval is rounded outwards, so that it says no more than is known.
std::string SavesText(const ReportSaving& saving);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DIAGNOSIS_SAVING_WORDS_H_
