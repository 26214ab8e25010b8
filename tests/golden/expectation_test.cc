// SPDX-License-Identifier: Apache-2.0
//
// What an expectation may ask for: a key that no report has is a mistake of the scenario, and not
// an expectation of 0.
#include "tests/golden/expectation.h"

#include <gtest/gtest.h>

#include <string>

#include "tests/golden/scenario.h"

namespace gpubound::golden {
namespace {

// |lines| that are not understood.
std::vector<std::string> Mistakes(const std::string& lines) {
  return ParseScenario("span 0 100\n" + lines).mistakes;
}

TEST(ExpectationTest, KeysThatAReportMayHaveAreUnderstood) {
  for (const std::string lines :
       {"expect rows\n  train: wall=1 busy_bound=0 python->cuda_api=0",
        "expect rows of 7\n a: wall=1", "expect idle\n  train: launch=1 start-up=2 sum=3",
        "expect kernels\n  gemm in train: count=2 gemm,train=1",
        "expect devices\n  GPU: busy=1 alone:100=2 contended:100=0",
        "expect parts\n  shutdown: wall=1", "expect iterations by operation\n  train: gpu_busy=0",
        "expect ranks\n  100 on 0: late_in:update,python=4 moving=0",
        "expect operations on devices\n  train on GPU: idle=0",
        "expect process span=100 waits:101=0 waits:101+102=1 meanwhile:101:-,python=0",
        "expect process of 101 awaited:102=0 worker:102=0", "expect iterations slowest=0 p95=1",
        "expect run wall=100", "expect ledger unbalanced_scopes=0"}) {
    EXPECT_EQ(Mistakes(lines), std::vector<std::string>{});
  }
}

TEST(ExpectationTest, MistypedKeysOfValuesAreMistakes) {
  for (const std::string line :
       {"expect process spam=0", "expect process gpu_busi=0", "expect process waits:all=0",
        "expect process meanwhile:101:-,pithon=0", "expect iterations slowestt=0",
        "expect run walls=0", "expect ledger unbalanced_scope=0", "expect ledger wall=0"}) {
    EXPECT_EQ(Mistakes(line), std::vector<std::string>{line});
  }
}

TEST(ExpectationTest, MistypedKeysOfTablesAreMistakes) {
  for (const auto& [section, row] :
       std::map<std::string, std::string>{{"rows", "train: wall=1 gpubusy=0"},
                                          {"rows of 7", "train: python->gpu=0"},
                                          {"idle", "train: lunch=0"},
                                          {"kernels", "gemm in train: cuont=0"},
                                          {"devices", "GPU: alone:me=0"},
                                          {"parts", "shutdown: walls=0"},
                                          {"iterations by operation", "train: busy=0"},
                                          {"ranks", "100 on 0: late_in:python=0"},
                                          {"operations on devices", "train on GPU: idel=0"}}) {
    std::string expectation = "expect " + section;
    expectation += "\n" + row;
    EXPECT_EQ(Mistakes(expectation), std::vector<std::string>{row}) << section;
  }
}

}  // namespace
}  // namespace gpubound::golden
