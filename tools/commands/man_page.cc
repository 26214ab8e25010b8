// SPDX-License-Identifier: Apache-2.0
//
// Writes troff. No state.
#include "tools/commands/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace gpubound {
namespace {

// |text| as troff prints it: no escape, no macro at the begin of a line, real hyphens and quotes.
std::string Troff(std::string_view text) {
  std::string escaped;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '`':
        escaped += "\\(ga";
        break;
      case '~':
        escaped += "\\(ti";
        break;
      case '^':
        escaped += "\\(ha";
        break;
      default:
        escaped += c;
    }
    at_start = c == '\n';
  }
  return escaped;
}

std::string OptionEntry(const OptionDescription& option) {
  std::string names;
  for (const std::string& name : option.names) {
    names += (names.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", Troff(name));
  }
  if (!option.value.empty()) {
    names += (names.empty() ? "" : " ") + fmt::format("\\fI{}\\fR", Troff(option.value));
  }
  if (!option.words.empty() && !option.list) {  // of a list the text has them
    names += fmt::format(" ({})", Troff(fmt::format("{}", fmt::join(option.words, ", "))));
  }
  return fmt::format(".TP\n{}\n{}\n", names, Troff(option.text));
}

// Lines as they are, indented.
std::string Literal(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    std::string_view line = text.substr(0, end);
    while (line.starts_with(' ')) line.remove_prefix(1);
    lines += Troff(line) + "\n";
    text.remove_prefix(end + 1);
  }
  return ".PP\n.RS 4\n.nf\n" + lines + ".fi\n.RE\n";
}

std::string CommandSection(const DescribedCommand& command) {
  const CommandHelp& help = command.description.help;
  std::string text = fmt::format(".SS \"{}\"\n\\fB{}\\fR {}\n.PP\n{}\n", Troff(help.name),
                                 Troff(help.name), Troff(help.usage), Troff(help.purpose));
  for (const OptionDescription& option : command.description.options) text += OptionEntry(option);
  std::string_view more = help.more;
  while (more.ends_with('\n')) more.remove_suffix(1);
  if (!more.empty()) text += fmt::format(".PP\n{}\n", Troff(more));
  return text + Literal(help.example);
}

}  // namespace

std::string ManPage(const std::vector<DescribedCommand>& commands, const std::string& version) {
  std::string text =
      fmt::format(".TH GPUBOUND 1 \"\" \"gpubound {}\" \"User Commands\"\n", Troff(version));
  text +=
      ".SH NAME\ngpubound \\- where the time of a training run went, and how much of it the "
      "GPU was really working\n";
  text += ".SH SYNOPSIS\n";
  for (const DescribedCommand& command : commands) {
    if (&command != &commands.front()) text += ".br\n";
    text += fmt::format("\\fB{}\\fR {}\n", Troff(command.description.help.name),
                        Troff(command.description.help.usage));
  }
  text += ".SH COMMANDS\n";
  for (const DescribedCommand& command : commands) text += CommandSection(command);
  text +=
      ".SH \"EXIT STATUS\"\n"
      "0 success, 1 a check that failed, 2 wrong use, 3 input that cannot be read. "
      "\\fBgpubound run\\fR exits as the program that it starts.\n";
  text +=
      ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nNo colours, also on a terminal.\n"
      ".TP\n\\fBCOLUMNS\\fR\nWidth of the output, before that of the terminal. "
      "Reports take fewer than 60 for 60.\n"
      ".PP\n\\fBgpubound env\\fR prints those that the profiler reads.\n";
  return text;
}

}  // namespace gpubound
