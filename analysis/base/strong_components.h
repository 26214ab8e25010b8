// SPDX-License-Identifier: Apache-2.0
//
// Circles in a graph: nodes that can be reached from each other are one component (Tarjan). Time is
// that of nodes and edges; a path as long as the graph does not deepen the stack. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_STRONG_COMPONENTS_H_
#define GPUBOUND_ANALYSIS_BASE_STRONG_COMPONENTS_H_

#include <cstddef>
#include <vector>

namespace gpubound {

// The number of each node's component. |next|: where the edges of each node lead. A component's
// number is above those of all components that can be reached from it.
std::vector<size_t> StrongComponents(const std::vector<std::vector<size_t>>& next);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_STRONG_COMPONENTS_H_
