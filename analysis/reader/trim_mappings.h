// SPDX-License-Identifier: Apache-2.0
//
// What processes that did not close their trace leave on the disk. No state.
#ifndef GPUBOUND_ANALYSIS_READER_TRIM_MAPPINGS_H_
#define GPUBOUND_ANALYSIS_READER_TRIM_MAPPINGS_H_

#include <functional>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

// Gives the blocks of live mappings in the run |folder| that hold nothing but zeroes back to the
// filesystem, where |has_ended| says it of their process. Of one that has not, a store into such a
// hole on a full disk would be its end. The files keep their length and say what they said: to read
// a hole is to read zeroes. What cannot be done is left out.
void TrimMappings(const std::string& folder,
                  const std::function<bool(const ProcessIdentity&)>& has_ended);

// The same for a run that was read: of processes that are gone from this machine, and that have
// recorded nothing for so long that they cannot be in a container which only looks like it.
void TrimMappingsOf(const Run& run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_TRIM_MAPPINGS_H_
