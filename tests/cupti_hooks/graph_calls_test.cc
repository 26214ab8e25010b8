// SPDX-License-Identifier: Apache-2.0
//
// Nodes that a program adds and sets itself: handles are their ids, and those of kernels their
// names.
#include "cupti_hooks/cupti/graph_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "cupti_hooks/cupti/graph_nodes.h"
#include "tests/cupti_hooks/recording_host.h"
#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {
namespace {

constexpr uintptr_t kGraph = 77;
constexpr const char* kAddFunctions[] = {"cuGraphAddKernelNode", "cuGraphAddKernelNode_v2",
                                         "cuGraphAddNode", "cuGraphAddNode_v2"};

CUresult NameOfFunction(const char** name, CUfunction function) {
  *name = reinterpret_cast<const char*>(function);
  return CUDA_SUCCESS;
}
CUresult NameOfKernel(const char** name, CUkernel kernel) {
  *name = reinterpret_cast<const char*>(kernel);
  return CUDA_SUCCESS;
}

// A node's parameters in each form: those of a kernel alone, and behind the type of the node.
struct Parameters {
  uint64_t type = CU_GRAPH_NODE_TYPE_KERNEL;
  uint64_t reserved = 0;
  CUDA_KERNEL_NODE_PARAMS_v2 kernel = {};

  static Parameters OfFunction(const char* name) {
    Parameters parameters;
    parameters.kernel.func = reinterpret_cast<CUfunction>(const_cast<char*>(name));
    return parameters;
  }
  static Parameters OfKernel(const char* name) {
    Parameters parameters;
    parameters.kernel.kern = reinterpret_cast<CUkernel>(const_cast<char*>(name));
    return parameters;
  }
};

class GraphCallsTest : public ::testing::Test {
 protected:
  GraphCallsTest() {
    api_.cuFuncGetName = &NameOfFunction;
    api_.cuKernelGetName = &NameOfKernel;
  }
  // A call of |name| whose handles are |handles|, in which |inner| happens.
  void Call(
      const char* name, std::vector<uintptr_t> handles, Parameters parameters,
      const std::function<void()>& inner = [] {}, int32_t result = 0) {
    const NodeFunction* function = NodeFunctionCalled(name);
    ASSERT_NE(function, nullptr) << name;
    void* given = function->of_any_type ? static_cast<void*>(&parameters)
                                        : static_cast<void*>(&parameters.kernel);
    handles.resize(function->parameters_at);
    handles.push_back(reinterpret_cast<uintptr_t>(given));
    CUpti_CallbackData call = {};
    call.functionParams = handles.data();
    call.callbackSite = CUPTI_API_ENTER;
    nodes_.OnNodeCall(*function, call);
    inner();
    call.callbackSite = CUPTI_API_EXIT;
    call.functionReturnValue = &result;
    nodes_.OnNodeCall(*function, call);
  }
  void Add(const char* function, uintptr_t node, const Parameters& parameters) {
    const uint32_t type = static_cast<uint32_t>(parameters.type);
    Call(function, {}, parameters,
         [&] { Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, node, 0, type); });
  }
  void Clone(uintptr_t node, uintptr_t original, uint32_t type = CU_GRAPH_NODE_TYPE_KERNEL) {
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, node, original, type);
  }
  void Tell(CUpti_CallbackId id, uintptr_t node, uintptr_t original, uint32_t type) {
    CUpti_GraphData graph = {};
    graph.graph = reinterpret_cast<CUgraph>(kGraph);
    graph.node = reinterpret_cast<CUgraphNode>(node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(original);
    graph.nodeType = static_cast<CUgraphNodeType>(type);
    CUpti_ResourceData resource = {};
    resource.resourceDescriptor = &graph;
    nodes_.OnResource(id, resource);
  }
  const std::string& LastName() const { return host_.graph_nodes.back().name; }

  ScriptedCupti cupti_{kCupti13_0};
  CuptiApi api_ = cupti_.api();
  RecordingHost host_;
  GraphNodes nodes_{api_, &host_};
};

TEST_F(GraphCallsTest, AnAddedKernelHasTheNameOfTheFunctionInTheParameters) {
  uintptr_t node = 0;
  for (const char* function : kAddFunctions) {
    Add(function, ++node, Parameters::OfFunction("gemm"));
    Clone(node + 100, node);
    EXPECT_EQ(LastName(), "gemm") << function;
  }
}

TEST_F(GraphCallsTest, OrOfTheKernelWhereTheFormHasOne) {
  uintptr_t node = 0;
  for (const char* function : kAddFunctions) {
    Add(function, ++node, Parameters::OfKernel("gemm"));
    Clone(node + 100, node);
    const bool is_first_form = std::string_view(function) == "cuGraphAddKernelNode";
    EXPECT_EQ(LastName(), is_first_form ? "(kernel)" : "gemm") << function;
  }
}

TEST_F(GraphCallsTest, ItBelongsToTheOperationInWhichItWasAdded) {
  host_.open_operation = LabelId{11};
  Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
  host_.open_operation = LabelId{};
  Clone(2, 1);
  EXPECT_EQ(host_.graph_nodes[0].info.operation, LabelId{11});
}

TEST_F(GraphCallsTest, ANodeOfAnotherTypeHasNoKernel) {
  Parameters parameters = Parameters::OfFunction("garbage");
  parameters.type = CU_GRAPH_NODE_TYPE_MEMSET;
  Add("cuGraphAddNode_v2", 1, parameters);
  Clone(2, 1, CU_GRAPH_NODE_TYPE_MEMSET);
  EXPECT_EQ(LastName(), "Memset");
}

TEST_F(GraphCallsTest, WhatIsMadeAfterTheCallHasNotItsName) {
  Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, 3, 0, CU_GRAPH_NODE_TYPE_KERNEL);
  Clone(4, 3);
  EXPECT_EQ(LastName(), "(kernel)");
}

TEST_F(GraphCallsTest, WhereTheDriverTellsNoNamesThereIsNone) {
  api_.cuFuncGetName = nullptr;
  api_.cuKernelGetName = nullptr;
  Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
  Clone(2, 1);
  Add("cuGraphAddNode_v2", 3, Parameters::OfKernel("gemm"));
  Clone(4, 3);
  EXPECT_EQ(host_.graph_nodes[0].name, "(kernel)");
  EXPECT_EQ(host_.graph_nodes[1].name, "(kernel)");
}

TEST_F(GraphCallsTest, ANodeThatIsSetBeforeItIsInstantiatedIsTheNewKernel) {
  for (const char* function :
       {"cuGraphKernelNodeSetParams", "cuGraphKernelNodeSetParams_v2", "cuGraphNodeSetParams"}) {
    Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
    Call(function, {1}, Parameters::OfFunction("conv"));
    Clone(2, 1);
    EXPECT_EQ(LastName(), "conv") << function;
    Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, 1, 0, 0);
  }
}

TEST_F(GraphCallsTest, ANodeOfAnExecutableThatIsSetIsBothKernels) {
  for (const char* function : {"cuGraphExecKernelNodeSetParams",
                               "cuGraphExecKernelNodeSetParams_v2", "cuGraphExecNodeSetParams"}) {
    host_.open_operation = LabelId{11};
    Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
    Clone(2, 1);
    host_.open_operation = LabelId{12};
    Call(function, {kGraph, 1}, Parameters::OfFunction("conv"));
    const RecordingHost::GraphNode& node = host_.graph_nodes.back();
    EXPECT_EQ(node.name, "gemm or conv") << function;
    EXPECT_EQ(node.info.node, 2u);
    EXPECT_EQ(node.info.graph, kGraph);
    EXPECT_EQ(node.info.operation, LabelId{11}) << "where it was made";
    for (uintptr_t known : {1, 2}) {
      Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, known, 0, 0);
    }
  }
}

TEST_F(GraphCallsTest, TheSameKernelWithOtherParametersIsNothingNew) {
  Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
  Clone(2, 1);
  Call("cuGraphExecKernelNodeSetParams_v2", {kGraph, 1}, Parameters::OfFunction("gemm"));
  EXPECT_EQ(host_.graph_nodes.size(), 1u);
}

TEST_F(GraphCallsTest, NodesOfOtherExecutablesStayAsTheyAre) {
  Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
  Clone(2, 1);
  Call("cuGraphExecKernelNodeSetParams_v2", {kGraph + 1, 1}, Parameters::OfFunction("conv"));
  Call("cuGraphExecKernelNodeSetParams_v2", {kGraph, 9}, Parameters::OfFunction("conv"));
  EXPECT_EQ(host_.graph_nodes.size(), 1u);
}

TEST_F(GraphCallsTest, ACallThatFailsChangesNothing) {
  Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
  Clone(2, 1);
  Call(
      "cuGraphExecKernelNodeSetParams_v2", {kGraph, 1}, Parameters::OfFunction("conv"), [] {},
      CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(host_.graph_nodes.size(), 1u);
}

TEST_F(GraphCallsTest, OfANodeThatIsGoneNothingIsKept) {
  Add("cuGraphAddKernelNode_v2", 1, Parameters::OfFunction("gemm"));
  Clone(2, 1);
  Tell(CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING, 2, 0, 0);
  Call("cuGraphExecKernelNodeSetParams_v2", {kGraph, 1}, Parameters::OfFunction("conv"));
  EXPECT_EQ(host_.graph_nodes.size(), 1u);
}

TEST(NodeFunctionTest, OtherFunctionsAreNone) {
  for (const char* name : {"", "cuGraphAddKernelNode_v3", "cuGraphAddMemcpyNode", "cuGraphLaunch",
                           "cudaGraphAddKernelNode"}) {
    EXPECT_EQ(NodeFunctionCalled(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace gpubound
