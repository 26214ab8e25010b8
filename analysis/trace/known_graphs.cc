// SPDX-License-Identifier: Apache-2.0
//
// Groups nodes by graph, and graphs by what they run. No state.
#include "analysis/trace/known_graphs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/trace/name_lists.h"

namespace gpubound {
namespace {

// CUgraphNodeType, part of CUDA's binary interface.
enum NodeType : uint32_t {
  kKernelNode = 0,
  kMemcpyNode = 1,
  kMemsetNode = 2,
  kHostNode = 3,
  kEmptyNode = 5,
  kBatchMemOpNode = 12,
};

// By name, class and operation of the nodes, how many.
using Contents = std::map<std::tuple<std::string, std::optional<WorkClass>, LabelId>, uint64_t>;

KnownGraph GraphOf(uint32_t graph, const Contents& contents) {
  KnownGraph known;
  known.graph = graph;
  uint32_t classes = 0;
  for (const auto& [same, count] : contents) {
    const auto& [name, work_class, operation] = same;
    known.nodes.push_back({name, work_class, operation, count});
    if (work_class) classes |= 1u << *work_class;
  }
  std::stable_sort(known.nodes.begin(), known.nodes.end(),
                   [](const SameNodes& a, const SameNodes& b) { return a.count > b.count; });
  known.mixed = (classes & (classes - 1)) != 0;
  if (classes == 1u << kComm) known.work_class = kComm;
  if (classes == 1u << kCopy) known.work_class = kCopy;
  return known;
}

}  // namespace

std::optional<WorkClass> ClassOf(const GraphNode& node) {
  switch (node.info.type) {
    case kKernelNode:
      return CommKernels().Matches(node.name) ? kComm : kCompute;
    case kMemcpyNode:
    case kMemsetNode:
      return kCopy;
    case kHostNode:
      return std::nullopt;
    default:
      break;
  }
  // Waits, events, semaphores and allocations lie in between; what else there is (a graph in the
  // graph, a conditional one, what later releases bring) may run anything.
  const bool is_no_work = node.info.type >= kEmptyNode && node.info.type <= kBatchMemOpNode;
  return is_no_work ? std::nullopt : std::optional(kCompute);
}

KnownGraphs::KnownGraphs(const ProcessTrace& process) {
  std::map<uint32_t, Contents> graphs;
  for (const GraphNode& node : process.graph_nodes) {
    if (node.info.graph == 0) continue;  // CUPTI did not say which
    ++graphs[node.info.graph][{node.name, ClassOf(node), node.info.operation}];
  }
  std::map<Contents, size_t> alike;
  for (const auto& [graph, contents] : graphs) {
    const auto [found, is_new] = alike.try_emplace(contents, graphs_.size());
    if (is_new) graphs_.push_back(GraphOf(graph, contents));
    place_.emplace(graph, found->second);
  }
}

WorkClasses::WorkClasses(const ProcessTrace& process) : graphs_(process) {
  rows_.reserve(process.works.size());
  for (const Work& work : process.works) {
    rows_.push_back({ClassOf(work), work.info.kind == WorkKind::kGraph});
  }
}

}  // namespace gpubound
