// SPDX-License-Identifier: Apache-2.0
//
// `gpubound completion SHELL` and `gpubound man`: what a shell and man(1) want to know of the
// command line, made from the options themselves.
#include "tools/commands/command_tree.h"
#include "tools/commands/commands.h"
#include "tools/commands/completion_script.h"
#include "tools/commands/man_page.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr CommandHelp kCompletionHelp = {
    "gpubound completion", "SHELL",
    "Prints a script that lets SHELL (bash, zsh or fish) complete commands, options and values.",
    "",
    "  gpubound completion bash > ~/.local/share/bash-completion/completions/gpubound\n"
    "  gpubound completion zsh > ~/.zfunc/_gpubound      # a folder of $fpath\n"
    "  gpubound completion fish > ~/.config/fish/completions/gpubound.fish\n"};

constexpr CommandHelp kManHelp = {"gpubound man", "", "Prints the manual page, as troff.", "",
                                  "  gpubound man | man -l -\n"
                                  "  gpubound man > ~/.local/share/man/man1/gpubound.1\n"};

}  // namespace

int PrintCompletion(const Arguments& words) {
  std::string shell;
  OptionParser parser(kCompletionHelp);
  parser.AddOption("SHELL", &shell, "What reads the script")
      .Value("")
      .Check(OneOf({"bash", "zsh", "fish"}));
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (shell == "bash") return WriteStdout(BashCompletion(DescribeCommands()));
  if (shell == "zsh") return WriteStdout(ZshCompletion(DescribeCommands()));
  if (shell == "fish") return WriteStdout(FishCompletion(DescribeCommands()));
  parser.Complain("SHELL is missing: bash, zsh or fish.");
  return kExitWrongUse;
}

int PrintManual(const Arguments& words) {
  OptionParser parser(kManHelp);
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  return WriteStdout(ManPage(DescribeCommands(), GPUBOUND_VERSION));
}

}  // namespace gpubound
