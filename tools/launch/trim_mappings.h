// SPDX-License-Identifier: Apache-2.0
//
// What processes that did not close their trace leave on the disk. No state.
#ifndef GPUBOUND_TOOLS_LAUNCH_TRIM_MAPPINGS_H_
#define GPUBOUND_TOOLS_LAUNCH_TRIM_MAPPINGS_H_

#include <string>

namespace gpubound {

// Gives the blocks of live mappings in the run |folder| that hold nothing but zeroes back to the
// filesystem, where their process has ended. The files keep their length and say what they said: to
// read a hole is to read zeroes. What cannot be done is left out.
void TrimMappings(const std::string& folder);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_TRIM_MAPPINGS_H_
