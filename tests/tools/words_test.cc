// SPDX-License-Identifier: Apache-2.0
//
// Small words: quoting for a shell, and what somebody meant who mistyped.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "analysis/base/suggestion.h"
#include "tools/commands/shell_quote.h"

namespace gpubound {
namespace {

std::string ReadBackByShell(const std::string& word) {
  FILE* shell = popen(("printf %s " + ShellQuote(word)).c_str(), "r");
  std::string text;
  std::array<char, 256> buffer;
  for (size_t got = 0; (got = fread(buffer.data(), 1, buffer.size(), shell)) > 0;) {
    text.append(buffer.data(), got);
  }
  pclose(shell);
  return text;
}

TEST(ShellQuote, LeavesAPlainPathAlone) {
  EXPECT_EQ(ShellQuote("/tmp/run-1.gpubound"), "/tmp/run-1.gpubound");
}

TEST(ShellQuote, QuotesTheEmptyWord) { EXPECT_EQ(ShellQuote(""), "''"); }

TEST(ShellQuote, SurvivesARealShell) {
  for (const std::string word : {"a b", "it's", "$HOME", "`id`", "a\\b", "\"x\"", "*", "~", "a\nb",
                                 "-n", "#", "a;b", "!", "\xff\x01", "''"}) {
    EXPECT_EQ(ReadBackByShell(word), word) << ShellQuote(word);
  }
}

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("report", "report"), 0u);
  EXPECT_EQ(EditDistance("repot", "report"), 1u);
  EXPECT_EQ(EditDistance("reeport", "report"), 1u);
  EXPECT_EQ(EditDistance("repart", "report"), 1u);
  EXPECT_EQ(EditDistance("erport", "report"), 1u);
  EXPECT_EQ(EditDistance("", "report"), 6u);
  EXPECT_EQ(EditDistance("report", ""), 6u);
}

class Suggestion : public testing::Test {
 protected:
  std::string For(const std::string& typed) const { return ClosestName(typed, names_); }

  const std::vector<std::string> names_ = {"run", "report", "doctor", "env"};
};

TEST_F(Suggestion, FindsTheNameBehindATypingError) {
  EXPECT_EQ(For("rpeort"), "report");
  EXPECT_EQ(For("docter"), "doctor");
  EXPECT_EQ(For("rnu"), "run");
}

TEST_F(Suggestion, CompletesAnAbbreviation) { EXPECT_EQ(For("doc"), "doctor"); }

TEST_F(Suggestion, IsEmptyForSomethingElse) {
  EXPECT_EQ(For("install"), "");
  EXPECT_EQ(For(""), "");
  EXPECT_EQ(For(std::string(10000, 'r')), "");
}

}  // namespace
}  // namespace gpubound
