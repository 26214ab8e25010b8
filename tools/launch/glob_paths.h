// SPDX-License-Identifier: Apache-2.0
//
// Paths that match a pattern of the shell. Reads folders; no state.
#ifndef GPUBOUND_TOOLS_LAUNCH_GLOB_PATHS_H_
#define GPUBOUND_TOOLS_LAUNCH_GLOB_PATHS_H_

#include <string>
#include <vector>

namespace gpubound {

// Sorted by name; none where nothing matches.
std::vector<std::string> GlobPaths(const std::string& pattern);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_GLOB_PATHS_H_
