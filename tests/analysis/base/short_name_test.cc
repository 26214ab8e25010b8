// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/short_name.h"

#include <gtest/gtest.h>

namespace gpubound {
namespace {

std::string Short(const std::string& name, int width = kNameInSentence) {
  return ShortName(name, width, true);
}

TEST(ShortNameTest, WhatFitsStays) {
  EXPECT_EQ(Short("at::native::add(int, float)"), "at::native::add(int, float)");
}

TEST(ShortNameTest, TheArgumentsOfAFunctionGoFirst) {
  EXPECT_EQ(Short("at::native::add<float>(int, std::array<char*, 3ul>)", 30),
            "at::native::add<float>(…)");
  EXPECT_EQ(ShortName("at::native::add<float>(int, std::array<char*, 3ul>)", 30, false),
            "at::native::add<float>(..)");
}

TEST(ShortNameTest, ThenTheMiddleOfThoseOfATemplate) {
  EXPECT_EQ(Short("void at::elementwise_kernel<4, at::native::add_functor<float> >(int, float)"),
            "void at::elementwise_kernel<4, a…t> >(…)");
}

TEST(ShortNameTest, WhatIsNoTemplateLosesItsMiddle) {
  EXPECT_EQ(Short("abcdefghijklmnopqrstuvwxyz", 11), "abcde…vwxyz");
  EXPECT_EQ(Short("operator<(abcdefghijklmnopqrstuvwxyz)", 12), "operator<(…)");
}

TEST(BareNameTest, IsTheFunctionWithoutWhatItIsMadeForAndWhereItLies) {
  EXPECT_EQ(BareName("void at::native::elementwise_kernel<4, f<int> >(int, f<int>)"),
            "elementwise_kernel");
  EXPECT_EQ(BareName("void at::native::(anonymous namespace)::CatArrayBatchedCopy<int>(int)"),
            "CatArrayBatchedCopy");
  EXPECT_EQ(BareName("ampere_sgemm_32x32_sliced1x4_tn"), "ampere_sgemm_32x32_sliced1x4_tn");
  EXPECT_EQ(BareName("Memcpy HtoD (Pinned -> Device)"), "Memcpy HtoD (Pinned -> Device)");
  EXPECT_EQ(BareName("(unnamed)"), "(unnamed)");
  EXPECT_EQ(BareName(""), "");
}

TEST(ShortNameTest, WhatABlankPartsFromTheNameIsNoArgument) {
  EXPECT_EQ(Short("ppo_worker_of_a_long_name (pid 1017)", 24), "ppo_worker_o… (pid 1017)");
}

TEST(ListedNamesTest, ManyAreCutAndCounted) {
  EXPECT_EQ(ListedNames({"b", "a", ""}), "b, a, (empty name)");
  const std::vector<std::string> all(kMostListedNames + 3,
                                     "a name of many words that goes on and on");
  const std::string list = ListedNames(all);
  EXPECT_TRUE(list.ends_with(" and 3 more")) << list;
  EXPECT_EQ(ListedNames({std::string(1000, 'x')}).size(), static_cast<size_t>(kNameInSentence));
}

TEST(ShownNameTest, WhatThereIsNothingToSeeOfIsMarked) {
  EXPECT_EQ(ShownName(""), "(empty name)");
  EXPECT_EQ(ShownName("  "), "\"  \"");
  EXPECT_EQ(ShownName(" act "), " act ");
  EXPECT_EQ(ShownName("\t"), "\\x09");
}

}  // namespace
}  // namespace gpubound
