// SPDX-License-Identifier: Apache-2.0
//
// Choosing a command, and the options that commands read.
#include "tools/commands/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/tools/tool_fixtures.h"
#include "tools/commands/option_parser.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

Captured Gpubound(const Arguments& arguments) {
  return Capture([&] { return Dispatch(arguments); });
}

TEST(Commands, HelpGoesToStdoutAndListsEveryCommand) {
  for (const char* help : {"--help", "-h", "help"}) {
    const Captured captured = Gpubound({help});
    EXPECT_EQ(captured.status, kExitSuccess);
    for (const Command& command : AllCommands()) {
      EXPECT_THAT(captured.out, HasSubstr(std::string("  ") + command.name));
    }
  }
}

TEST(Commands, HelpIsACommandLikeOthers) {
  const Captured list = Gpubound({"--help"});
  EXPECT_THAT(list.out, HasSubstr("\n  help [COMMAND] "));
  EXPECT_EQ(Gpubound({"--help", "report"}).out, Gpubound({"report", "--help"}).out);
  EXPECT_THAT(Gpubound({"help", "help"}).out, HasSubstr("Usage: gpubound help [COMMAND]"));
  const Captured two = Gpubound({"help", "report", "check"});
  EXPECT_EQ(two.status, kExitWrongUse);
  EXPECT_THAT(two.err, HasSubstr("'check' is one argument too many"));
  const Captured mistyped = Gpubound({"help", "reprot"});
  EXPECT_EQ(mistyped.status, kExitWrongUse);
  EXPECT_THAT(mistyped.err, HasSubstr("there is no command 'reprot'. Did you mean 'report'?"));
}

TEST(Commands, NothingAtAllIsWrongUseAndShowsTheHelpOnStderr) {
  const Captured captured = Gpubound({});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.out, IsEmpty());
  EXPECT_THAT(captured.err, HasSubstr("Usage: gpubound COMMAND"));
}

TEST(Commands, EachHasAHelpWithAnExample) {
  for (const Command& command : AllCommands()) {
    const Captured captured = Gpubound({command.name, "--help"});
    EXPECT_EQ(captured.status, kExitSuccess) << command.name;
    EXPECT_THAT(captured.out, HasSubstr(std::string("Usage: gpubound ") + command.name));
    EXPECT_THAT(captured.out, HasSubstr("Example:\n  "));
    EXPECT_FALSE(captured.out.ends_with("\n\n")) << command.name;
    EXPECT_EQ(Gpubound({"help", command.name}).out, captured.out);
  }
}

// Its own words, without the shell's quotes.
std::vector<std::string> WordsOf(const std::string& line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char letter : line) {
    if (letter == '\'') {
      quoted = !quoted;
    } else if (letter == ' ' && !quoted) {
      words.emplace_back();
    } else {
      words.back() += letter;
    }
  }
  return words;
}

TEST(Commands, ExamplesOfCompareAreUnderstood) {
  std::istringstream help(Gpubound({"compare", "--help"}).out);
  size_t examples = 0;
  for (std::string line; std::getline(help, line);) {
    const std::string before = "  gpubound ";
    if (!line.starts_with(before + "compare ")) continue;
    ++examples;
    const Captured captured = Gpubound(WordsOf(line.substr(before.size())));
    EXPECT_EQ(captured.status, kExitUnreadable) << line << "\n" << captured.err;  // no such runs
  }
  EXPECT_GE(examples, 5u);
}

// A shell's COLUMNS, for one scope.
class WithColumns {
 public:
  explicit WithColumns(const char* columns) { setenv("COLUMNS", columns, 1); }
  ~WithColumns() { unsetenv("COLUMNS"); }
  WithColumns(const WithColumns&) = delete;
  WithColumns& operator=(const WithColumns&) = delete;
};

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Commands, HelpFitsEightyColumns) {
  std::vector<Arguments> helps{{"--help"}};
  for (const Command& command : AllCommands()) helps.push_back({command.name, "--help"});
  for (const Arguments& help : helps) {
    for (const std::string& line : LinesOf(Gpubound(help).out)) {
      EXPECT_LE(line.size(), 80u) << help.front() << ": " << line;
    }
  }
}

TEST(Commands, HelpFollowsTheTerminalUpToWhatReadsWell) {
  const auto longest = [] {
    size_t columns = 0;
    for (const std::string& line : LinesOf(Gpubound({"report", "--help"}).out)) {
      if (!line.starts_with("  gpubound ")) columns = std::max(columns, line.size());
    }
    return columns;
  };
  {
    const WithColumns narrow("60");
    EXPECT_LE(longest(), 60u);
  }
  const WithColumns wide("300");
  EXPECT_GT(longest(), 90u);
  EXPECT_LE(longest(), 100u);
}

TEST(Commands, VersionIsOneLine) {
  EXPECT_EQ(Gpubound({"--version"}).out, "gpubound " GPUBOUND_VERSION "\n");
}

TEST(Commands, AMistypedCommandGetsASuggestionAndStatusTwo) {
  const Captured captured = Gpubound({"rpeort", "x.gpubound"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("Did you mean 'report'?"));
  EXPECT_THAT(captured.out, IsEmpty());
}

TEST(Commands, AMistypedOptionBeforeACommandGetsASuggestion) {
  EXPECT_THAT(Gpubound({"--hlep"}).err, HasSubstr("'--hlep'. Did you mean '--help'?"));
  EXPECT_THAT(Gpubound({"--verison"}).err, HasSubstr("Did you mean '--version'?"));
  EXPECT_THAT(Gpubound({"--rpeort"}).err, Not(HasSubstr("Did you mean")));
}

TEST(Commands, NoHelpNamesATypeOfTheParser) {
  for (const Command& command : AllCommands()) {
    EXPECT_THAT(Gpubound({command.name, "--help"}).out, Not(HasSubstr("TEXT"))) << command.name;
  }
  EXPECT_THAT(Gpubound({"completion", "--help"}).out, HasSubstr("SHELL {bash,zsh,fish}"));
}

TEST(Commands, AnEmptyOperandIsNotTakenForNone) {
  for (const char* command :
       {"report", "doctor", "check", "top", "whatif", "compact", "compare", "sql", "export"}) {
    const Captured captured = Gpubound({command, ""});
    EXPECT_EQ(captured.status, kExitWrongUse) << command;
    EXPECT_THAT(captured.out, IsEmpty()) << command;
  }
  EXPECT_THAT(Gpubound({"report", ""}).err, HasSubstr("RUN: the word is empty"));
}

TEST(Commands, AnEmptyFileNameIsNotTakenForNone) {
  for (const Arguments& words :
       {Arguments{"check", "none", "--require", "wall<1s", "--junit"},
        Arguments{"check", "none", "--require", "wall<1s", "--baseline"},
        Arguments{"report", "none", "--plot"}, Arguments{"compare", "none", "neither", "--html"},
        Arguments{"import", "none", "-o"}, Arguments{"env", "-o"}}) {
    Arguments with_empty = words;
    with_empty.emplace_back();
    const Captured captured = Gpubound(with_empty);
    EXPECT_EQ(captured.status, kExitWrongUse) << words.front();
    EXPECT_THAT(captured.err, HasSubstr("the word is empty")) << words.front();
    EXPECT_THAT(captured.out, IsEmpty()) << words.front();
  }
}

TEST(Commands, ListsThatAreGivenTwiceAreOne) {
  std::vector<std::string> words;
  static constexpr CommandHelp kHelp = {"gpubound test", "[OPTIONS] RUN", "Tests.", "", ""};
  OptionParser parser(kHelp);
  std::string run;
  parser.AddOption("RUN", &run, "");
  parser.AddListOption("--by", &words, {"operation", "layer", "phase"}, "Tables");
  const Arguments typed{"--by", "operation", "--by=layer,operation", "--by", "phase", "x.gpubound"};
  EXPECT_EQ(parser.Parse(typed, kExitWrongUse), std::nullopt);
  EXPECT_THAT(words, testing::ElementsAre("operation", "layer", "phase"));
  EXPECT_EQ(run, "x.gpubound");
}

TEST(Commands, AHostileNameIsEscaped) {
  EXPECT_THAT(Gpubound({"\x1b[2J"}).err, Not(HasSubstr("\x1b")));
}

TEST(Commands, AFigureIsSvgOrNothing) {
  const Captured captured = Gpubound({"report", "--plot", "a.png"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("'a.png' does not end in .svg"));
  EXPECT_EQ(Gpubound({"report", "--plot", "a.svg", "none"}).status, kExitUnreadable);
}

TEST(Commands, GroupsAreThoseOfAFigure) {
  const Captured captured = Gpubound({"report", "--group-by", "seed", "none"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("--group-by is about --plot"));
}

TEST(Commands, NoOptionOfAReportIsIgnored) {
  const auto complaint = [](Arguments words) {
    words.insert(words.begin(), {"report", "x.gpubound"});
    const Captured captured = Gpubound(words);
    EXPECT_EQ(captured.status, kExitWrongUse);
    return captured.err;
  };
  EXPECT_THAT(complaint({"--csv", "--json"}), HasSubstr("--json and --csv exclude each other."));
  EXPECT_THAT(complaint({"--html", "a.html", "--plot", "a.svg"}), HasSubstr("--html and --plot"));
  EXPECT_THAT(complaint({"--json", "--by", "phase"}), HasSubstr("--by is about the text"));
  EXPECT_THAT(complaint({"--group-by", "algorithm"}), HasSubstr("--group-by is about --plot"));
  EXPECT_THAT(complaint({"--timeout", "5"}), HasSubstr("--timeout is about --on"));
}

TEST(Commands, ValuesDoNotSwallowTheRunBehindThem) {
  const std::vector<Arguments> lines{{"whatif", "--scale", "operation=simulation:0.5", "none"},
                                     {"whatif", "--move-gpus", "rollout:train:1", "none"},
                                     {"whatif", "--graph-capture", "inference", "none"},
                                     {"whatif", "--operations", "all", "none"},
                                     {"report", "--operations", "nvtx:torch", "none"},
                                     {"compact", "--operations=all", "none"},
                                     {"check", "--require", "wall<1s", "none"}};
  for (const Arguments& line : lines) {
    const Captured captured = Gpubound(line);
    EXPECT_EQ(captured.status, kExitUnreadable) << line[0] << " " << line[1];
    EXPECT_THAT(captured.err, HasSubstr("none"));
  }
}

TEST(Commands, RangesThatCannotBeAreRefused) {
  for (const char* command : {"report", "compact", "whatif"}) {
    for (const char* ranges : {"nosuch", "nvtx:", "", "nvtx:torch,NCCL", "All"}) {
      const Captured captured = Gpubound({command, "none", "--operations", ranges});
      EXPECT_EQ(captured.status, kExitWrongUse) << command << " " << ranges;
      EXPECT_THAT(captured.err, HasSubstr("is neither nvtx:DOMAIN nor all"));
    }
    EXPECT_EQ(Gpubound({command, "none", "--operations", "nvtx:torch,nvtx:NCCL"}).status,
              kExitUnreadable);
  }
}

TEST(Commands, RangesThatCannotBeGetASuggestion) {
  const auto said = [](const char* ranges) {
    return Gpubound({"report", "none", "--operations", ranges}).err;
  };
  EXPECT_THAT(said("torch"), HasSubstr("Did you mean 'nvtx:torch'?"));
  EXPECT_THAT(said("nvxt:torch"), HasSubstr("Did you mean 'nvtx:torch'?"));
  EXPECT_THAT(said("al"), HasSubstr("Did you mean 'all'?"));
  EXPECT_THAT(said("nvtx:"), Not(HasSubstr("Did you mean")));
  EXPECT_THAT(said("nvtx"), Not(HasSubstr("Did you mean")));
}

TEST(Commands, KeysToGroupByDoNotSwallowRuns) {
  const Captured captured = Gpubound({"report", "--plot", "a.svg", "--group-by", "a,b", "none"});
  EXPECT_EQ(captured.status, kExitUnreadable);
  EXPECT_THAT(captured.err, HasSubstr("none"));
}

TEST(Commands, AValueOutOfAListNamesTheList) {
  const Captured captured = Gpubound({"completion", "bsh"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err,
              HasSubstr("SHELL: 'bsh' is none of bash, zsh, fish. Did you mean 'bash'?"));
}

TEST(Commands, CalibrateWithAnInterpreterThatIsNotThereIsWrongUse) {
  for (const char* python : {"/nonexistent", "no-such-python", "/etc/passwd"}) {
    const Captured captured = Gpubound({"calibrate", "--python", python, "--seconds", "1"});
    EXPECT_EQ(captured.status, kExitWrongUse);
    EXPECT_THAT(captured.err, HasSubstr(python));
    EXPECT_THAT(captured.err, HasSubstr("Give its path, or its name in PATH"));
  }
}

TEST(Commands, AValueOutOfARangeNamesTheRange) {
  EXPECT_THAT(Gpubound({"calibrate", "--seconds", "9999"}).err,
              HasSubstr("--seconds: '9999' is no whole number from 1 to 600"));
  EXPECT_THAT(Gpubound({"verify", "--limit", "300", "--", "true"}).err,
              HasSubstr("--limit: '300' is no number from 0 to 100"));
}

TEST(Commands, AnOptionWithoutItsValueSaysWhatItLacks) {
  const Captured captured = Gpubound({"export", "x.gpubound", "--chrome"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("--chrome lacks its FILE."));
  EXPECT_THAT(Gpubound({"run", "--graphs"}).err, HasSubstr("--graphs lacks its LEVEL."));
  EXPECT_THAT(Gpubound({"run", "--steps"}).err, HasSubstr("--steps lacks its A:B."));
  EXPECT_THAT(Gpubound({"whatif", "x.gpubound", "--scale"}).err,
              HasSubstr("--scale lacks its PART=NAME:FACTOR."));
}

TEST(Commands, AFlagWithAValueSaysThatItTakesNone) {
  for (const char* flag : {"--json=x", "--json=3", "--json=0", "--json=false"}) {
    const Captured captured = Gpubound({"report", flag});
    EXPECT_EQ(captured.status, kExitWrongUse) << flag;
    EXPECT_THAT(captured.err, HasSubstr("--json takes no value."));
  }
}

TEST(Commands, AMistypedOptionGetsASuggestionAndStatusTwo) {
  const Captured captured = Gpubound({"report", "--jsno", "x.gpubound"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("'--jsno'. Did you mean '--json'?"));
  EXPECT_THAT(captured.err, HasSubstr("gpubound report --help"));
}

TEST(Commands, ASecondRunIsOneArgumentTooMany) {
  const Captured captured = Gpubound({"report", "a.gpubound", "b.gpubound"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("'b.gpubound' is one argument too many"));
}

TEST(Commands, WhatFollowsTheMarkIsNoOption) {
  const Captured captured = Gpubound({"report", "--", "--json"});
  EXPECT_EQ(captured.status, kExitUnreadable);
  EXPECT_THAT(captured.err, HasSubstr("--json"));
}

TEST(Commands, AListOptionNamesWhatItKnows) {
  const Captured captured = Gpubound({"report", "--by", "operation,phse", "x.gpubound"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("'phse'"));
  EXPECT_THAT(captured.err, HasSubstr("Did you mean 'phase'?"));
}

TEST(Commands, ARunThatIsNotThereIsUnreadable) {
  for (const char* command : {"report", "doctor", "compact"}) {
    const Captured captured = Gpubound({command, "/nonexistent/x.gpubound"});
    EXPECT_EQ(captured.status, kExitUnreadable);
    EXPECT_THAT(captured.err, HasSubstr("found nothing there"));
    EXPECT_THAT(captured.err, StartsWith("gpubound: "));
    EXPECT_THAT(captured.err, HasSubstr("/nonexistent/x.gpubound"));
    EXPECT_THAT(captured.out, IsEmpty());
  }
}

TEST(Commands, ARunOfWhichNothingWasRecordedHasNothingToShow) {
  const TemporaryFolder folder;
  const std::string run = WriteEmptyRun(folder.File("empty.gpubound"));
  for (const Arguments& words :
       {Arguments{"report", run}, Arguments{"report", run, "--full", "--kernels"},
        Arguments{"report", run, "--json"}, Arguments{"report", run, "--csv"},
        Arguments{"report", run, "--html", folder.File("x.html")},
        Arguments{"report", run, "--plot", folder.File("x.svg")}, Arguments{"top", run},
        Arguments{"compare", run, run}, Arguments{"doctor", run}, Arguments{"compact", run},
        Arguments{"sql", run, "select * from gpu"},
        Arguments{"export", run, "--perfetto", folder.File("p"), "--chrome", folder.File("c"),
                  "--sqlite", folder.File("s"), "--prometheus", folder.File("m")}}) {
    const Captured captured = Gpubound(words);
    EXPECT_EQ(captured.status, kExitSuccess) << words.front() << captured.err;
  }
  EXPECT_THAT(Gpubound({"compare", run, run}).out,
              HasSubstr("empty.gpubound: nothing was recorded"));
  const Captured imagined = Gpubound({"whatif", run, "--scale", "device:0.5"});
  EXPECT_EQ(imagined.status, kExitUnreadable);
  EXPECT_THAT(imagined.err, HasSubstr("found no process that was recorded"));
}

TEST(Commands, PartsAreMadeMergedAndReported) {
  const TemporaryFolder folder;
  const std::string run = WriteEmptyRun(folder.File("empty.gpubound"));
  EXPECT_EQ(Gpubound({"part", run}).status, kExitWrongUse);
  EXPECT_EQ(Gpubound({"merge", "-o", "x"}).status, kExitWrongUse);
  EXPECT_EQ(Gpubound({"part", folder.File("none"), "-o", folder.File("x")}).status,
            kExitUnreadable);
  const std::string part = folder.File("one.part");
  ASSERT_EQ(Gpubound({"part", run, "-o", part}).status, kExitSuccess);
  const std::string merged = folder.File("all.part");
  ASSERT_EQ(Gpubound({"merge", part, part, "-o", merged}).status, kExitSuccess);
  EXPECT_EQ(Gpubound({"report", merged}).status, kExitSuccess);
  EXPECT_EQ(Gpubound({"merge", folder.File("none"), "-o", merged}).status, kExitUnreadable);
  EXPECT_EQ(Gpubound({"merge", part, "-o", "/nonexistent/x"}).status, kExitCheckFailed);
  for (const char* command : {"whatif", "compact", "sql", "export"}) {
    Arguments words = {command, merged};
    if (words[0] == "whatif") words.insert(words.end(), {"--scale", "device:0.5"});
    if (words[0] == "export") words.insert(words.end(), {"--chrome", folder.File("c")});
    const Captured captured = Gpubound(words);
    EXPECT_EQ(captured.status, kExitUnreadable) << command;
    EXPECT_THAT(captured.err, HasSubstr("a part of a run, which holds no events")) << command;
  }
  for (Arguments words : {Arguments{"report", merged}, Arguments{"compare", merged, run}}) {
    words.insert(words.end(), {"--target", "return>=450 over 20"});
    const Captured captured = Gpubound(words);
    EXPECT_EQ(captured.status, kExitUnreadable) << words[0];
    EXPECT_THAT(captured.err, HasSubstr("parts of a run, which hold no counters")) << words[0];
  }
}

TEST(Commands, AnEngineIsAskedForWhatTheReportIs) {
  const TemporaryFolder folder;
  const std::string said = folder.File("said");
  std::filesystem::permissions(
      folder.Write("python3", "#!/bin/sh\necho \"$@\" > " + said + "\nexit 3\n"),
      std::filesystem::perms::owner_all);
  const std::string path = getenv("PATH");
  setenv("PATH", (folder.path() + ":" + path).c_str(), 1);
  const Captured captured = Gpubound({"report", "a.gpubound", "--on", "ray://head:10001",
                                      "--timeout", "90", "--operations", "nvtx:torch"});
  setenv("PATH", path.c_str(), 1);
  EXPECT_EQ(captured.status, kExitUnreadable);
  std::ostringstream words;
  words << std::ifstream(said).rdbuf();
  EXPECT_THAT(words.str(), StartsWith("-m gpubound.cluster a.gpubound --on ray://head:10001 -o "));
  EXPECT_THAT(words.str(), HasSubstr(" --timeout=90"));
  EXPECT_THAT(words.str(), HasSubstr(" --operations=nvtx:torch"));
}

TEST(Commands, TwoExportsDoNotShareStdout) {
  const TemporaryFolder folder;
  const std::string run = WriteEmptyRun(folder.File("empty.gpubound"));
  const Captured captured = Gpubound({"export", run, "--chrome", "-", "--prometheus", "-"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("Two formats cannot both go to stdout."));
  EXPECT_THAT(captured.out, IsEmpty());
}

TEST(Commands, TwoExportsDoNotShareAFile) {
  const TemporaryFolder folder;
  const std::string run = WriteEmptyRun(folder.File("empty.gpubound"));
  const std::string file = folder.File("figures");
  const std::string same = folder.File("./figures");
  const Captured captured =
      Gpubound({"export", run, "--chrome", file, "--prometheus", same, "--force"});
  EXPECT_EQ(captured.status, kExitWrongUse);
  EXPECT_THAT(captured.err, HasSubstr("--chrome and --prometheus name one file"));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(Commands, ADirectoryThatIsNoRunCannotBeWatched) {
  const TemporaryFolder folder;
  EXPECT_EQ(Gpubound({"top", folder.path()}).status, kExitUnreadable);
}

TEST(Commands, AllCountersNeedARun) {
  EXPECT_EQ(Gpubound({"doctor", "--all"}).status, kExitWrongUse);
}

}  // namespace
}  // namespace gpubound
