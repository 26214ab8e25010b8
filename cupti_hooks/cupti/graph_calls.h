// SPDX-License-Identifier: Apache-2.0
//
// Calls by which a program makes the kernel nodes of a graph itself, or changes them, as XLA does:
// unlike a launch that is captured, CUPTI names no kernel with these, so it is taken from the
// call's parameters. Only the driver's functions are read, since the runtime's call them.
//
//   add:                node*, graph, dependencies, ..., parameters
//   set:                node, parameters
//   set in executable:  executable graph, node of the graph that it was made of, parameters
//
// No state.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_GRAPH_CALLS_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_GRAPH_CALLS_H_

#include <cstdint>
#include <string_view>

#include "cupti_hooks/cupti/cupti_api.h"

namespace gpubound {

enum class NodeChange : uint8_t { kAdded, kSet, kSetInExecutable };

struct NodeFunction {
  std::string_view name;  // with the version that tells how its parameters lie
  NodeChange change;
  uint8_t parameters_at;  // place of the node's own among the call's
  bool of_any_type;       // the node's begin with its type
  bool knows_kernels;     // a CUkernel may stand in place of a CUfunction
};

// Of the driver, by its name as CUPTI tells it; null: it is none of them. Static storage.
const NodeFunction* NodeFunctionCalled(std::string_view name);

// The name of the kernel that |call| of |function| gives a node; null where there is none, or the
// driver does not tell (before CUDA 12.3). The driver's own string, valid as long as the kernel.
// Asks the driver, so only where |call| begins, before the driver has taken a lock.
const char* KernelNameOf(const CuptiApi& api, const NodeFunction& function,
                         const CUpti_CallbackData& call);

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_GRAPH_CALLS_H_
