// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound whatif --scale` takes, and times that are too long to be numbers of ns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "analysis/replay/replay_moment.h"
#include "analysis/replay/what_if.h"

namespace gpubound {
namespace {

using testing::HasSubstr;

TEST(Scaling, TakesFactorsUpToAMillion) {
  ASSERT_TRUE(ParseScaling("device:1e6").ok());
  EXPECT_EQ(ParseScaling("device:1e6")->factor, 1e6);
  EXPECT_EQ(ParseScaling("operation=a:b:0.5")->name, "a:b");
}

TEST(Scaling, RefusesAFactorThatMakesNoSenseAndSaysWhatDoes) {
  for (const char* text :
       {"device:1e12", "device:1000001", "device:-1", "device:inf", "device:nan", "device:x"}) {
    const Result<Scaling> scaling = ParseScaling(text);
    ASSERT_FALSE(scaling.ok()) << text;
    EXPECT_THAT(scaling.error().found, HasSubstr("0 to 1000000"));
    EXPECT_THAT(scaling.error().remedy, HasSubstr("0 to 1000000"));
  }
}

TEST(Scaling, TellsALayerThatThereIsNotFromOneWhoseTimeIsNotTheThreadsOwn) {
  const Result<Scaling> unknown = ParseScaling("layer=foo:0");
  ASSERT_FALSE(unknown.ok());
  EXPECT_EQ(unknown.error().found, "no such layer");
  EXPECT_EQ(unknown.error().expected, "one of python, simulator, backend, native, cuda_api");
  const Result<Scaling> wait = ParseScaling("layer=wait:0");
  ASSERT_FALSE(wait.ok());
  EXPECT_EQ(wait.error().found, "a layer whose time is not the thread's own");
}

TEST(Rounding, IsToWholeNs) {
  EXPECT_EQ(Rounded(1.5), 2);
  EXPECT_EQ(Rounded(-1.5), -2);
}

TEST(Rounding, OfWhatIsTooLongIsALongTimeOfTheSameSign) {
  constexpr int64_t kLong = int64_t{1} << 62;
  EXPECT_EQ(Rounded(1e30), kLong);
  EXPECT_EQ(Rounded(-1e30), -kLong);
}

}  // namespace
}  // namespace gpubound
