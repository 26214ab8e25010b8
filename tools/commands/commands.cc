// SPDX-License-Identifier: Apache-2.0
//
// The table of commands, and what happens before one of them is chosen: help, version, mistyping.
#include "tools/commands/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "analysis/base/suggestion.h"
#include "analysis/base/text_table.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/console/console.h"
#include "tools/console/diagnostics.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr Command kCommands[] = {
    {"run", "[-o DIR] [OPTIONS] -- CMD...", "profile a program and its children", RunProgram},
    {"report", "[RUN]", "where the time of a run went", PrintReport},
    {"compare", "RUN RUN...", "what differs between runs, and how surely", CompareRuns},
    {"check", "[RUN] --require EXPRESSION", "hold a run to what is expected of it", CheckRun},
    {"top", "[RUN]", "what a run does while it goes on", WatchRun},
    {"dump", "[RUN] [--pid PID]", "the Python stacks of a run as they were last seen", DumpStacks},
    {"whatif", "RUN --scale PART:FACTOR", "what a run would be with a part made faster",
     ImagineChanges},
    {"import", "FILE [-o RUN]", "make a run out of another tool's trace", ImportRun},
    {"calibrate", "[OPTIONS]", "measure what the profiler itself costs here", Calibrate},
    {"verify", "[OPTIONS] -- CMD...", "prove the correction on a program", Verify},
    {"sql", "RUN [QUERY]", "ask a run with SQL", QueryRun},
    {"export", "RUN --FORMAT FILE", "give a run to other tools", ExportRun},
    {"compact", "RUN", "sum a run's older time and thin its events", CompactStoredRun},
    {"part", "RUN -o FILE", "reduce a machine's share of a run where it lies", MakePartOfRun},
    {"merge", "PART... -o FILE", "put parts of a run together", MergePartsOfRun},
    {"doctor", "[RUN]", "this machine's readiness, or a trace's gaps", RunDoctor},
    {"env", "", "variables for other launchers to set", PrintEnvironment},
    {"completion", "SHELL", "a script that lets a shell complete all this", PrintCompletion},
    {"man", "", "the manual page", PrintManual},
    {"help", "[COMMAND]", "this text, or what COMMAND --help says", PrintHelp},
};

constexpr CommandHelp kHelpHelp = {"gpubound help", "[COMMAND]",
                                   "Prints what there is, or what COMMAND --help says.", "",
                                   "  gpubound help report\n"};

std::string Help() {
  constexpr int kSummaryColumn = 36;
  const int width = HelpWidth();
  std::string text = Wrap(
      "gpubound says where the time of each operation of a training run went, and how much of it "
      "the GPU was really working.",
      width, 0);
  text += "\nUsage: gpubound COMMAND [ARGUMENTS]\n\nCommands:\n";
  for (const Command& command : kCommands) {
    text += Wrap(fmt::format("  {:<34}{}", fmt::format("{} {}", command.name, command.arguments),
                             command.summary),
                 width, kSummaryColumn);
  }
  text +=
      "\nOptions:\n"
      "  -h, --help     this text; gpubound COMMAND --help says more\n"
      "  -V, --version  the version\n\n"
      "Example:\n"
      "  gpubound run -- python train.py\n"
      "  gpubound report\n";
  return text;
}

const Command* FindCommand(const std::string& name) {
  const auto* found = std::find_if(std::begin(kCommands), std::end(kCommands),
                                   [&](const Command& command) { return command.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

std::vector<std::string> CommandNames() {
  std::vector<std::string> names;
  for (const Command& command : kCommands) names.emplace_back(command.name);
  return names;
}

int UnknownCommand(const std::string& name) {
  const bool is_option = name.starts_with('-');
  const std::vector<std::string> names =
      is_option ? std::vector<std::string>{"--help", "--version"} : CommandNames();
  const std::string closest = ClosestName(name, names);
  const char* what = is_option ? "option" : "command";
  PrintFailure(fmt::format("there is no {} '{}'.{}\nTry 'gpubound --help' for what there is.", what,
                           EscapeName(name),
                           closest.empty() ? "" : fmt::format(" Did you mean '{}'?", closest)));
  return kExitWrongUse;
}

}  // namespace

std::span<const Command> AllCommands() { return kCommands; }

int Dispatch(const Arguments& arguments) {
  if (arguments.empty()) {
    WriteStderr(Help());
    return kExitWrongUse;
  }
  const std::string& name = arguments.front();
  if (name == "--version" || name == "-V") return WriteStdout("gpubound " GPUBOUND_VERSION "\n");
  const Arguments rest(arguments.begin() + 1, arguments.end());
  if (name == "--help" || name == "-h") return PrintHelp(rest);
  const Command* command = FindCommand(name);
  if (command == nullptr) return UnknownCommand(name);
  const auto begin = std::chrono::steady_clock::now();
  const int status = command->run(rest);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  Diagnose(Level::kDebug, fmt::format("exit status {} after {:.3f} s", status, took.count()));
  return status;
}

int PrintHelp(const Arguments& words) {
  std::string name;
  OptionParser parser(kHelpHelp);
  const auto any = [](const std::string&) { return Complaint(); };  // what is none is said below
  parser.AddOption("COMMAND", &name, "What to say more of").Value("").Check({any, CommandNames()});
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (name.empty()) return WriteStdout(Help());
  const Command* command = FindCommand(name);
  return command == nullptr ? UnknownCommand(name) : command->run({"--help"});
}

}  // namespace gpubound
