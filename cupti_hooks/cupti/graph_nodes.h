// SPDX-License-Identifier: Apache-2.0
//
// What CUPTI tells of CUDA graphs while the program makes them, and no record tells later: which
// operation was open where a node was captured, what kernel it is, and which graphs were
// instantiated under our eyes.
//
//   capture:     GRAPHNODE_CREATED  node A, inside the launch that is captured, or the call that
//                                   adds it
//   instantiate: GRAPHNODE_CLONED   node B of the executable graph, from A     -> a row
//                GRAPHEXEC_CREATED  executable graph
//   update:      GRAPH_NODE_UPDATED, then GRAPH_NODE_SET_PARAMS: from node C of another graph,
//                to node B                                                     -> its row anew
//   set:         a call that gives node A, or node B by its graph and A, another kernel
//   each launch: records that say node B and the graph
//
// A row holds for the whole run: a node that was updated or set has all the names it ever had, and
// no operation where they differ.
//
// The callbacks come on the program's threads, inside its CUDA calls. They make no CUDA call but
// the one for a kernel's name (graph_calls.h), and hold no lock while they ask CUPTI for an id.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_GRAPH_NODES_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_GRAPH_NODES_H_

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "cupti_hooks/cupti/cupti_api.h"
#include "cupti_hooks/cupti/graph_calls.h"
#include "libprofiler/device_source.h"

namespace gpubound {

class GraphNodes {
 public:
  // Both outlive this object.
  GraphNodes(const CuptiApi& api, DeviceHost* host) : api_(api), host_(host) {}

  // By number: CUPTI_CBID_RESOURCE_GRAPH_NODE_UPDATED and _SET_PARAMS, which the headers of CUDA 12
  // do not have.
  static constexpr CUpti_CallbackId kUpdateIds[] = {22, 23};

  // CUPTI_CB_DOMAIN_RESOURCE. Ids that are not about graphs are ignored.
  void OnResource(CUpti_CallbackId id, const CUpti_ResourceData& resource) noexcept;

  // Begin and end of a call that launches a kernel, from which a node that is made in between has
  // its name.
  static void OnLaunch(const CUpti_CallbackData& call) noexcept;

  // Begin and end of a call that adds or sets a kernel node, which then has its name from the
  // call's parameters.
  void OnNodeCall(const NodeFunction& function, const CUpti_CallbackData& call) noexcept;

  // Begin and end of a call that launches a graph, where graphs are recorded as a whole: CUPTI then
  // records nothing of one that was instantiated before, which is counted.
  void OnGraphLaunch(CUpti_CallbackDomain domain, const CUpti_CallbackData& call) noexcept;

  // Whether the executable graph that records call |graph| was instantiated while we recorded. True
  // where that cannot be told, which is noted.
  bool WasSeen(uint32_t graph);

 private:
  struct Node {
    LabelId operation;
    std::string name;
    uint32_t graph = 0;     // that it was made for; of a node of an executable graph
    uint64_t original = 0;  // that it is a clone of; 0: of none
  };
  // A node by the graph that it is in and the one that it is a clone of.
  struct CloneKey {
    uint32_t graph;
    uint64_t original;
    friend bool operator==(const CloneKey&, const CloneKey&) = default;
  };
  struct CloneKeyHash {
    size_t operator()(const CloneKey& key) const {
      return (key.original ^ (uint64_t{key.graph} << 32)) * 0x9e3779b97f4a7c15u;
    }
  };

  uint64_t IdOf(CUgraphNode node) const;
  void SayUntold();
  void SetKernel(const NodeFunction& function, const CUpti_CallbackData& call, const char* name);
  void OnCreated(const CUpti_GraphData& graph);
  void OnCloned(const CUpti_GraphData& graph);
  void OnUpdated(const CUpti_GraphData& graph);
  void OnDestroyed(const CUpti_GraphData& graph);
  void OnInstantiated(const CUpti_GraphData& graph);

  const CuptiApi& api_;
  DeviceHost* const host_;
  std::mutex mutex_;
  std::unordered_map<uint64_t, Node> nodes_;  // by id, of graphs that can be instantiated
  std::unordered_map<CloneKey, uint64_t, CloneKeyHash> clones_;
  std::unordered_set<uint32_t> instantiated_;
  std::atomic<bool> said_untold_{false};
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_GRAPH_NODES_H_
