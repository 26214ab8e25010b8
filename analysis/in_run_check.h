// SPDX-License-Identifier: Apache-2.0
//
// What a run itself says of the costs that calibration measured elsewhere: from iterations whose
// scopes were not recorded, beside their like that were. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_IN_RUN_CHECK_H_
#define GPUBOUND_ANALYSIS_IN_RUN_CHECK_H_

#include <cstdint>
#include <string>
#include <vector>

namespace gpubound {

// A cost that stays as calibration measured it, with a wider error, because this run could not
// check it.
struct UncheckedCost {
  std::string what;  // "scopes", "CUDA calls"
  std::string why;
};

struct InRunCheck {
  uint64_t iterations = 0;    // that were compared with their like
  int64_t suspended_ns = 0;   // time of all that were suspended
  double factor = 0;          // what scopes cost in this run over what calibration says
  double standard_error = 0;  // of the factor
  bool used = false;          // the factor is the surer of the two and was applied
  std::vector<UncheckedCost> unchecked;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IN_RUN_CHECK_H_
