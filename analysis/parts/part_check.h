// SPDX-License-Identifier: Apache-2.0
//
// Whether a part that was read fits together: what is a place in a list lies in it, and lists that go
// together are of one length. Nobody behind this asks again. Pure.
#ifndef GPUBOUND_ANALYSIS_PARTS_PART_CHECK_H_
#define GPUBOUND_ANALYSIS_PARTS_PART_CHECK_H_

#include "analysis/parts/machine_part.h"

namespace gpubound {

bool IsSound(const MachinePart& part);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PARTS_PART_CHECK_H_
