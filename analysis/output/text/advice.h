// SPDX-License-Identifier: Apache-2.0
//
// What the numbers of a report suggest to do, in plain sentences. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_ADVICE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_ADVICE_H_

#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

inline constexpr size_t kMostAdvice = 2;

// The sentences that follow from |report|, the most telling first; none where its data is doubtful:
// errors or losses in the ledger, or GPU time that is unknown for more than a twentieth.
// Long names are shortened, with an ellipsis of |unicode| or of dots.
std::vector<std::string> AdviceFor(const Report& report, bool unicode = true);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_ADVICE_H_
