// SPDX-License-Identifier: Apache-2.0
//
// What nvidia-smi would have shown: the share of sampling windows in which any kernel ran at all,
// which is why it reads near 100 % for a GPU that works a fraction of the time. An upper bound and
// labelled a model (SPEC section 2). Pure.
#ifndef GPUBOUND_ANALYSIS_SMI_MODEL_H_
#define GPUBOUND_ANALYSIS_SMI_MODEL_H_

#include <cstdint>
#include <vector>

#include "analysis/interval.h"

namespace gpubound {

inline constexpr int64_t kSmiWindowNs = 166'666'667;

// Share (0..1) of |span|, in windows from its begin, that lies in windows in which some interval of
// |kernels| (kernels and graphs, sorted by begin) runs. The last window counts by its length.
double SmiModel(const std::vector<Interval>& kernels, const Interval& span);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SMI_MODEL_H_
