// SPDX-License-Identifier: Apache-2.0
//
// The table of commands, and what happens before one of them is chosen: help, version, mistyping.
#include "tools/commands.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/text_table.h"
#include "tools/console.h"
#include "tools/exit_codes.h"
#include "tools/suggestion.h"

namespace gpubound {
namespace {

constexpr Command kCommands[] = {
    {"run", "[-o DIR] [OPTIONS] -- CMD...", "profile a program and its children", RunProgram},
    {"report", "[RUN]", "where the time of a run went", PrintReport},
    {"compare", "RUN RUN...", "what differs between runs, and how surely", CompareRuns},
    {"check", "[RUN] --require EXPRESSION", "hold a run to what is expected of it", CheckRun},
    {"top", "[RUN]", "what a run does while it goes on", WatchRun},
    {"whatif", "RUN --scale PART:FACTOR", "what a run would be with a part made faster",
     ImagineChanges},
    {"import", "FILE [-o RUN]", "make a run out of another tool's trace", ImportRun},
    {"calibrate", "[OPTIONS]", "measure what the profiler itself costs here", Calibrate},
    {"verify", "[OPTIONS] -- CMD...", "prove the correction on a program", Verify},
    {"sql", "RUN [QUERY]", "ask a run with SQL", QueryRun},
    {"export", "RUN --FORMAT FILE", "give a run to other tools", ExportRun},
    {"compact", "RUN", "sum a run's older time and thin its events", CompactStoredRun},
    {"doctor", "[RUN]", "this machine's readiness, or a trace's gaps", RunDoctor},
    {"env", "", "variables for other launchers to set", PrintEnvironment},
    {"completion", "SHELL", "a script that lets a shell complete all this", PrintCompletion},
    {"man", "", "the manual page", PrintManual},
};

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

int UnknownCommand(const std::string& name) {
  const bool is_option = name.starts_with('-');
  std::vector<std::string> names;
  if (is_option) {
    names = {"--help", "--version"};
  } else {
    names = {"help"};
    for (const Command& command : kCommands) names.emplace_back(command.name);
  }
  const std::string closest = ClosestName(name, names);
  const char* what = is_option ? "option" : "command";
  PrintMessage(fmt::format("there is no {} '{}'.{}\nTry 'gpubound --help' for what there is.", what,
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
  const bool wants_help = name == "--help" || name == "-h" || name == "help";
  if (wants_help && arguments.size() == 1) return WriteStdout(Help());
  if (name == "--version" || name == "-V") return WriteStdout("gpubound " GPUBOUND_VERSION "\n");

  const std::string& wanted = wants_help ? arguments[1] : name;
  const Command* command = FindCommand(wanted);
  if (command == nullptr) return UnknownCommand(wanted);
  if (wants_help) return command->run({"--help"});
  return command->run(Arguments(arguments.begin() + 1, arguments.end()));
}

}  // namespace gpubound
