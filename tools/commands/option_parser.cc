// SPDX-License-Identifier: Apache-2.0
//
// Keeps CLI11's parser and replaces its manners.
#include "tools/commands/option_parser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "analysis/base/suggestion.h"
#include "analysis/base/text_table.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/help_text.h"

namespace gpubound {
namespace {

// "Usage: gpubound run [OPTIONS] -- CMD..." cannot be derived from the options.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const CommandHelp& help) : help_(help) { column_width(kTextColumn); }

  std::string make_usage(const CLI::App*, std::string) const override {
    const std::string usage = fmt::format("Usage: {} {}", help_.name, help_.usage);
    return "\n" + Wrap(usage, HelpWidth(), 2);
  }

  // CLI11 would print the type and default of each option in its own notation; the descriptions say
  // it in words.
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string type = option->get_type_name();
    if (type.empty()) return "";
    if (type.front() != ':') return " " + type;
    return type.size() < kTextColumn ? " " + type.substr(1) : "";  // words, of what has no name
  }

  // CLI11 indents what follows a newline.
  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = Wrap(option->get_description(), HelpWidth() - kTextColumn, 0);
    text.pop_back();
    return text;
  }

 private:
  static constexpr int kTextColumn = 28;
  CommandHelp help_;
};

std::vector<std::string> SplitAtCommas(const std::string& text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

// The name of a value, which may hold colons, without what AddedOption::Check puts behind it.
std::string NameOfValue(const std::string& type_name) {
  return type_name.substr(0, type_name.find(":{"));
}

// Of AddedOption::Check.
std::vector<std::string> WordsOfChoice(const std::string& type_name) {
  const size_t begin = type_name.find('{');
  const size_t end = type_name.rfind('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin) return {};
  return SplitAtCommas(type_name.substr(begin + 1, end - begin - 1));
}

// |option| itself. An operand that is empty would be taken for none.
CLI::Option* Operand(CLI::Option* option) {
  if (option->get_positional()) option->check(NotEmpty().complaint);
  return option;
}

// Where Parse() leaves a description instead of parsing.
CommandDescription* describing = nullptr;

}  // namespace

OptionParser::OptionParser(const CommandHelp& help)
    : help_(help), app_(std::make_unique<CLI::App>("", help.name)) {
  std::string purpose = Reflowed(help.purpose, HelpWidth());
  purpose.pop_back();  // CLI11 puts a newline behind it
  app_->description(purpose);
  app_->formatter(std::make_shared<HelpFormatter>(help));
  app_->set_help_flag("-h,--help", "Print this text");
  const std::string more =
      *help.more == '\0' ? "" : fmt::format("{}\n", Reflowed(help.more, HelpWidth()));
  app_->footer(fmt::format("{}Example:\n{}", more, help.example));
}

OptionParser::~OptionParser() = default;

AddedOption& AddedOption::Value(const std::string& name) {
  option_->type_name(name);
  return *this;
}

AddedOption& AddedOption::Check(const ValueRule& rule) {
  // How CLI11 shows what an option takes: "LEVEL:{node,graph,auto}".
  const std::string shown =
      rule.words.empty() ? "" : fmt::format("{{{}}}", fmt::join(rule.words, ","));
  option_->check(CLI::Validator(rule.complaint, shown));
  return *this;
}

AddedOption& AddedOption::TakeOneEach() {
  option_->expected(1)->take_all()->allow_extra_args(false);
  return *this;
}

AddedOption& AddedOption::SplitAtCommas() {
  option_->expected(1)->take_all()->allow_extra_args(false)->delimiter(',');
  return *this;
}

AddedOption& AddedOption::OrWithout(const std::string& fallback) {
  option_->expected(0, 1)->default_str(fallback);
  return *this;
}

AddedOption OptionParser::AddOption(const std::string& name, std::string* value,
                                    const std::string& description) {
  return AddedOption(Operand(app_->add_option(name, *value, description)));
}

AddedOption OptionParser::AddOption(const std::string& name, std::optional<std::string>* value,
                                    const std::string& description) {
  return AddedOption(Operand(app_->add_option(name, *value, description)));
}

AddedOption OptionParser::AddOption(const std::string& name, std::vector<std::string>* value,
                                    const std::string& description) {
  return AddedOption(Operand(app_->add_option(name, *value, description)));
}

AddedOption OptionParser::AddOption(const std::string& name, int* value,
                                    const std::string& description) {
  return AddedOption(app_->add_option(name, *value, description));
}

AddedOption OptionParser::AddOption(const std::string& name, uint64_t* value,
                                    const std::string& description) {
  return AddedOption(app_->add_option(name, *value, description));
}

AddedOption OptionParser::AddOption(const std::string& name, double* value,
                                    const std::string& description) {
  return AddedOption(app_->add_option(name, *value, description));
}

void OptionParser::AddFlag(const std::string& name, bool* value, const std::string& description) {
  app_->add_flag(name, *value, description)->disable_flag_override();
}

void OptionParser::LetCommandFollow() { app_->prefix_command(); }

bool OptionParser::Given(const std::string& name) const { return app_->count(name) != 0; }

Arguments OptionParser::Remaining() const { return app_->remaining(); }

void OptionParser::AddListOption(const std::string& name, std::vector<std::string>* values,
                                 const std::vector<std::string>& allowed,
                                 const std::string& description) {
  const auto take = [=](const std::string& text) {
    for (const std::string& word : SplitAtCommas(text)) {
      if (std::find(allowed.begin(), allowed.end(), word) == allowed.end()) {
        const std::string closest = ClosestName(word, allowed);
        throw CLI::ValidationError(
            fmt::format("{} has '{}', expected a list of {}{}", name, EscapeName(word),
                        fmt::join(allowed, ", "),
                        closest.empty() ? "." : fmt::format(". Did you mean '{}'?", closest)));
      }
      if (std::find(values->begin(), values->end(), word) == values->end()) {
        values->push_back(word);
      }
    }
  };
  const auto read = [take](const std::vector<std::string>& texts) {
    for (const std::string& text : texts) take(text);
  };
  list_words_[name] = allowed;
  app_->add_option_function<std::vector<std::string>>(
          name, read, fmt::format("{}: {}", description, fmt::join(allowed, ", ")))
      ->type_name("LIST")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
}

std::string OptionParser::UnknownOption(const std::string& typed) const {
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  const std::string name = typed.substr(0, typed.find('='));
  const std::string closest = name.starts_with("--") ? ClosestName(name, names) : "";
  return fmt::format("there is no option '{}'.{}", EscapeName(typed),
                     closest.empty() ? "" : fmt::format(" Did you mean '{}'?", closest));
}

// |complaint| begins with the option's name and ": "; empty where it does not, as of a flag that
// has one.
std::string OptionParser::WithoutItsValue(const std::string& complaint) const {
  const std::string name = complaint.substr(0, complaint.find(':'));
  const CLI::Option* const option = app_->get_option_no_throw(name);
  if (option == nullptr) return "";
  return fmt::format("{} lacks its {}.", name, NameOfValue(option->get_type_name()));
}

std::string OptionParser::FlagWithValue(const Arguments& arguments) const {
  for (const std::string& word : arguments) {
    const size_t equal = word.find('=');
    if (equal == std::string::npos) continue;
    const CLI::Option* const option = app_->get_option_no_throw(word.substr(0, equal));
    if (option != nullptr && option->get_expected_max() == 0) return option->get_name();
  }
  return "an option";
}

std::string OptionParser::FirstUnread() const {
  for (const std::string& word : app_->remaining()) {
    if (word != "--") return word;
  }
  return "";
}

CommandDescription OptionParser::Describe() const {
  CommandDescription description{help_, {}};
  for (const CLI::Option* option : app_->get_options()) {
    OptionDescription& row = description.options.emplace_back();
    for (const std::string& name : option->get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) row.names.push_back("--" + name);
    const std::string type = option->get_type_name();
    row.value = row.names.empty() ? option->get_name() : NameOfValue(type);
    row.text = option->get_description();
    row.words = WordsOfChoice(type);
    const auto list = row.names.empty() ? list_words_.end() : list_words_.find(row.names.back());
    if (list == list_words_.end()) continue;
    row.words = list->second;
    row.list = true;
  }
  return description;
}

CommandDescription OptionParser::Describing(const std::function<void()>& describe) {
  CommandDescription description{};
  describing = &description;
  describe();
  describing = nullptr;
  return description;
}

// What every command has, after its own. `run` has a --quiet of another meaning.
void OptionParser::AddDiagnosticOptions() {
  const auto add = [](CLI::Option* option) { option->group("Messages on stderr"); };
  add(app_->add_flag("-v,--verbose", diagnostics_.verbose,
                     "Also what was chosen, and how long it took"));
  if (app_->get_option_no_throw("--quiet") == nullptr) {
    add(app_->add_flag("-q,--quiet", diagnostics_.quiet, "Errors alone"));
  }
  add(app_->add_option("--log-file", diagnostics_.log_file,
                       "Append all messages to FILE, with their times and levels")
          ->type_name("FILE"));
}

std::optional<int> OptionParser::Parse(const Arguments& arguments, int wrong_use) {
  if (app_->get_option_no_throw("--verbose") == nullptr) AddDiagnosticOptions();  // the first time
  if (describing != nullptr) {
    *describing = Describe();
    return kExitSuccess;
  }
  Arguments reversed(arguments.rbegin(), arguments.rend());  // CLI11 takes them from the back
  try {
    app_->parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    std::string help = app_->help();
    // CLI11 puts an empty line after each group and before it.
    for (size_t at = 0; (at = help.find("\n\n\n", at)) != std::string::npos;) help.erase(at, 1);
    while (help.ends_with("\n\n")) help.pop_back();
    return WriteStdout(help);
  } catch (const CLI::ExtrasError&) {
    const std::string extra = FirstUnread();
    Complain(extra.starts_with('-')
                 ? UnknownOption(extra)
                 : fmt::format("'{}' is one argument too many.", EscapeName(extra)));
    return wrong_use;
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string complaint = WithoutItsValue(error.what());
    Complain(!complaint.empty() ? complaint
                                : fmt::format("{} takes no value.", FlagWithValue(arguments)));
    return wrong_use;
  } catch (const CLI::ParseError& error) {
    Complain(EscapeName(error.what()));
    return wrong_use;
  }
  // Where a command may follow, CLI11 takes an option that it does not know for that.
  if (const std::string unread = FirstUnread(); unread.size() > 1 && unread.starts_with('-')) {
    Complain(UnknownOption(unread));
    return wrong_use;
  }
  if (const std::optional<Error> error = ConfigureDiagnostics(diagnostics_)) {
    PrintError(*error);
    return wrong_use;
  }
  Diagnose(Level::kDebug, fmt::format("{} of gpubound {}: {}", help_.name, GPUBOUND_VERSION,
                                      EscapeName(fmt::format("{}", fmt::join(arguments, " ")))));
  return std::nullopt;
}

void OptionParser::Complain(const std::string& complaint) const {
  PrintFailure(fmt::format("{}\nTry '{} --help'.", complaint, help_.name));
}

}  // namespace gpubound
