// SPDX-License-Identifier: Apache-2.0
//
// Writes completion scripts. No state.
#include "tools/commands/completion_script.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/commands/shell_quote.h"

namespace gpubound {
namespace {

// What stands for a value: words where they are known, else folders, files, or a text of the
// user's.
enum class Values { kNone, kWords, kFolder, kFile, kText };

Values ValuesOf(const OptionDescription& option) {
  if (!option.words.empty()) return Values::kWords;
  if (option.value.empty()) return Values::kNone;
  if (option.value == "RUN" || option.value == "DIR") return Values::kFolder;
  return option.value == "FILE" || option.value == "PATH" ? Values::kFile : Values::kText;
}

bool IsPositional(const OptionDescription& option) { return option.names.empty(); }

const OptionDescription* PositionalOf(const DescribedCommand& command) {
  for (const OptionDescription& option : command.description.options) {
    if (IsPositional(option)) return &option;
  }
  return nullptr;
}

// Behind the options of these stands a program with its own.
bool TakesProgram(const DescribedCommand& command) {
  return std::string_view(command.description.help.usage).find("CMD") != std::string_view::npos;
}

std::vector<std::string> NamesWithValue(const DescribedCommand& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.description.options) {
    if (ValuesOf(option) == Values::kNone) continue;
    names.insert(names.end(), option.names.begin(), option.names.end());
  }
  return names;
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
    case Values::kFolder:
      return "_gpubound_files -d";
    case Values::kFile:
      return "_gpubound_files -f";
    case Values::kText:
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
# _gpubound_program OPTION...: completes the program that stands behind the options, of which these
# have a value, and its arguments; fails before it.
_gpubound_program() {
  local i word
  for ((i = 2; i <= COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == -- ]]; then ((i++)); break; fi
    if [[ " $* " == *" $word "* ]]; then ((i++)); continue; fi
    [[ $word == -* ]] || break
  done
  ((i <= COMP_CWORD)) || return 1
  if declare -F _command_offset >/dev/null; then _command_offset "$i"; return 0; fi
  if ((i == COMP_CWORD)); then mapfile -t COMPREPLY < <(compgen -c -- "$cur"); else _gpubound_files -f; fi
}
_gpubound() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
  COMPREPLY=()
)";

// Of the options of |command|, which end where a program begins.
std::string FishCondition(const DescribedCommand& command) {
  std::string condition = "__gpubound_in " + command.name;
  if (TakesProgram(command)) {
    condition +=
        fmt::format("; and not __gpubound_behind {}", fmt::join(NamesWithValue(command), " "));
  }
  return "complete -c gpubound -n '" + condition + "'";
}

constexpr char kFishHead[] = R"(# fish completion of gpubound; made by `gpubound completion fish`.
function __gpubound_in
    set -l words (commandline -opc)
    test (count $words) -ge 2; and test $words[2] = $argv[1]
end
# __gpubound_behind OPTION...: whether a program begins before the cursor; these options have a value.
function __gpubound_behind
    set -l words (commandline -opc)
    set -e words[1..2]
    set -l skip 0
    for word in $words
        if test $skip = 1
            set skip 0
        else if test "$word" = --
            return 0
        else if contains -- $word $argv
            set skip 1
        else if not string match -q -- '-*' $word
            return 0
        end
    end
    return 1
end
complete -c gpubound -f
complete -c gpubound -n __fish_use_subcommand -s h -l help -d 'What there is'
complete -c gpubound -n __fish_use_subcommand -s V -l version -d 'The version'
)";

// A word with a tab has a description of its own, if an empty one: else that of the option.
std::string FishValues(const OptionDescription& option) {
  const std::string words = fmt::format("{}\\t", fmt::join(option.words, "\\t "));
  switch (ValuesOf(option)) {
    case Values::kWords:
      return option.list ? fmt::format(" -xa \"(__fish_append , {})\"", words)
                         : fmt::format(" -xa '{}'", words);
    case Values::kFolder:
      return " -xa '(__fish_complete_directories)'";
    case Values::kFile:
      return " -rF";
    case Values::kText:
      return " -x";
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
    case Values::kFolder:
      return "_files -/";
    case Values::kFile:
      return "_files";
    case Values::kText:
    case Values::kNone:
      break;
  }
  return "";
}

// _arguments would leave the mark among the words of the program.
constexpr char kZshProgram[] = R"(      local -i mark=${words[(i)--]}
      if ((mark < CURRENT)); then
        words=("${(@)words[mark+1,-1]}"); ((CURRENT -= mark)); _normal; return
      fi
)";

std::string ZshArguments(const DescribedCommand& command) {
  std::string text;
  for (const OptionDescription& option : command.description.options) {
    if (IsPositional(option)) {
      if (&option != PositionalOf(command)) continue;  // _arguments takes one of the rest
      text += " \\\n        " + ShellQuote(fmt::format("*:{}:{}", option.value, ZshAction(option)));
      continue;
    }
    for (const std::string& name : option.names) {
      const bool flag = ValuesOf(option) == Values::kNone;
      text +=
          " \\\n        " +
          ShellQuote(fmt::format(
              "{}{}[{}]{}", name, !flag && name.starts_with("--") ? "=" : "", ZshText(option.text),
              flag ? "" : fmt::format(":{}:{}", ZshText(option.value), ZshAction(option))));
    }
  }
  if (TakesProgram(command)) text += " \\\n        '*::command: _normal'";
  return text;
}

}  // namespace

std::string BashCompletion(const std::vector<DescribedCommand>& commands) {
  std::vector<std::string> names;
  for (const DescribedCommand& command : commands) names.push_back(command.name);
  std::string text = kBashHead;
  text += fmt::format(
      "  if ((COMP_CWORD == 1)); then _gpubound_words \"{} -h --help -V --version\"; return; "
      "fi\n",
      fmt::join(names, " "));
  text += "  case ${COMP_WORDS[1]} in\n";
  for (const DescribedCommand& command : commands) {
    text += fmt::format("    {})\n", command.name);
    if (TakesProgram(command)) {
      text += fmt::format("      _gpubound_program {} && return\n",
                          fmt::join(NamesWithValue(command), " "));
    }
    text += "      case $prev in\n";
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
  return text + "  esac\n}\ncomplete -F _gpubound gpubound\n";
}

std::string ZshCompletion(const std::vector<DescribedCommand>& commands) {
  std::string text =
      "#compdef gpubound\n# zsh completion of gpubound; made by `gpubound completion zsh`.\n"
      "_gpubound() {\n  local -a subcommands\n  subcommands=(\n";
  for (const DescribedCommand& command : commands) {
    text += "    " + ShellQuote(command.name + ":" + ZshText(command.summary)) + "\n";
  }
  text +=
      "  )\n  if ((CURRENT == 2)) && [[ $words[2] == -* ]]; then\n"
      "    _arguments '(- *)'{-h,--help}'[What there is]' '(- *)'{-V,--version}'[The version]'\n"
      "    return\n  fi\n"
      "  if ((CURRENT == 2)); then _describe command subcommands; return; fi\n"
      "  shift words; ((CURRENT--))\n  case $words[1] in\n";
  for (const DescribedCommand& command : commands) {
    text += fmt::format("    {})\n", command.name);
    if (TakesProgram(command)) text += kZshProgram;
    text += fmt::format("      _arguments{} ;;\n", ZshArguments(command));
  }
  return text +
         "  esac\n}\nif [ \"$funcstack[1]\" = "
         "_gpubound "
         "]; then _gpubound; else compdef _gpubound "
         "gpubound; fi\n";
}

std::string FishCompletion(const std::vector<DescribedCommand>& commands) {
  std::string text = kFishHead;
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
    if (TakesProgram(command)) {
      // It would take the long options in front for its own; "-" keeps them apart.
      text += fmt::format(
          "complete -c gpubound -n '__gpubound_in {}' -xa '(__fish_complete_subcommand "
          "--fcs-skip=2 - {})'\n",
          command.name, fmt::join(NamesWithValue(command), " "));
    }
  }
  return text;
}

}  // namespace gpubound
