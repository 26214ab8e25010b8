// SPDX-License-Identifier: Apache-2.0
//
// Which operation a node of a CUDA graph belongs to by itself, whatever operation launches the
// graph: that of the scope of a jitted function in which it was made (proto/scope_domains.h). Other
// nodes belong to whoever launches them. Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_SWEEP_NODE_OPERATIONS_H_
#define GPUBOUND_ANALYSIS_SWEEP_NODE_OPERATIONS_H_

#include <cstdint>
#include <unordered_map>

#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"
#include "proto/scope_domains.h"

namespace gpubound {

class NodeOperations {
 public:
  NodeOperations(const ProcessTrace& process, const LabelRoles& roles) {
    for (const GraphNode& node : process.graph_nodes) {
      const Label& label = process.LabelOf(node.info.operation);
      if (label.kind != LabelKind::kOperation || label.domain != kJittedDomain) continue;
      operations_[node.info.node] = roles.Of(node.info.operation).operation;
    }
  }

  // |node| as DeviceWork::graph_node; kNotOne where it has none of its own.
  OperationIndex Of(uint64_t node) const {
    if (node == 0 || operations_.empty()) return kNotOne;
    const auto found = operations_.find(node);
    return found == operations_.end() ? kNotOne : found->second;
  }

 private:
  std::unordered_map<uint64_t, OperationIndex> operations_;  // by node
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_NODE_OPERATIONS_H_
