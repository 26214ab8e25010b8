// SPDX-License-Identifier: Apache-2.0
//
// Follows nodes from capture to instantiation.
#include "cupti_hooks/cupti/graph_nodes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string_view>
#include <utility>

#include "proto/given_names.h"

namespace gpubound {
namespace {

// A program that captures and instantiates for ever must not make these grow for ever. Beyond them
// a node has no operation, and a graph counts as seen.
constexpr size_t kMaxNodes = 400'000;
constexpr size_t kMaxGraphs = 1 << 16;

// The kernel whose launch the calling thread is in, or that it makes a node of; CUPTI's own string,
// or the driver's.
constinit thread_local const char* t_kernel = nullptr;

// The node from which the calling thread is about to update one of an executable graph; 0: none.
constinit thread_local uint64_t t_update = 0;

// A node that runs another kernel after each update must not have a name without end.
constexpr size_t kLongestName = 1000;
constexpr std::string_view kOr = " or ";

// Whether |name| is one of |names|, which are joined by kOr. Pure.
bool IsOneOf(std::string_view name, std::string_view names) {
  while (true) {
    const size_t end = std::min(names.find(kOr), names.size());
    if (names.substr(0, end) == name) return true;
    if (end == names.size()) return false;
    names.remove_prefix(end + kOr.size());
  }
}

// The calling thread is in the runtime's launch of a graph, which calls the driver's.
constinit thread_local bool t_in_runtime_launch = false;

// By CUgraphNodeType.
constexpr std::string_view kNodeNames[] = {
    kUnnamedNode, "Memcpy",  "Memset",   "(host function)", "(graph)",      "(nothing)",
    "(wait)",     "(event)", "(signal)", "(semaphore)",     "(allocation)", "(free)"};

std::string_view NameOf(const CUpti_GraphData& graph) {
  const uint32_t type = NumberAt(&graph, offsetof(CUpti_GraphData, nodeType));
  if (type == CU_GRAPH_NODE_TYPE_KERNEL && t_kernel != nullptr) return t_kernel;
  return type < std::size(kNodeNames) ? kNodeNames[type] : "(node)";
}

// To the names of a node another one, if it is new and there is room. False: there is not.
bool AddName(std::string_view name, std::string* names) {
  if (IsOneOf(name, *names) || names->size() + name.size() > kLongestName) return false;
  *names += std::string(kOr) + std::string(name);
  return true;
}

}  // namespace

void GraphNodes::OnLaunch(const CUpti_CallbackData& call) noexcept {
  t_kernel = call.callbackSite == CUPTI_API_ENTER ? call.symbolName : nullptr;
}

void GraphNodes::OnResource(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept {
  const auto* graph = static_cast<const CUpti_GraphData*>(resource.resourceDescriptor);
  if (graph == nullptr) return;
  try {
    switch (id) {
      case CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED:
        return OnCreated(*graph);
      case CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED:
        return OnCloned(*graph);
      case CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING:
        return OnDestroyed(*graph);
      case kUpdateIds[0]:
        t_update = IdOf(graph->node);
        return;
      case kUpdateIds[1]:
        return OnUpdated(*graph);
      case CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED:
        return OnInstantiated(*graph);
      default:
        return;
    }
  } catch (const std::exception&) {  // out of memory: this node is only not described
  }
}

uint64_t GraphNodes::IdOf(CUgraphNode node) const {
  uint64_t id = 0;
  if (node == nullptr || api_.cuptiGetGraphNodeId == nullptr) return 0;
  return api_.cuptiGetGraphNodeId(node, &id) == CUPTI_SUCCESS ? id : 0;
}

void GraphNodes::OnCreated(const CUpti_GraphData& graph) {
  const uint64_t id = IdOf(graph.node);
  if (id == 0) return;
  Node node = {host_->OpenOperation(), std::string(NameOf(graph))};
  const std::lock_guard<std::mutex> lock(mutex_);
  // Instantiation may create the nodes that it clones too: what capture said of them stays.
  if (nodes_.size() < kMaxNodes) nodes_.try_emplace(id, std::move(node));
}

void GraphNodes::OnCloned(const CUpti_GraphData& graph) {
  const uint64_t id = IdOf(graph.node);
  const uint64_t original = IdOf(graph.originalNode);
  if (id == 0) return;
  Node node = {LabelId{}, std::string(NameOf(graph)), 0, original};
  if (graph.graph != nullptr && api_.cuptiGetGraphId != nullptr) {
    api_.cuptiGetGraphId(graph.graph, &node.graph);
  }
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto found = nodes_.find(original); found != nodes_.end()) {
      node.operation = found->second.operation;
      node.name = found->second.name;
    }
    // A clone may be cloned again: child graphs, cudaGraphClone.
    if (nodes_.size() < kMaxNodes) {
      nodes_.insert_or_assign(id, node);
      if (original != 0) clones_.insert_or_assign({node.graph, original}, id);
    }
  }
  GraphNodeInfo info;
  info.node = id;
  info.type = NumberAt(&graph, offsetof(CUpti_GraphData, nodeType));
  info.operation = node.operation;
  info.graph = node.graph;
  host_->DefineGraphNode(info, node.name);
}

// Comes for each launch of a graph too, for a node of CUPTI's own.
void GraphNodes::OnUpdated(const CUpti_GraphData& graph) {
  const uint64_t from = std::exchange(t_update, 0);
  const uint64_t id = IdOf(graph.node);
  if (from == 0 || id == 0) return;
  GraphNodeInfo info;
  std::string name;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto source = nodes_.find(from);
    const auto own = nodes_.find(id);
    if (source == nodes_.end() || own == nodes_.end()) return;
    Node& node = own->second;
    const bool same_operation =
        node.operation == LabelId{} || node.operation == source->second.operation;
    if (!AddName(source->second.name, &node.name) && same_operation) return;
    if (!same_operation) node.operation = LabelId{};
    info.operation = node.operation;
    info.graph = node.graph;
    name = node.name;
  }
  info.node = id;
  info.type = NumberAt(&graph, offsetof(CUpti_GraphData, nodeType));
  host_->DefineGraphNode(info, name);
}

void GraphNodes::OnDestroyed(const CUpti_GraphData& graph) {
  const uint64_t id = IdOf(graph.node);
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto node = nodes_.find(id);
  if (node == nodes_.end()) return;
  const auto clone = clones_.find({node->second.graph, node->second.original});
  if (clone != clones_.end() && clone->second == id) clones_.erase(clone);
  nodes_.erase(node);
}

void GraphNodes::OnNodeCall(const NodeFunction& function, const CUpti_CallbackData& call) noexcept {
  if (call.callbackSite == CUPTI_API_ENTER) {
    t_kernel = KernelNameOf(api_, function, call);
    return;
  }
  const char* name = std::exchange(t_kernel, nullptr);
  if (name == nullptr || function.change == NodeChange::kAdded) return;
  const bool failed = call.functionReturnValue != nullptr &&
                      *static_cast<const int32_t*>(call.functionReturnValue) != CUDA_SUCCESS;
  if (failed) return;
  try {
    SetKernel(function, call, name);
  } catch (const std::exception&) {  // out of memory: this node keeps the name that it had
  }
}

void GraphNodes::SetKernel(const NodeFunction& function, const CUpti_CallbackData& call,
                           const char* name) {
  const bool in_executable = function.change == NodeChange::kSetInExecutable;
  const uint64_t id = IdOf(static_cast<CUgraphNode>(ParameterOf(call, in_executable ? 1 : 0)));
  if (!in_executable) {
    // Not instantiated as it was, or that has its own row.
    const std::lock_guard<std::mutex> lock(mutex_);
    if (const auto node = nodes_.find(id); node != nodes_.end()) node->second.name = name;
    return;
  }
  uint32_t executable = 0;
  if (api_.cuptiGetGraphExecId == nullptr ||
      api_.cuptiGetGraphExecId(static_cast<CUgraphExec>(ParameterOf(call, 0)), &executable) !=
          CUPTI_SUCCESS) {
    return;
  }
  GraphNodeInfo info;
  std::string names;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto clone = clones_.find({executable, id});
    if (clone == clones_.end()) return;
    Node& node = nodes_[clone->second];
    if (!AddName(name, &node.name)) return;
    info.node = clone->second;
    info.graph = node.graph;
    info.operation = node.operation;
    names = node.name;
  }
  info.type = CU_GRAPH_NODE_TYPE_KERNEL;
  host_->DefineGraphNode(info, names);
}

void GraphNodes::OnInstantiated(const CUpti_GraphData& graph) {
  uint32_t id = 0;
  if (graph.graphExec == nullptr || api_.cuptiGetGraphExecId == nullptr ||
      api_.cuptiGetGraphExecId(graph.graphExec, &id) != CUPTI_SUCCESS) {
    return;
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  if (instantiated_.size() < kMaxGraphs) instantiated_.insert(id);
}

void GraphNodes::OnGraphLaunch(CUpti_CallbackDomain domain,
                               const CUpti_CallbackData& call) noexcept {
  const bool enters = call.callbackSite == CUPTI_API_ENTER;
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
    t_in_runtime_launch = enters;
  } else if (t_in_runtime_launch) {
    return;
  }
  if (!enters || call.functionParams == nullptr) return;
  if (api_.cuptiGetGraphExecId == nullptr) return SayUntold();
  // The first parameter of all of them.
  const CUgraphExec executable = *static_cast<const CUgraphExec*>(call.functionParams);
  uint32_t id = 0;
  if (executable == nullptr || api_.cuptiGetGraphExecId(executable, &id) != CUPTI_SUCCESS) return;
  if (!WasSeen(id)) host_->Count(LedgerCounter::graph_launches_lost, 1);
}

void GraphNodes::SayUntold() {
  if (said_untold_.exchange(true)) return;
  host_->Note(
      "before CUDA 12.3 CUPTI does not tell which CUDA graphs were instantiated before recording "
      "began; work of those may be missing, and none is counted");
}

bool GraphNodes::WasSeen(uint32_t graph) {
  if (api_.cuptiGetGraphExecId == nullptr) return SayUntold(), true;
  const std::lock_guard<std::mutex> lock(mutex_);
  return instantiated_.size() >= kMaxGraphs || instantiated_.count(graph) != 0;
}

}  // namespace gpubound
