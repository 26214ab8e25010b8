// SPDX-License-Identifier: Apache-2.0
//
// `gpubound verify -- CMD`: does the correction give the time that CMD takes without the profiler?
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <random>

#include "analysis/base/text_table.h"
#include "tools/commands/commands.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"
#include "tools/launch/library_files.h"
#include "tools/verify/verify.h"

namespace gpubound {
namespace {

constexpr CommandHelp kVerifyHelp = {
    "gpubound verify", "[OPTIONS] -- CMD...",
    "Runs CMD several times with and without the profiler, in turns and in random order, and\n"
    "prints the slowdown and the residual: how far the corrected time of the profiled runs is "
    "from\n"
    "the time of the others. CMD must do the same work each time; its output is not shown, but "
    "for\n"
    "its last lines on stderr where it fails.",
    "Both are medians over rounds, with a 95 % interval that lies between two of the rounds, that\n"
    "of the residual wider by what is not known of a process's start and end; there is none below\n"
    "6 rounds. With --limit the residual passes where its whole interval lies\n"
    "within the limit, fails where none of it does, and else is not decided.\n"
    "Exit status: 0; 1 if the residual is beyond --limit or that is not decided; 2 for wrong use;\n"
    "3 if CMD cannot be run, fails, or records nothing.\n",
    "  gpubound verify -- ./cartpole_ppo --iterations 30\n"
    "  gpubound verify --rounds 10 --limit 2 -- python train.py --steps 20000\n"
    "  gpubound verify --turns 100 -- python train.py     on a busy machine\n"};

struct VerifyArguments {
  VerifyOptions options;
  double limit_percent = -1;
  int turn_ms = 0;
  bool json = false;
};

std::optional<int> ParseVerifyArguments(const Arguments& words, VerifyArguments* arguments) {
  constexpr int kMostRounds = 1000;
  constexpr int kShortestTurnMs = 10;
  constexpr int kLongestTurnMs = 10'000;
  OptionParser parser(kVerifyHelp);
  parser.LetCommandFollow();
  parser
      .AddOption("--rounds", &arguments->options.rounds,
                 "Runs of each kind (default: 6; more give a narrower interval)")
      .Check(WholeNumber(1, kMostRounds))
      .Value("N");
  parser
      .AddOption("--limit", &arguments->limit_percent,
                 "Largest residual that passes, in percent of the time without the profiler")
      .Check(NumberWithin(0, 100))
      .Value("PERCENT");
  parser
      .AddOption("--turns", &arguments->turn_ms,
                 "Both runs of a round at a time, in turns of about MS milliseconds: one works, "
                 "the other is stopped. Less disturbed by whatever else the machine does; not for "
                 "programs that keep a GPU busy or wait for the clock")
      .Check(WholeNumber(kShortestTurnMs, kLongestTurnMs))
      .Value("MS");
  parser.AddOption("--seed", &arguments->options.seed, "Order of the runs (default: random)")
      .Check(WholeNumber(0, UINT64_MAX))
      .Value("N");
  parser.AddFlag("--json", &arguments->json, "JSON (gpubound.verify.v1), the stable form");

  const auto split = std::find(words.begin(), words.end(), "--");
  if (const auto over = parser.Parse({words.begin(), split}, kExitWrongUse)) return over;
  Arguments& command = arguments->options.command;
  command = parser.Remaining();
  const auto rest = split != words.end() && command.empty() ? split + 1 : split;
  command.insert(command.end(), rest, words.end());
  if (!command.empty()) return std::nullopt;
  parser.Complain("no command to run was given.");
  return kExitWrongUse;
}

}  // namespace

int Verify(const Arguments& words) {
  VerifyArguments arguments;
  VerifyOptions& options = arguments.options;
  options.seed = std::random_device()();
  if (const auto over = ParseVerifyArguments(words, &arguments)) return *over;
  const Result<LibraryFiles> libraries = FindOurLibraryFiles();
  if (!libraries.ok()) {
    PrintError(libraries.error());
    return kExitUnreadable;
  }
  options.libraries = *libraries;
  options.turn = std::chrono::milliseconds(arguments.turn_ms);
  PrintMessage(fmt::format(
      "{} of two runs {}, seed {}", Counted(static_cast<uint64_t>(options.rounds), "round"),
      arguments.turn_ms == 0 ? "in random order"
                             : fmt::format("in turns of {} ms", arguments.turn_ms),
      options.seed));
  std::unique_ptr<ProgressNote> note;
  options.before_round = [&](int round) {
    note = nullptr;
    note = std::make_unique<ProgressNote>(fmt::format("round {} of {}", round + 1, options.rounds));
  };
  options.on_failure = [&](const std::vector<std::string>& lines) {
    note = nullptr;
    for (const std::string& line : lines) WriteStderr("  " + EscapeName(line) + "\n");
  };
  const Result<Verification> verification = VerifyCommand(options);
  note = nullptr;
  if (!verification.ok()) {
    PrintError(verification.error());
    return kExitUnreadable;
  }
  const double limit = arguments.limit_percent < 0 ? -1 : arguments.limit_percent / 100;
  const int written = WriteStdout(arguments.json ? RenderVerificationJson(*verification, limit)
                                                 : RenderVerification(*verification, limit));
  const bool passed = JudgeResidual(*verification, limit) == Verdict::kPassed;
  return passed ? written : kExitCheckFailed;
}

}  // namespace gpubound
