// SPDX-License-Identifier: Apache-2.0
//
// What nvtx_test_tool.cc, a library that NVTX loads, shows to the test that is being loaded into.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_NVTX_TEST_TOOL_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_NVTX_TEST_TOOL_H_

#include <string>
#include <vector>

namespace gpubound {

struct NvtxTestTool {
  // What arrived since the last call: "begin DOMAIN/TEXT" and so on.
  std::vector<std::string> (*take_scopes)();
  int (*modules)();     // that attached
  int (*extensions)();  // that attached
};

}  // namespace gpubound

// Exported as "gpubound_nvtx_test_tool".
extern "C" const gpubound::NvtxTestTool* gpubound_nvtx_test_tool();

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_NVTX_TEST_TOOL_H_
