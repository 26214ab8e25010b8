// SPDX-License-Identifier: Apache-2.0
//
// Does things side by side that do not depend on each other, on threads that are kept from one
// call to the next for as long as somebody wants them.
#ifndef GPUBOUND_ANALYSIS_BASE_IN_PARALLEL_H_
#define GPUBOUND_ANALYSIS_BASE_IN_PARALLEL_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "analysis/base/status.h"

namespace gpubound {

class Helpers;

// While one lives, the threads that InParallel() started stay, for whoever calls it: to start one
// anew may take milliseconds. They end with the last one that lives.
class HelpersKept {
 public:
  HelpersKept();
  Helpers& helpers() const { return *helpers_; }

 private:
  std::shared_ptr<Helpers> helpers_;
};

// Does all |jobs| on as many threads as the machine has processors, that of the caller included.
// Also where one fails; of those that do, the error of the first in the list, or what that threw. A
// job may call it.
Status InParallel(const std::vector<std::function<Status()>>& jobs);

// Likewise |do_one| of each number below |count|, which has no error.
void ForEachInParallel(size_t count, const std::function<void(size_t)>& do_one);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_IN_PARALLEL_H_
