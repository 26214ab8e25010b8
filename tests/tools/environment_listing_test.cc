// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound env` prints, read back by a shell and as JSON.
#include "tools/commands/environment_listing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "libprofiler/env_vars.h"
#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<Assignment> kAssignments = {{"LD_PRELOAD", "/opt/lib/libgpubound.so"},
                                              {"GPUBOUND_RUN", "/tmp/it's here/$x.gpubound"}};

std::string EvaluatedByShell(const std::string& text, const std::string& command) {
  const TemporaryFolder folder;
  const std::string script = folder.Write("script", text + "\n" + command + "\n");
  FILE* shell = popen(("env -i /bin/sh " + script).c_str(), "r");
  std::array<char, 4096> buffer;
  const size_t got = fread(buffer.data(), 1, buffer.size(), shell);
  EXPECT_EQ(pclose(shell), 0);
  return {buffer.data(), got};
}

TEST(EnvironmentListing, AShellReadsTheValuesBack) {
  const GetVariable environment = FakeVariables({{"GPUBOUND_FLUSH_MS", "'\n'; exit 7; '"}});
  const std::string text = RenderExports({kAssignments[1]}, environment);
  EXPECT_EQ(EvaluatedByShell(text, "printf %s \"$GPUBOUND_RUN\""), kAssignments[1].value);
}

TEST(EnvironmentListing, ExplainsEveryVariable) {
  const std::string text = RenderExports(kAssignments, FakeVariables({}));
  for (const EnvVar& variable : kEnvVars) {
    EXPECT_THAT(text, HasSubstr(std::string(variable.name) + " ("));
    EXPECT_THAT(text, HasSubstr(variable.help));
  }
}

TEST(EnvironmentListing, ShowsWhatIsSetEscaped) {
  const GetVariable environment = FakeVariables({{"GPUBOUND_RUN", "a\x1b[1m"}});
  const std::string text = RenderExports(kAssignments, environment);
  EXPECT_THAT(text, HasSubstr("now 'a\\x1b[1m'"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(EnvironmentListing, AsJsonHoldsTheSame) {
  const GetVariable environment = FakeVariables({{"GPUBOUND_FLUSH_MS", "50"}});
  const auto json = nlohmann::json::parse(RenderEnvironmentJson(kAssignments, environment));
  EXPECT_EQ(json["format"], "gpubound.env.v1");
  EXPECT_EQ(json["set"]["GPUBOUND_RUN"], kAssignments[1].value);
  const auto is_flush = [](const auto& entry) { return entry["name"] == "GPUBOUND_FLUSH_MS"; };
  const auto& variables = json["variables"];
  const auto flush = std::find_if(variables.begin(), variables.end(), is_flush);
  ASSERT_NE(flush, variables.end());
  EXPECT_THAT((*flush)["default"].get<std::string>(), testing::MatchesRegex("[0-9]+"));
  EXPECT_EQ((*flush)["value"], "50");
}

}  // namespace
}  // namespace gpubound
