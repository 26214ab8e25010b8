// SPDX-License-Identifier: Apache-2.0
//
// glibc's sets of fixed size.
#include "tools/processors.h"

namespace gpubound {

Processors Processors::Allowed() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return Processors(std::nullopt);
  return Processors(set);
}

Processors Processors::Current() {
  const int processor = sched_getcpu();
  if (!Allowed().set_) return Processors(std::nullopt);  // there would be no way back
  if (processor < 0 || processor >= CPU_SETSIZE) return Processors(std::nullopt);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(processor), &set);
  return Processors(set);
}

void Processors::Hold(pid_t thread) const {
  if (set_) sched_setaffinity(thread, sizeof(*set_), &*set_);
}

}  // namespace gpubound
