// SPDX-License-Identifier: Apache-2.0
//
// What the report has to say of threads whose scopes are missing for a time. No state.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_LOST_SCOPES_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_LOST_SCOPES_H_

#include <string>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound {

// A note on each thread of |process| whose scopes are, or may be, missing within its span, for how
// long; beyond twenty, how many more they are. Nothing of those of which nothing was written.
void NoteLostScopes(const ProcessTrace& process, std::vector<std::string>* notes);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_LOST_SCOPES_H_
