// SPDX-License-Identifier: Apache-2.0
//
// What a run said of the costs that are taken out of it, in words. No state.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TEXT_IN_RUN_TEXT_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TEXT_IN_RUN_TEXT_H_

#include <string>

#include "analysis/report/in_run_check.h"

namespace gpubound {

struct CheckWords {
  bool raw = false;            // times in ns
  bool has_iterations = true;  // the process ends some, so that it could be checked by them
};

// A sentence or several; empty where there is nothing to say.
std::string CheckText(const InRunCheck& of, const CheckWords& words = {});

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TEXT_IN_RUN_TEXT_H_
