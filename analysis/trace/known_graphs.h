// SPDX-License-Identifier: Apache-2.0
//
// What CUDA graphs that were recorded as a whole run each time, as far as it was told while they
// were made (table graph_node). Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_TRACE_KNOWN_GRAPHS_H_
#define GPUBOUND_ANALYSIS_TRACE_KNOWN_GRAPHS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/trace/run.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// Nodes of a graph that are the same but for where they stand in it.
struct SameNodes {
  std::string name;
  std::optional<WorkClass> work_class;  // absent: no device work
  LabelId operation{};                  // that was open where they were captured; 0 none
  uint64_t count = 0;
  friend bool operator==(const SameNodes&, const SameNodes&) = default;
};

// What a graph runs, and all those that run the same.
struct KnownGraph {
  uint32_t graph = 0;               // the lowest of their ids
  WorkClass work_class = kCompute;  // of all of it
  bool mixed = false;               // the nodes are of several classes
  std::vector<SameNodes> nodes;     // most of them first
};

class KnownGraphs {
 public:
  explicit KnownGraphs(const ProcessTrace& process);

  // By DeviceWork::graph; null where no node of it is known.
  const KnownGraph* Find(uint32_t graph) const {
    const auto found = place_.find(graph);
    return found == place_.end() ? nullptr : &graphs_[found->second];
  }

 private:
  std::vector<KnownGraph> graphs_;
  std::unordered_map<uint32_t, size_t> place_;  // by graph, in |graphs_|
};

// The class of each piece of a process's device work.
class WorkClasses {
 public:
  explicit WorkClasses(const ProcessTrace& process);

  WorkClass Of(const DeviceWork& work) const {
    const size_t row = Raw(work.work);
    if (row >= rows_.size()) return kCompute;
    return rows_[row].is_graph ? OfGraph(work.graph) : rows_[row].work_class;
  }

 private:
  struct Row {
    WorkClass work_class;
    bool is_graph;
  };
  WorkClass OfGraph(uint32_t graph) const {
    const KnownGraph* known = graphs_.Find(graph);
    return known == nullptr ? kCompute : known->work_class;
  }

  const KnownGraphs graphs_;
  std::vector<Row> rows_;  // by WorkId
};

// The class of a node; absent where it is no device work, compute where it may be any.
std::optional<WorkClass> ClassOf(const GraphNode& node);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_KNOWN_GRAPHS_H_
