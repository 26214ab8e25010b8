// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/check/requirement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace gpubound {
namespace {

using testing::HasSubstr;

Requirement Understood(const std::string& text) {
  auto parsed = ParseRequirement(text);
  const auto* requirement = std::get_if<Requirement>(&parsed);
  EXPECT_NE(requirement, nullptr) << text;
  return requirement == nullptr ? Requirement{} : *requirement;
}

RequirementMistake MistakeOf(const std::string& text) {
  auto parsed = ParseRequirement(text);
  const auto* mistake = std::get_if<RequirementMistake>(&parsed);
  EXPECT_NE(mistake, nullptr) << text;
  return mistake == nullptr ? RequirementMistake{} : *mistake;
}

TEST(Requirement, AShareOfTheRunIsAPlainName) {
  const Requirement requirement = Understood("gpu_busy>=40%");
  EXPECT_EQ(requirement.figure.field, "gpu_busy");
  EXPECT_EQ(requirement.figure.group, "");
  EXPECT_EQ(requirement.comparison, Comparison::kAtLeast);
  EXPECT_EQ(requirement.bound.unit, BoundUnit::kPercent);
  EXPECT_DOUBLE_EQ(requirement.bound.value, 0.4);
}

TEST(Requirement, ATargetStandsInParentheses) {
  const Requirement requirement = Understood("time_to( return>=450 over 20 ) <= 60s");
  EXPECT_EQ(requirement.figure.target, "return>=450 over 20");
  EXPECT_EQ(requirement.comparison, Comparison::kAtMost);
  EXPECT_DOUBLE_EQ(requirement.bound.value, 60e9);
  EXPECT_EQ(MistakeOf("time_to(return>=450 <= 60s").expected, "a ')' that closes it");
  const RequirementMistake mistake = MistakeOf("time_to(return)<=60s");
  EXPECT_EQ(mistake.column, 9u);
  EXPECT_EQ(mistake.expected, "a metric and a comparison");
  EXPECT_EQ(MistakeOf("time_to(return>=450)<=60").column, 23u) << "a time has a unit";
}

TEST(Requirement, SpacesMayStandAnywhereBetween) {
  const Requirement requirement = Understood("  simulation.wall  <= 12.5 ms ");
  EXPECT_EQ(requirement.figure.group, "simulation");
  EXPECT_EQ(requirement.figure.field, "wall");
  EXPECT_DOUBLE_EQ(requirement.bound.value, 12.5e6);
}

TEST(Requirement, EveryComparisonIsUnderstood) {
  EXPECT_EQ(Understood("idle<5%").comparison, Comparison::kLessThan);
  EXPECT_EQ(Understood("idle>5%").comparison, Comparison::kMoreThan);
  EXPECT_EQ(Understood("idle<=5%").comparison, Comparison::kAtMost);
  EXPECT_EQ(Understood("idle==5%").comparison, Comparison::kEqual);
  EXPECT_EQ(Understood("idle!=5%").comparison, Comparison::kNotEqual);
}

TEST(Requirement, TwoQuotesWithinAQuotedNameAreOne) {
  EXPECT_EQ(Understood(R"("q""uote".wall<1s)").figure.group, "q\"uote");
  EXPECT_EQ(Understood(R"("""".wall<1s)").figure.group, "\"");
  EXPECT_EQ(MistakeOf(R"("open"".wall<1s)").found, "an open quote");
}

TEST(Requirement, EveryTimeUnitIsUnderstood) {
  EXPECT_DOUBLE_EQ(Understood("wall<1ns").bound.value, 1);
  EXPECT_DOUBLE_EQ(Understood("wall<1us").bound.value, 1e3);
  EXPECT_DOUBLE_EQ(Understood("wall<1µs").bound.value, 1e3);
  EXPECT_DOUBLE_EQ(Understood("wall<1ms").bound.value, 1e6);
  EXPECT_DOUBLE_EQ(Understood("wall<1s").bound.value, 1e9);
  EXPECT_DOUBLE_EQ(Understood("wall<1min").bound.value, 60e9);
  EXPECT_DOUBLE_EQ(Understood("wall<1h").bound.value, 3600e9);
}

TEST(Requirement, ABaselineMayHaveAFactor) {
  EXPECT_DOUBLE_EQ(Understood("wall<=baseline").bound.value, 1);
  EXPECT_DOUBLE_EQ(Understood("simulation.wall<=1.1x baseline").bound.value, 1.1);
  EXPECT_DOUBLE_EQ(Understood("simulation.wall<=110 % baseline").bound.value, 1.1);
  EXPECT_EQ(Understood("wall<=1.1 x baseline").bound.unit, BoundUnit::kOfBaseline);
}

TEST(Requirement, QuotesMakeAnOperationOfAnyName) {
  const Requirement requirement = Understood("\"ledger.x=y\".gpu_busy>1s");
  EXPECT_EQ(requirement.figure.group, "ledger.x=y");
  EXPECT_TRUE(requirement.figure.quoted);
  EXPECT_EQ(requirement.figure.field, "gpu_busy");
}

TEST(Requirement, AProcessIsChosenBehindTheAtSign) {
  EXPECT_EQ(Understood("unknown@worker<=5%").figure.process, "worker");
  EXPECT_EQ(Understood("simulation.wall@\"my worker\"<1s").figure.process, "my worker");
}

TEST(Requirement, ASlashBeginsAPointerIntoTheJson) {
  EXPECT_EQ(Understood("/run/parts/0/wall_ns < 3s").figure.pointer, "/run/parts/0/wall_ns");
}

TEST(Requirement, PlainNumbersAreForCountsSharesAndFactors) {
  EXPECT_EQ(Understood("ledger.chunks_corrupt==0").bound.unit, BoundUnit::kPlain);
  EXPECT_EQ(Understood("inflation<2.5x").bound.unit, BoundUnit::kTimes);
  EXPECT_EQ(Understood("inflation<2.5").bound.unit, BoundUnit::kPlain);
  EXPECT_EQ(Understood("unknown==0").bound.value, 0);
  EXPECT_EQ(Understood("gpu_busy>=0.4").bound.value, 0.4);
  EXPECT_EQ(Understood("gpu_busy<=1").bound.value, 1);
  EXPECT_EQ(Understood("simulation.unknown==0").bound.value, 0);
}

struct Wrong {
  const char* text;
  size_t column;
  const char* found;
  const char* expected;
};

class WrongRequirement : public testing::TestWithParam<Wrong> {};

TEST_P(WrongRequirement, SaysWhereAndWhatWasExpected) {
  const RequirementMistake mistake = MistakeOf(GetParam().text);
  EXPECT_EQ(mistake.column, GetParam().column) << GetParam().text;
  EXPECT_THAT(mistake.found, HasSubstr(GetParam().found)) << GetParam().text;
  EXPECT_THAT(mistake.expected, HasSubstr(GetParam().expected)) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Requirement, WrongRequirement,
    testing::Values(
        Wrong{"", 1, "the end", "a figure"},
        Wrong{"gpu_busy", 9, "the end", "one of >=, <=, >, <, ==, !="},
        Wrong{"gpu_busy=>40%", 9, "'='", "one of >="},
        Wrong{"gpu_busy 40%", 10, "'40%'", "one of >="},
        Wrong{"gpu_busy>=", 11, "the end", "a number"},
        Wrong{"gpu_busy>=forty", 11, "'forty'", "a number"},
        Wrong{"gpu_busy>=inf", 11, "'inf'", "a number"},
        Wrong{"gpu_busy>=1e999", 11, "'1e999'", "a number"},
        Wrong{"gpu_busy>=40 parsec", 14, "'parsec'", "a unit"},
        Wrong{"gpu_busy>=40% or so", 15, "'or'", "the end"},
        Wrong{"gpu_busy>=40ms", 11, "'40ms'", "a share"},
        Wrong{"gpu_busy<=40", 11, "'40'", "a share such as 40% or 0.4"},
        Wrong{"idle<=1.01", 7, "'1.01'", "a share"}, Wrong{"wall<=40", 7, "'40'", "a time"},
        Wrong{"ledger.chunks_corrupt==3%", 24, "'3%'", "a plain number"},
        Wrong{"gpu_busy>=-5", 11, "'-5'", "a share"}, Wrong{"wall>=-1ms", 7, "'-1ms'", "a time"},
        Wrong{"wall<=-1x baseline", 7, "'-1x baseline'", "a time"},
        Wrong{"ledger.chunks_corrupt>=-1", 24, "'-1'", "a plain number"},
        Wrong{"/run/gpu_busy_share<=50ms", 22, "'50ms'", "a share"},
        Wrong{"/run/gpu_busy_share<=40", 22, "'40'", "a share"},
        Wrong{"/run/devices_used==200%", 20, "'200%'", "a plain number"},
        Wrong{"/run/wall_ns>=3", 15, "'3'", "a time"},
        Wrong{"/processes/0/gpu_busy_ns>=5x", 27, "'5x'", "a time"},
        Wrong{"/devices/0/idle_causes/launch<=1", 32, "'1'", "a time"},
        Wrong{"inflation<=2s", 12, "'2s'", "a factor"},
        Wrong{"wall<=2s baseline", 18, "the end", "a factor before"},
        Wrong{"gpu_bsy>=40%", 1, "has no figure 'gpu_bsy'", ""},
        Wrong{"gpu_\x1b[2J>=40%", 1, "has no figure 'gpu_\\x1b[2J'", ""},
        Wrong{"simulation.wal<=1s", 12, "has no figure 'wal'", ""},
        Wrong{"ledger.nothing==0", 8, "has no figure 'nothing'", ""},
        Wrong{"\"open.wall<1s", 1, "an open quote", "'\"'"},
        Wrong{"\"\".wall<1s", 1, "an empty name", "a name"}, Wrong{"\"a\"<1s", 4, "'<'", "'.'"},
        Wrong{".wall<1s", 1, "'.'", "a figure"}, Wrong{"gpu_busy@>1s", 10, "'>'", "a figure"},
        Wrong{"/a~2b<1", 1, "no JSON pointer", ""},
        Wrong{"ledger.chunks_corrupt@x==0", 8, "expected no '@'", ""}));

TEST(Requirement, AMistypedNameComesWithThoseThatThereAre) {
  const RequirementMistake mistake = MistakeOf("gpu_bsy>=40%");
  EXPECT_EQ(mistake.word, "gpu_bsy");
  EXPECT_THAT(mistake.known, testing::Contains("gpu_busy"));
}

TEST(Requirement, OnlyWhatMayComeFromTheReplayNeedsIt) {
  EXPECT_TRUE(NeedsReplays(Understood("gpu_limited>=10%")));
  EXPECT_TRUE(NeedsReplays(Understood("/run/critical_path/wall_ns<3s")));
  EXPECT_FALSE(NeedsReplays(Understood("gpu_busy>=40%")));
  EXPECT_FALSE(NeedsReplays(Understood("gpu_limited.wall<=1s")));  // an operation's name
}

// Any text is either understood or refused at a column within it, one past its end at most.
TEST(Requirement, AnyTextIsUnderstoodOrRefusedWithinIt) {
  const std::vector<std::string> pieces{
      "gpu_busy", "simulation", ".",    "wall",      "@",   "\"",  "/run", "~",  ">",  "<",
      "=",        "!",          "40",   "%",         "1e9", "-",   "x",    "ms", "s",  " ",
      "baseline", "\t",         "\xff", "\xc2\xb5s", "\n",  "nan", "inf",  "0x", "..", "ledger"};
  std::mt19937 random(20260101);
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    for (uint32_t n = random() % 8; n > 0; --n) text += pieces[random() % pieces.size()];
    auto parsed = ParseRequirement(text);
    const auto* mistake = std::get_if<RequirementMistake>(&parsed);
    if (mistake == nullptr) continue;
    ASSERT_GE(mistake->column, 1u) << text;
    ASSERT_LE(mistake->column, text.size() + 1) << text;
    ASSERT_FALSE(mistake->found.empty()) << text;
  }
}

TEST(Requirement, WhatIsUnderstoodSurvivesTheLossOfAnyByteWithoutHarm) {
  const std::string text = "\"my.op\".gpu_busy@\"w 1\" >= 110% baseline";
  Understood(text);
  for (size_t at = 0; at < text.size(); ++at) {
    ParseRequirement(text.substr(0, at) + text.substr(at + 1));
    ParseRequirement(text.substr(0, at));
  }
}

}  // namespace
}  // namespace gpubound
