// SPDX-License-Identifier: Apache-2.0
//
// Writes completion scripts. No state.
#include "tools/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/shell_quote.h"

namespace gpubound {
namespace {

// What stands for a value: words where they are known, else folders, other programs or files.
enum class Values { kNone, kWords, kRun, kFolder, kFile };

Values ValuesOf(const OptionDescription& option) {
  if (!option.words.empty()) return Values::kWords;
  if (option.value.empty()) return Values::kNone;
  if (option.value == "RUN") return Values::kRun;
  return option.value == "DIR" ? Values::kFolder : Values::kFile;
}

bool IsPositional(const OptionDescription& option) { return option.names.empty(); }

const OptionDescription* PositionalOf(const DescribedCommand& command) {
  for (const OptionDescription& option : command.description.options) {
    if (IsPositional(option)) return &option;
  }
  return nullptr;
}

std::vector<std::string> OptionNames(const DescribedCommand& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.description.options) {
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
}

std::string BashReply(const OptionDescription& option) {
  const std::string words = fmt::format("{}", fmt::join(option.words, " "));
  switch (ValuesOf(option)) {
    case Values::kWords:
      return fmt::format("{} \"{}\"", option.list ? "_gpubound_list" : "_gpubound_words", words);
    case Values::kRun:
    case Values::kFolder:
      return "_gpubound_files -d";
    case Values::kFile:
      return "_gpubound_files -f";
    case Values::kNone:
      break;
  }
  return ":";
}

constexpr char kBashHead[] = R"(# bash completion of gpubound; made by `gpubound completion bash`.
_gpubound_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur"); }
_gpubound_files() { compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen "$1" -- "$cur"); }
_gpubound_list() {
  local done=
  [[ $cur == *,* ]] && done=${cur%,*},
  mapfile -t COMPREPLY < <(compgen -P "$done" -W "$1" -- "${cur##*,}")
  compopt -o nospace 2>/dev/null
}
_gpubound() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i
  COMPREPLY=()
)";

// The program that `gpubound run` starts, and its arguments, are completed as the shell would.
constexpr char kBashProgram[] = R"(  if [[ ${COMP_WORDS[1]} == run ]]; then
    for ((i = 2; i < COMP_CWORD; i++)); do
      [[ ${COMP_WORDS[i]} == -- ]] || continue
      if ((i + 1 == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); else _gpubound_files -f; fi
      return
    done
  fi
)";

std::string FishCondition(const DescribedCommand& command) {
  return fmt::format("complete -c gpubound -n '__fish_seen_subcommand_from {}'", command.name);
}

std::string FishValues(const OptionDescription& option) {
  switch (ValuesOf(option)) {
    case Values::kWords:
      return option.list
                 ? fmt::format(" -xa \"(__fish_append , {})\"", fmt::join(option.words, " "))
                 : fmt::format(" -xa '{}'", fmt::join(option.words, " "));
    case Values::kRun:
    case Values::kFolder:
      return " -xa '(__fish_complete_directories)'";
    case Values::kFile:
      return " -rF";
    case Values::kNone:
      break;
  }
  return " -f";
}

// Text within an _arguments specification, which gives meaning to brackets and colons.
std::string ZshText(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string ZshAction(const OptionDescription& option) {
  const std::string words = fmt::format("{}", fmt::join(option.words, " "));
  switch (ValuesOf(option)) {
    case Values::kWords:
      return option.list ? fmt::format("_values -s , {} {}", option.value, words)
                         : fmt::format("({})", words);
    case Values::kRun:
    case Values::kFolder:
      return "_files -/";
    case Values::kFile:
      return "_files";
    case Values::kNone:
      break;
  }
  return "";
}

std::string ZshArguments(const DescribedCommand& command) {
  std::string text;
  for (const OptionDescription& option : command.description.options) {
    if (IsPositional(option)) {
      text += " \\\n        " + ShellQuote(fmt::format("*:{}:{}", option.value, ZshAction(option)));
      continue;
    }
    for (const std::string& name : option.names) {
      const bool flag = ValuesOf(option) == Values::kNone;
      text += " \\\n        " +
              ShellQuote(
                  fmt::format("{}[{}]{}", name, ZshText(option.text),
                              flag ? "" : fmt::format(":{}:{}", option.value, ZshAction(option))));
    }
  }
  if (command.name == "run") text += " \\\n        '*::command: _normal'";
  return text;
}

}  // namespace

std::string BashCompletion(const std::vector<DescribedCommand>& commands) {
  std::vector<std::string> names;
  for (const DescribedCommand& command : commands) names.push_back(command.name);
  std::string text = kBashHead;
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then _gpubound_words \"{} help --help --version\"; return; fi\n",
      fmt::join(names, " "));
  text += kBashProgram;
  text += "  case ${COMP_WORDS[1]} in\n";
  for (const DescribedCommand& command : commands) {
    text += fmt::format("    {})\n      case $prev in\n", command.name);
    for (const OptionDescription& option : command.description.options) {
      if (IsPositional(option) || ValuesOf(option) == Values::kNone) continue;
      text += fmt::format("        {}) {}; return ;;\n", fmt::join(option.names, "|"),
                          BashReply(option));
    }
    text += fmt::format(
        "      esac\n      if [[ $cur == -* ]]; then _gpubound_words \"{}\"; return; fi\n",
        fmt::join(OptionNames(command), " "));
    const OptionDescription* positional = PositionalOf(command);
    text += fmt::format("      {} ;;\n", positional == nullptr ? ":" : BashReply(*positional));
  }
  text += fmt::format("    help) _gpubound_words \"{}\" ;;\n", fmt::join(names, " "));
  return text + "  esac\n}\ncomplete -F _gpubound gpubound\n";
}

std::string ZshCompletion(const std::vector<DescribedCommand>& commands) {
  std::string text =
      "#compdef gpubound\n# zsh completion of gpubound; made by `gpubound completion zsh`.\n"
      "_gpubound() {\n  local -a commands\n  commands=(\n";
  for (const DescribedCommand& command : commands) {
    text += "    " + ShellQuote(command.name + ":" + ZshText(command.summary)) + "\n";
  }
  text +=
      "  )\n  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
      "  shift words; ((CURRENT--))\n  case $words[1] in\n";
  for (const DescribedCommand& command : commands) {
    text += fmt::format("    {})\n      _arguments{} ;;\n", command.name, ZshArguments(command));
  }
  return text +
         "  esac\n}\nif [ \"$funcstack[1]\" = _gpubound ]; then _gpubound; else compdef _gpubound "
         "gpubound; fi\n";
}

std::string FishCompletion(const std::vector<DescribedCommand>& commands) {
  std::string text =
      "# fish completion of gpubound; made by `gpubound completion fish`.\n"
      "complete -c gpubound -f\n";
  for (const DescribedCommand& command : commands) {
    text += fmt::format("complete -c gpubound -n __fish_use_subcommand -xa {} -d {}\n",
                        command.name, ShellQuote(command.summary));
    for (const OptionDescription& option : command.description.options) {
      text += FishCondition(command);
      for (const std::string& name : option.names) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      text += FishValues(option) + " -d " + ShellQuote(option.text) + "\n";
    }
    if (command.name == "run") {
      text += FishCondition(command) + " -xa '(__fish_complete_subcommand)'\n";
    }
  }
  return text;
}

}  // namespace gpubound
