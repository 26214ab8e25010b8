// SPDX-License-Identifier: Apache-2.0
//
// Whose a frame of a Python stack is.
#include "analysis/trace/python_frames.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

TEST(PackageTest, AFileBelongsToThePackageBelowSitePackages) {
  EXPECT_EQ(PackageOf("/v/lib/python3.11/site-packages/torch/nn/functional.py"), "torch");
  EXPECT_EQ(PackageOf("/usr/lib/python3/dist-packages/six.py"), "six");
  EXPECT_EQ(PackageOf("/usr/lib/python3.11/json/decoder.py"), "python");
  EXPECT_EQ(PackageOf("<frozen importlib._bootstrap>"), "python");
  EXPECT_EQ(PackageOf("/home/me/ppo.py"), "");
  EXPECT_EQ(PackageOf("<string>"), "");
}

TEST(PackageTest, AModuleIsNamedAsItIsImported) {
  EXPECT_EQ(DottedModuleOf("/v/lib/python3.11/site-packages/torch/nn/__init__.py"), "torch.nn");
  EXPECT_EQ(DottedModuleOf("/usr/lib/python3.11/json/decoder.py"), "json.decoder");
  EXPECT_EQ(DottedModuleOf("/home/me/envs.py"), "envs");
}

TEST(OwnFrameTest, OurOwnModulesHandOnAndAFolderOfOurNameDoesNot) {
  EXPECT_TRUE(OnlyHandsOn({"/v/lib/python3.11/site-packages/gpubound/_loop.py", "next"}));
  EXPECT_TRUE(OnlyHandsOn({"/v/torch/nn/modules/module.py", "Module._call_impl"}));
  EXPECT_FALSE(OnlyHandsOn({"/v/torch/nn/modules/module.py", "Module.register"}));
  EXPECT_FALSE(OnlyHandsOn({"/home/me/gpubound/_runs/train.py", "main"}));
  EXPECT_FALSE(OnlyHandsOn({"_train.py", "main"}));
}

TEST(LooksBeforeTest, LooksLieEvenlyFromTheFirstToTheLast) {
  StackLooks seen;
  seen.start_ns = 100;
  seen.end_ns = 200;
  seen.looks = 3;
  EXPECT_EQ(LooksBefore(seen, 100), 0u);
  EXPECT_EQ(LooksBefore(seen, 101), 1u);
  EXPECT_EQ(LooksBefore(seen, 151), 2u);
  EXPECT_EQ(LooksBefore(seen, INT64_MAX), 3u);
  seen.end_ns = 100;
  seen.looks = 1;
  EXPECT_EQ(LooksBefore(seen, 101), 1u);
}

}  // namespace
}  // namespace gpubound
