// SPDX-License-Identifier: Apache-2.0
//
// Which CUDA runtime is measured with.
#include "tools/launch/cuda_runtime.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

class CudaRuntimeTest : public testing::Test {
 protected:
  // An empty file, and the folders around it.
  std::string Touch(const std::string& name) {
    fs::create_directories(fs::path(folder_.File(name)).parent_path());
    folder_.Write(name, "");
    return folder_.File(name);
  }
  TemporaryFolder folder_;
};

TEST_F(CudaRuntimeTest, OfARunIsTheOneThatAProcessHadIfItIsStillThere) {
  gpubound::Run run;
  EXPECT_EQ(CudaRuntimeOf(run), "");
  run.processes.resize(3);
  run.processes[1].cuda_runtime = folder_.File("gone/libcudart.so.12");
  EXPECT_EQ(CudaRuntimeOf(run), "");
  run.processes[2].cuda_runtime = Touch("libcudart.so.13");
  EXPECT_EQ(CudaRuntimeOf(run), folder_.File("libcudart.so.13"));
}

TEST_F(CudaRuntimeTest, OfAnInterpreterLiesInItsSitePackages) {
  const std::string python = Touch("venv/bin/python3");
  fs::permissions(python, fs::perms::owner_all);
  const GetVariable variables = FakeVariables({{"HOME", folder_.path()}});
  const std::string packages = "venv/lib/python3.11/site-packages/nvidia/";
  const std::string older = Touch(packages + "cuda_runtime/lib/libcudart.so.12");
  EXPECT_EQ(CudaRuntimeOfPython(python, variables), older);
  const std::string newer = Touch(packages + "cu13/lib/libcudart.so.13");
  EXPECT_EQ(CudaRuntimeOfPython(python, variables), newer);
  EXPECT_EQ(CudaRuntimeOfPython(folder_.File("no/such/python"), variables), "");
}

}  // namespace
}  // namespace gpubound
