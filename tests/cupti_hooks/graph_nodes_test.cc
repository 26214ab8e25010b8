// SPDX-License-Identifier: Apache-2.0
//
// What is learnt of graphs while they are made. Handles are their ids.
#include "cupti_hooks/cupti/graph_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tests/cupti_hooks/recording_host.h"
#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {
namespace {

using ::testing::IsEmpty;

constexpr LabelId kCapture{11}, kElsewhere{12};

class GraphNodesTest : public ::testing::Test {
 protected:
  void Capture(uintptr_t node, CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL) {
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node, 0, type);
  }
  void Clone(uintptr_t node, uintptr_t original, CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL) {
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, node, original, type);
  }
  void Destroy(uintptr_t node) {
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, node, 0, CU_GRAPH_NODE_TYPE_KERNEL);
  }
  void Instantiated(uintptr_t executable) {
    CUpti_GraphData graph = {};
    graph.graphExec = reinterpret_cast<CUgraphExec>(executable);
    Tell(CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED, graph);
  }
  void Launch(CUpti_ApiCallbackSite site, const char* kernel) {
    CUpti_CallbackData call = {};
    call.callbackSite = site;
    call.symbolName = kernel;
    GraphNodes::OnLaunch(call);
  }
  // A launch of a graph, in which |inner| happens.
  void LaunchGraph(
      CUpti_CallbackDomain domain, uintptr_t executable,
      const std::function<void()>& inner = [] {}) {
    auto* handle = reinterpret_cast<CUgraphExec>(executable);
    CUpti_CallbackData call = {};
    call.functionParams = &handle;
    call.callbackSite = CUPTI_API_ENTER;
    nodes_.OnGraphLaunch(domain, call);
    inner();
    call.callbackSite = CUPTI_API_EXIT;
    nodes_.OnGraphLaunch(domain, call);
  }
  void Tell(CUpti_CallbackId id, uintptr_t node, uintptr_t original, CUgraphNodeType type) {
    CUpti_GraphData graph = {};
    graph.graph = reinterpret_cast<CUgraph>(kGraph);
    graph.node = reinterpret_cast<CUgraphNode>(node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(original);
    graph.nodeType = type;
    Tell(id, graph);
  }
  void Tell(CUpti_CallbackId id, const CUpti_GraphData& graph) {
    CUpti_ResourceData resource = {};
    resource.resourceDescriptor = const_cast<CUpti_GraphData*>(&graph);
    nodes_.OnResource(id, resource);
  }

  static constexpr uintptr_t kGraph = 77;
  ScriptedCupti cupti_{kCupti13_0};
  CuptiApi api_ = cupti_.api();
  RecordingHost host_;
  GraphNodes nodes_{api_, &host_};
};

TEST_F(GraphNodesTest, AnExecutableNodeBelongsToTheOperationThatCapturedIt) {
  host_.open_operation = kCapture;
  Capture(1);
  host_.open_operation = kElsewhere;
  EXPECT_THAT(host_.graph_nodes, IsEmpty()) << "a captured node is never executed itself";
  Clone(2, 1);
  ASSERT_EQ(host_.graph_nodes.size(), 1u);
  const GraphNodeInfo& info = host_.graph_nodes[0].info;
  EXPECT_EQ(info.node, 2u);
  EXPECT_EQ(info.graph, kGraph);
  EXPECT_EQ(info.operation, kCapture);
}

TEST_F(GraphNodesTest, AKernelHasTheNameOfTheLaunchThatWasCaptured) {
  Launch(CUPTI_API_ENTER, "gemm");
  Capture(1);
  Launch(CUPTI_API_EXIT, "gemm");
  Capture(3);
  Clone(2, 1);
  Clone(4, 3);
  EXPECT_EQ(host_.graph_nodes[0].name, "gemm");
  EXPECT_EQ(host_.graph_nodes[1].name, "(kernel)") << "the launch was over";
}

TEST_F(GraphNodesTest, OtherNodesAreNamedByTheirType) {
  Launch(CUPTI_API_ENTER, "gemm");
  Clone(1, 0, CU_GRAPH_NODE_TYPE_MEMCPY);
  Clone(2, 0, CU_GRAPH_NODE_TYPE_HOST);
  Clone(3, 0, static_cast<CUgraphNodeType>(4711));
  Launch(CUPTI_API_EXIT, "gemm");
  EXPECT_EQ(host_.graph_nodes[0].name, "Memcpy");
  EXPECT_EQ(host_.graph_nodes[1].name, "(host function)");
  EXPECT_EQ(host_.graph_nodes[2].name, "(node)");
  EXPECT_EQ(host_.graph_nodes[2].info.type, 4711u);
}

TEST_F(GraphNodesTest, ANodeThatIsUpdatedHasEveryNameThatItHadAndNoOperationWhereTheyDiffer) {
  const auto capture = [this](uintptr_t node, const char* kernel, LabelId operation) {
    host_.open_operation = operation;
    Launch(CUPTI_API_ENTER, kernel);
    Capture(node);
    Launch(CUPTI_API_EXIT, kernel);
  };
  const auto update = [this](uintptr_t from, uintptr_t to) {
    Tell(22, from, 0, CU_GRAPH_NODE_TYPE_KERNEL);
    Tell(23, to, 0, CU_GRAPH_NODE_TYPE_KERNEL);
  };
  capture(1, "gemm", kCapture);
  Clone(2, 1);
  capture(3, "gemm", kCapture);
  update(3, 2);
  EXPECT_EQ(host_.graph_nodes.size(), 1u) << "nothing is new";
  capture(4, "gemm_large", kCapture);
  update(4, 2);
  ASSERT_EQ(host_.graph_nodes.size(), 2u);
  EXPECT_EQ(host_.graph_nodes[1].name, "gemm or gemm_large");
  EXPECT_EQ(host_.graph_nodes[1].info.node, 2u);
  EXPECT_EQ(host_.graph_nodes[1].info.graph, kGraph);
  EXPECT_EQ(host_.graph_nodes[1].info.operation, kCapture);
  capture(5, "gemm", kElsewhere);
  update(5, 2);
  ASSERT_EQ(host_.graph_nodes.size(), 3u);
  EXPECT_EQ(host_.graph_nodes[2].name, "gemm or gemm_large");
  EXPECT_EQ(host_.graph_nodes[2].info.operation, LabelId{});
  update(4, 2);
  EXPECT_EQ(host_.graph_nodes.size(), 3u);
}

TEST_F(GraphNodesTest, WhatALaunchSetsIsNoUpdate) {
  Capture(1);
  Clone(2, 1);
  Tell(23, 2, 0, CU_GRAPH_NODE_TYPE_KERNEL);
  Tell(23, 99, 0, CU_GRAPH_NODE_TYPE_KERNEL);
  EXPECT_EQ(host_.graph_nodes.size(), 1u);
}

TEST_F(GraphNodesTest, ACloneOfACloneIsStillKnown) {
  host_.open_operation = kCapture;
  Capture(1);
  host_.open_operation = LabelId{};
  Clone(2, 1);
  Clone(3, 2);
  EXPECT_EQ(host_.graph_nodes[1].info.operation, kCapture);
}

TEST_F(GraphNodesTest, WhatInstantiationCreatesDoesNotReplaceWhatCaptureSaid) {
  host_.open_operation = kCapture;
  Capture(1);
  Clone(2, 1);
  host_.open_operation = kElsewhere;
  Capture(2);
  Clone(3, 2);
  EXPECT_EQ(host_.graph_nodes[1].info.operation, kCapture);
}

TEST_F(GraphNodesTest, ADestroyedNodeIsForgotten) {
  host_.open_operation = kCapture;
  Capture(1);
  Destroy(1);
  Clone(2, 1);
  EXPECT_EQ(host_.graph_nodes[0].info.operation, LabelId{});
}

TEST_F(GraphNodesTest, AGraphInstantiatedUnderOurEyesWasSeen) {
  Instantiated(5);
  EXPECT_TRUE(nodes_.WasSeen(5));
  EXPECT_FALSE(nodes_.WasSeen(6));
  EXPECT_THAT(host_.notes, IsEmpty());
}

TEST_F(GraphNodesTest, LaunchesOfAGraphThatWasNotSeenAreCounted) {
  Instantiated(5);
  LaunchGraph(CUPTI_CB_DOMAIN_RUNTIME_API, 5);
  EXPECT_EQ(host_.counts[LedgerCounter::graph_launches_lost], 0u);
  LaunchGraph(CUPTI_CB_DOMAIN_RUNTIME_API, 6);
  LaunchGraph(CUPTI_CB_DOMAIN_DRIVER_API, 6);
  EXPECT_EQ(host_.counts[LedgerCounter::graph_launches_lost], 2u);
}

TEST_F(GraphNodesTest, TheDriversLaunchWithinTheRuntimesIsTheSame) {
  LaunchGraph(CUPTI_CB_DOMAIN_RUNTIME_API, 6,
              [this] { LaunchGraph(CUPTI_CB_DOMAIN_DRIVER_API, 6); });
  EXPECT_EQ(host_.counts[LedgerCounter::graph_launches_lost], 1u);
}

TEST_F(GraphNodesTest, WhereCuptiTellsNoIdsNothingIsClaimed) {
  api_.cuptiGetGraphExecId = nullptr;
  api_.cuptiGetGraphNodeId = nullptr;
  Instantiated(5);
  Capture(1);
  Clone(2, 1);
  LaunchGraph(CUPTI_CB_DOMAIN_RUNTIME_API, 6);
  EXPECT_TRUE(nodes_.WasSeen(6));
  EXPECT_EQ(host_.counts[LedgerCounter::graph_launches_lost], 0u);
  ASSERT_EQ(host_.notes.size(), 1u) << "said once";
  EXPECT_THAT(host_.notes[0], testing::HasSubstr("before CUDA 12.3"));
  EXPECT_THAT(host_.graph_nodes, IsEmpty());
}

TEST_F(GraphNodesTest, ANodeWithoutAnIdIsLeftOut) {
  cupti_.answers["cuptiGetGraphNodeId"] = CUPTI_ERROR_INVALID_PARAMETER;
  Clone(2, 1);
  EXPECT_THAT(host_.graph_nodes, IsEmpty());
}

TEST_F(GraphNodesTest, OtherResourcesAreIgnored) {
  nodes_.OnResource(CUPTI_CBID_RESOURCE_STREAM_CREATED, CUpti_ResourceData{});
  EXPECT_THAT(host_.graph_nodes, IsEmpty());
}

// As of a program that captures for ever.
TEST_F(GraphNodesTest, BeyondWhatIsKeptANodeHasNoOperationAndIsStillTold) {
  constexpr uintptr_t kKept = 400'000;
  host_.open_operation = kCapture;
  for (uintptr_t node = 1; node <= kKept + 1; ++node) Capture(node);
  Clone(kKept + 2, kKept);
  Clone(kKept + 3, kKept + 1);
  ASSERT_EQ(host_.graph_nodes.size(), 2u);
  EXPECT_EQ(host_.graph_nodes[0].info.operation, kCapture);
  EXPECT_EQ(host_.graph_nodes[1].info.operation, LabelId{});
  EXPECT_EQ(host_.graph_nodes[1].info.node, kKept + 3);
}

}  // namespace
}  // namespace gpubound
