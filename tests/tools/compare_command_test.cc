// SPDX-License-Identifier: Apache-2.0
//
// `gpubound compare`: groups, exit statuses, complaints, and the JSON that others rely on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/tools/tool_fixtures.h"
#include "tools/commands/commands.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using Json = nlohmann::ordered_json;
using Keys = std::vector<std::string>;

Keys KeysOf(const Json& object) {
  Keys keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

class CompareCommand : public testing::Test {
 protected:
  // Iterations of 100 us with an operation of |act_us|, a little more in every third.
  std::string Run(const std::string& name, int act_us, int iterations = 12) {
    std::string trace = "[";
    for (int i = 0; i < iterations; ++i) {
      trace += Range("ProfilerStep#" + std::to_string(i), i * 100, 100) + ",";
      trace += Range("act", i * 100 + 5, act_us + i % 3) + ",";
    }
    trace.back() = ']';
    const std::string run = folder_.File(name + ".gpubound");
    const std::string file = folder_.Write(name + ".json", trace);
    const Captured imported = Capture([&] { return Dispatch({"import", file, "-o", run}); });
    EXPECT_EQ(imported.status, kExitSuccess) << imported.err;
    return run;
  }
  static std::string Range(const std::string& name, int begin_us, int us) {
    return R"({"ph":"X","cat":"user_annotation","pid":4,"tid":5,"name":")" + name + R"(","ts":)" +
           std::to_string(begin_us) + R"(,"dur":)" + std::to_string(us) + "}";
  }
  static Captured Compare(Arguments words) {
    words.insert(words.begin(), "compare");
    return Capture([&] { return Dispatch(words); });
  }
  static Json Parsed(Arguments words) {
    words.insert(words.begin(), "--json");
    const Captured captured = Compare(words);
    EXPECT_EQ(captured.status, kExitSuccess) << captured.err;
    return Json::parse(captured.out);
  }
  static Json Figure(const Json& document, const std::string& figure, const std::string& name) {
    for (const Json& row : document["figures"]) {
      if (row["figure"] == figure && row["name"] == name) return row;
    }
    return nullptr;
  }

  TemporaryFolder folder_;
};

TEST_F(CompareCommand, PrintsWhatDiffersAndByHowMuch) {
  const Captured captured = Compare({Run("a", 20), Run("b", 40)});
  EXPECT_EQ(captured.status, kExitSuccess);
  EXPECT_THAT(captured.out, testing::ContainsRegex("\nact .*\\*\n"));
  EXPECT_THAT(captured.out, HasSubstr("95 % bootstrap interval over iterations"));
  EXPECT_THAT(captured.err, IsEmpty());
}

TEST_F(CompareCommand, IsNotColouredInAPipe) {
  EXPECT_THAT(Compare({Run("a", 20), Run("b", 40)}).out, Not(HasSubstr("\033")));
}

TEST_F(CompareCommand, RunsThatStandAloneAreGroupsOfOne) {
  const Json document = Parsed({Run("a", 20), Run("b", 40), Run("c", 20)});
  ASSERT_EQ(document["groups"].size(), 3u);
  EXPECT_EQ(document["groups"][2]["name"], "C");
  const Json act = Figure(document, "operation_wall", "act")["groups"];
  EXPECT_EQ(act[1]["significant"], true);
  EXPECT_DOUBLE_EQ(act[1]["difference"].get<double>(), 20'000);
  EXPECT_EQ(act[2]["significant"], false);
}

TEST_F(CompareCommand, ADashDashSeparatesGroupsOfRepeatedRuns) {
  const Json document = Parsed({Run("a", 20), Run("b", 21), "--", Run("c", 40), Run("d", 41)});
  ASSERT_EQ(document["groups"].size(), 2u);
  EXPECT_EQ(document["groups"][0]["runs"].size(), 2u);
  EXPECT_EQ(document["groups"][1]["resampled"], "runs");
}

TEST_F(CompareCommand, GroupsHaveTheNamesThatAreGivenToThem) {
  const Json document = Parsed({"--group", "old=" + Run("a", 20) + "," + Run("b", 21), "--group",
                                "new=" + Run("c", 40) + "," + Run("d", 41)});
  EXPECT_EQ(document["groups"][0]["name"], "old");
  EXPECT_EQ(document["groups"][1]["name"], "new");
  EXPECT_EQ(document["groups"][1]["runs"].size(), 2u);
}

TEST_F(CompareCommand, NamesOfGroupsAreWholeInJson) {
  const Json document = Parsed({"--group", "baseline-of-last-week=" + Run("a", 20), "--group",
                                "baseline-of-this-week=" + Run("b", 40)});
  EXPECT_EQ(document["groups"][0]["name"], "baseline-of-last-week");
  EXPECT_EQ(document["groups"][1]["name"], "baseline-of-this-week");
}

TEST_F(CompareCommand, EveryRunOfManyHasALetterOfItsOwn) {
  Arguments words{"--json"};
  for (int i = 0; i < 28; ++i) words.push_back(Run("run" + std::to_string(i), 20, 2));
  const Captured captured = Compare(words);
  EXPECT_EQ(captured.status, kExitSuccess) << captured.err;
  EXPECT_EQ(Json::parse(captured.out)["groups"][26]["name"], "A2");
}

TEST_F(CompareCommand, TheJsonHasEveryKeyInOrder) {
  const Json document = Parsed({Run("a", 20), Run("b", 40)});
  EXPECT_EQ(KeysOf(document), (Keys{"format", "per_iteration", "counter", "work_unit", "seed",
                                    "replicates", "groups", "figures", "notes"}));
  EXPECT_EQ(document["format"], "gpubound.compare.v1");
  EXPECT_EQ(KeysOf(document["groups"][0]),
            (Keys{"name", "runs", "resampled", "simulated", "speed"}));
  EXPECT_TRUE(document["groups"][0]["speed"].is_null());
  EXPECT_EQ(KeysOf(document["groups"][1]["speed"]),
            (Keys{"finding", "reason", "ratio", "low", "high", "significant", "difference_ns",
                  "operation", "operation_ns", "cause", "cause_ns"}));
  const Json figure = Figure(document, "operation_wall", "act");
  EXPECT_EQ(KeysOf(figure), (Keys{"figure", "name", "unit", "groups"}));
  EXPECT_EQ(KeysOf(figure["groups"][1]),
            (Keys{"value", "difference", "low", "high", "is_upper_bound", "is_lower_bound",
                  "significant", "verdict"}));
  EXPECT_TRUE(figure["groups"][0]["low"].is_null());
  EXPECT_LE(figure["groups"][1]["low"], figure["groups"][1]["difference"]);
}

TEST_F(CompareCommand, TheSeedDecidesTheIntervals) {
  const Arguments runs{Run("a", 20), Run("b", 40)};
  const auto with_seed = [&](const char* seed) {
    Arguments words = runs;
    words.insert(words.end(), {"--seed", seed});
    return Parsed(words);
  };
  EXPECT_EQ(with_seed("7"), with_seed("7"));
  EXPECT_EQ(with_seed("7")["seed"], 7);
  EXPECT_NE(with_seed("7")["figures"], with_seed("8")["figures"]);
}

TEST_F(CompareCommand, TooFewIterationsGiveNoInterval) {
  const Json document = Parsed({Run("a", 20, 4), Run("b", 40, 4)});
  EXPECT_EQ(document["groups"][1]["resampled"], "nothing");
  const Json act = Figure(document, "operation_wall", "act")["groups"][1];
  EXPECT_TRUE(act["low"].is_null());
  EXPECT_EQ(act["significant"], false);
}

TEST_F(CompareCommand, IsTwoWhereThereIsNothingToCompareWith) {
  for (const Arguments& words :
       {Arguments{}, Arguments{"a"}, Arguments{"--group", "old=a"}, Arguments{"a", "--"}}) {
    const Captured captured = Compare(words);
    EXPECT_EQ(captured.status, kExitWrongUse);
    EXPECT_THAT(captured.err, HasSubstr("compare"));
    EXPECT_THAT(captured.out, IsEmpty());
  }
}

TEST_F(CompareCommand, IsTwoWhereAGroupIsNotWritten) {
  const Captured captured = Compare({"--group", "old", "--group", "new=b"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("--group has 'old', expected NAME=RUN,RUN..."));
  EXPECT_EQ(Compare({"--group", "old=a,", "--group", "new=b"}).status, kExitWrongUse);
}

TEST_F(CompareCommand, IsTwoWhereTwoGroupsHaveOneName) {
  const Captured captured = Compare({"--group", "old=a", "--group", "old=b"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("two groups are called 'old'"));
}

TEST_F(CompareCommand, IsTwoWhereAGroupHasARunTwice) {
  const std::string a = Run("a", 20);
  const std::string b = Run("b", 40);
  for (const std::string& again : {a, a + "/", folder_.File("./a.gpubound")}) {
    const Captured captured = Compare({a, again, "--", b});
    EXPECT_EQ(captured.status, kExitWrongUse);
    EXPECT_THAT(captured.err, HasSubstr("group 'A' has the run '" + again + "' twice"));
  }
  EXPECT_EQ(Compare({"--group", "old=" + a + "," + a, "--group", "new=" + a}).status,
            kExitWrongUse);
  EXPECT_EQ(Compare({a, a}).status, kExitSuccess) << "two groups may share a run";
}

TEST_F(CompareCommand, AFigureTakesARunOnceToo) {
  const std::string a = Run("a", 20);
  const std::string b = Run("b", 20);
  const std::string figure = folder_.File("figure.svg");
  for (const std::string& again : {a, a + "/", folder_.File("./a.gpubound")}) {
    const Captured captured = Capture([&] {
      return Dispatch({"report", a, again, "--plot", figure});
    });
    EXPECT_EQ(captured.status, kExitWrongUse);
    EXPECT_THAT(captured.err, HasSubstr("--plot has the run '" + again + "' twice"));
    EXPECT_THAT(captured.err, HasSubstr("each run of a group counts once."));
    EXPECT_FALSE(std::filesystem::exists(figure));
  }
  EXPECT_EQ(Capture([&] {
              return Dispatch({"report", a, b, "--plot", figure});
            }).status,
            kExitSuccess);
}

TEST_F(CompareCommand, IsTwoWhereRunsStandBesideGroups) {
  const Captured captured = Compare({"a", "--group", "new=b"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("name all of them in groups, or none"));
}

TEST_F(CompareCommand, IsTwoWhereAnOptionStandsAmongTheRunsOfAGroup) {
  const Captured captured = Compare({"a", "--", "b", "--json"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("'--json' stands after '--'"));
}

TEST_F(CompareCommand, IsTwoWhereTwoOutputsAreAskedFor) {
  const Captured captured = Compare({"a", "b", "--json", "--html", folder_.File("compare.html")});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("--json and --html exclude each other"));
}

TEST_F(CompareCommand, MarkdownIsTheScreenAlone) {
  const Captured captured = Compare({Run("a", 20), Run("b", 40), "--format", "markdown"});
  EXPECT_EQ(captured.status, kExitSuccess) << captured.err;
  EXPECT_THAT(captured.out, HasSubstr("\n| act | "));
  EXPECT_EQ(Compare({"a", "b", "--format", "markdown", "--json"}).status, kExitWrongUse);
  EXPECT_EQ(Compare({"a", "b", "--format", "html"}).status, kExitWrongUse);
}

TEST_F(CompareCommand, IsTwoWhereTheSeedIsNoNumber) {
  const Captured captured = Compare({"a", "b", "--seed", "dice"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("--seed: 'dice' is no whole number from 0 to 18446744"));
}

TEST_F(CompareCommand, IsThreeAndNamesTheRunThatCannotBeRead) {
  const Captured captured = Compare({Run("a", 20), folder_.File("none.gpubound")});
  EXPECT_EQ(captured.status, kExitUnreadable);
  EXPECT_THAT(captured.err, HasSubstr("none.gpubound"));
  EXPECT_THAT(captured.out, IsEmpty());
}

TEST_F(CompareCommand, IsOneWhereThePageCannotBeStored) {
  const std::string page = folder_.File("none/compare.html");
  const Captured captured = Compare({Run("a", 20), Run("b", 40), "--html", page});
  EXPECT_EQ(captured.status, kExitCheckFailed);
  EXPECT_THAT(captured.err, HasSubstr("writing the "));
}

}  // namespace
}  // namespace gpubound
