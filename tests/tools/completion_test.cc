// SPDX-License-Identifier: Apache-2.0
//
// Completion and manual: made from the options of every command, and taken by the real shells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "tests/tools/tool_fixtures.h"
#include "tools/commands/command_tree.h"
#include "tools/commands/commands.h"
#include "tools/commands/completion_script.h"
#include "tools/commands/man_page.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// What |command| prints, both streams.
std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::array<char, 4096> bytes;
  for (size_t n = 0; (n = fread(bytes.data(), 1, bytes.size(), pipe)) > 0;) {
    output.append(bytes.data(), n);
  }
  if (pclose(pipe) != 0) output += " (failed)";
  return output;
}

class BashCompletionTest : public testing::Test {
 protected:
  // The replies of bash for a line of |words|, the last of which is being typed.
  std::string Completed(const std::vector<std::string>& words) {
    const std::string script = folder_.Write("complete.bash", BashCompletion(DescribeCommands()));
    std::string line;
    for (const std::string& word : words) line += "'" + word + "' ";
    return OutputOf("cd " + folder_.path() + " && bash -c 'source " + script + "; COMP_WORDS=(" +
                    Unquoted(line) + "); COMP_CWORD=" + std::to_string(words.size() - 1) +
                    "; _gpubound; echo \"${COMPREPLY[*]}\"'");
  }
  static std::string Unquoted(std::string text) {
    for (char& c : text) c = c == '\'' ? '"' : c;
    return text;
  }

  TemporaryFolder folder_;
};

TEST_F(BashCompletionTest, CompletesCommands) {
  EXPECT_EQ(Completed({"gpubound", "rep"}), "report\n");
}

TEST_F(BashCompletionTest, CompletesOptionsBeforeACommand) {
  EXPECT_EQ(Completed({"gpubound", "-"}), "-h --help -V --version\n");
}

TEST_F(BashCompletionTest, CompletesOptionsOfACommand) {
  EXPECT_EQ(Completed({"gpubound", "report", "--ker"}), "--kernels\n");
  EXPECT_EQ(Completed({"gpubound", "check", "--req"}), "--require\n");
}

TEST_F(BashCompletionTest, CompletesValuesThatAreKnown) {
  EXPECT_EQ(Completed({"gpubound", "run", "--graphs", "no"}), "node\n");
  EXPECT_EQ(Completed({"gpubound", "completion", "z"}), "zsh\n");
}

TEST_F(BashCompletionTest, CompletesTheLastWordOfAList) {
  EXPECT_EQ(Completed({"gpubound", "report", "--by", "operation,pha"}), "operation,phase\n");
}

TEST_F(BashCompletionTest, CompletesRunsAsFolders) {
  std::filesystem::create_directory(folder_.File("train.gpubound"));
  folder_.Write("train.log", "");
  EXPECT_EQ(Completed({"gpubound", "report", "tr"}), "train.gpubound\n");
}

TEST_F(BashCompletionTest, CompletesTheProgramBehindTheMark) {
  EXPECT_THAT(Completed({"gpubound", "run", "--", "cmak"}), HasSubstr("cmake"));
}

TEST(Completion, EveryCommandAndOptionIsInEveryScript) {
  const std::vector<DescribedCommand> commands = DescribeCommands();
  ASSERT_EQ(commands.size(), AllCommands().size());
  for (const std::string& script :
       {BashCompletion(commands), ZshCompletion(commands), FishCompletion(commands)}) {
    for (const DescribedCommand& command : commands) {
      EXPECT_THAT(script, HasSubstr(command.name));
      for (const OptionDescription& option : command.description.options) {
        if (option.names.empty()) continue;
        const std::string& name = option.names.back();
        EXPECT_THAT(script, HasSubstr(name.substr(name.find_first_not_of('-')))) << command.name;
      }
    }
  }
}

TEST(Completion, AskingForItDescribesWithoutRunningAnything) {
  const Captured captured = Capture([] {
    DescribeCommands();
    return 0;
  });
  EXPECT_THAT(captured.out, IsEmpty());
  EXPECT_THAT(captured.err, IsEmpty());
}

TEST(Completion, AShellThatIsNotKnownIsWrongUse) {
  const auto ask = [](const Arguments& words) { return Capture([&] { return Dispatch(words); }); };
  EXPECT_EQ(ask({"completion"}).status, kExitWrongUse);
  EXPECT_EQ(ask({"completion", "tcsh"}).status, kExitWrongUse);
  EXPECT_EQ(ask({"completion", "bash"}).status, kExitSuccess);
}

TEST(Manual, NamesEveryCommandWithItsExample) {
  const std::string page = ManPage(DescribeCommands(), "1.2.3");
  for (const Command& command : AllCommands()) {
    EXPECT_THAT(page, HasSubstr(std::string(".SS \"gpubound ") + command.name));
  }
  EXPECT_THAT(page, HasSubstr("gpubound 1.2.3"));
}

TEST(Manual, NamesTheValuesThatAnOptionKnows) {
  const std::string page = ManPage(DescribeCommands(), "1.2.3");
  EXPECT_THAT(page, HasSubstr("\\fISET\\fR (occupancy)\n"));
  EXPECT_THAT(page, HasSubstr("\\fISHELL\\fR (bash, zsh, fish)\n"));
}

TEST(Manual, NamesOfValuesMayHoldColons) {
  const std::string page = ManPage(DescribeCommands(), "1.2.3");
  EXPECT_THAT(page, HasSubstr("\\fIA:B\\fR"));
  EXPECT_THAT(page, HasSubstr("\\fIPART=NAME:FACTOR\\fR"));
  EXPECT_THAT(ZshCompletion(DescribeCommands()), HasSubstr(":A\\:B:"));
}

TEST(Manual, TheSynopsisHasTheOptionsOfTheListOfCommands) {
  const std::vector<DescribedCommand> described = DescribeCommands();
  for (size_t i = 0; i < described.size(); ++i) {
    std::istringstream words(AllCommands()[i].arguments);
    for (std::string word; words >> word;) {
      if (!word.starts_with("--")) continue;
      EXPECT_THAT(described[i].description.help.usage, HasSubstr(word));
    }
  }
}

TEST(Manual, NoTextOfOursIsTakenForAMacro) {
  DescribedCommand command{
      "x", "", {{"gpubound x", "", ".de evil", "", "  'so /etc/passwd\n"}, {}}};
  const std::string page = ManPage({command}, "1");
  EXPECT_THAT(page, HasSubstr("\n\\&.de evil"));
  EXPECT_THAT(page, HasSubstr("\n\\&\\(aqso /etc/passwd"));
}

}  // namespace
}  // namespace gpubound
