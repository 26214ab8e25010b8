// SPDX-License-Identifier: Apache-2.0
//
// Options of one command: CLI11 with our help layout, our exit statuses, a suggestion for a
// mistyped option, and list values such as `--by operation,phase` checked against what there is.
#ifndef GPUBOUND_TOOLS_COMMANDS_OPTION_PARSER_H_
#define GPUBOUND_TOOLS_COMMANDS_OPTION_PARSER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/commands/commands.h"
#include "tools/commands/option_values.h"
#include "tools/console/diagnostics.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace gpubound {

struct CommandHelp {
  const char* name;     // "gpubound report"
  const char* usage;    // "[OPTIONS] [RUN]"
  const char* purpose;  // a sentence or two
  const char* more;     // shown after the options: notes, exit statuses; may be empty
  const char* example;  // one command line or more, indented by two spaces, with final newline
};

// One option or positional argument, as help, completion and the manual show it.
struct OptionDescription {
  std::vector<std::string> names;  // "-o", "--output"; none for a positional argument
  std::string value;               // "DIR"; empty for a flag
  std::string text;
  std::vector<std::string> words;  // the values that there are, where they are known
  bool list = false;               // the value is a list of them, with commas
};

struct CommandDescription {
  CommandHelp help;
  std::vector<OptionDescription> options;
};

// An option that was added, to say more of it. Valid as long as its parser.
class AddedOption {
 public:
  // What its value is called in the help: "DIR". Empty: nothing is shown.
  AddedOption& Value(const std::string& name);
  AddedOption& Check(const ValueRule& rule);
  // May be repeated, and takes one value each time: what follows is somebody else's, such as RUN.
  AddedOption& TakeOneEach();
  // Likewise, and the value is a list, with commas.
  AddedOption& SplitAtCommas();
  // May be given without a value, which then is |fallback|.
  AddedOption& OrWithout(const std::string& fallback);

 private:
  friend class OptionParser;
  explicit AddedOption(CLI::Option* option) : option_(option) {}
  CLI::Option* option_;
};

class OptionParser {
 public:
  explicit OptionParser(const CommandHelp& help);
  ~OptionParser();
  OptionParser(const OptionParser&) = delete;
  OptionParser& operator=(const OptionParser&) = delete;

  // An option ("-o,--output") or, where |name| has no dash, a positional argument. |value| outlives
  // Parse, which leaves it alone where it was not given.
  AddedOption AddOption(const std::string& name, std::string* value,
                        const std::string& description);
  AddedOption AddOption(const std::string& name, std::optional<std::string>* value,
                        const std::string& description);
  AddedOption AddOption(const std::string& name, std::vector<std::string>* value,
                        const std::string& description);
  AddedOption AddOption(const std::string& name, int* value, const std::string& description);
  AddedOption AddOption(const std::string& name, uint64_t* value, const std::string& description);
  AddedOption AddOption(const std::string& name, double* value, const std::string& description);
  void AddFlag(const std::string& name, bool* value, const std::string& description);

  // The first word that is no option begins a command, which Remaining() returns.
  void LetCommandFollow();

  // An option whose value is a comma separated list of words out of |allowed|. Repeated, it is one
  // list.
  void AddListOption(const std::string& name, std::vector<std::string>* values,
                     const std::vector<std::string>& allowed, const std::string& description);

  // Reads |arguments|, and lets stderr and the log file get what they ask for. An exit status when the command is already over: help was asked for and
  // printed, or the use was wrong and said to be (|wrong_use| then). Nothing when it goes on.
  std::optional<int> Parse(const Arguments& arguments, int wrong_use);

  // Whether |name| was among the arguments of the last Parse.
  bool Given(const std::string& name) const;

  Arguments Remaining() const;

  // Lets |describe|, which runs a command without arguments, end where it would parse them, and
  // returns what it would have parsed. What a command does before that has no effect outside.
  static CommandDescription Describing(const std::function<void()>& describe);

  // Says |complaint| and how to get help.
  void Complain(const std::string& complaint) const;

 private:
  void AddDiagnosticOptions();
  CommandDescription Describe() const;
  std::string FirstUnread() const;
  std::string UnknownOption(const std::string& typed) const;
  std::string WithoutItsValue(const std::string& complaint) const;
  std::string FlagWithValue(const Arguments& arguments) const;

  CommandHelp help_;
  std::unique_ptr<CLI::App> app_;
  DiagnosticOptions diagnostics_;                               // of every command
  std::map<std::string, std::vector<std::string>> list_words_;  // by name of the option
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_OPTION_PARSER_H_
