// SPDX-License-Identifier: Apache-2.0
//
// Does things side by side that do not depend on each other. No state.
#ifndef GPUBOUND_ANALYSIS_IN_PARALLEL_H_
#define GPUBOUND_ANALYSIS_IN_PARALLEL_H_

#include <functional>
#include <vector>

#include "analysis/status.h"

namespace gpubound {

// Does all |jobs| on as many threads as the machine has processors, that of the caller included.
// Also where one fails; of those that do, the error of the first in the list.
Status InParallel(const std::vector<std::function<Status()>>& jobs);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IN_PARALLEL_H_
