// SPDX-License-Identifier: Apache-2.0
//
// Writing to the terminal, and finding out what it can show.
#include "tools/console/console.h"

#include <fmt/format.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "analysis/base/text_table.h"
#include "tools/console/diagnostics.h"
#include "tools/console/exit_codes.h"
#include "tools/console/help_text.h"

namespace gpubound {
namespace {

constexpr int kDefaultColumns = 80;
constexpr int kWidestHelp = 100;
constexpr int kMaxColumns = 500;  // a larger COLUMNS is a mistake

// The three variables that decide about the character set, in the order in which libc asks them.
bool IsUtf8Locale(const GetVariable& variable) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = variable(name);
    if (!IsSet(value)) continue;
    return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
  }
  return false;
}

int ColumnsFrom(const char* text) {
  if (!IsSet(text)) return 0;
  char* end = nullptr;
  const long columns = std::strtol(text, &end, 10);
  return *end == '\0' && columns > 0 && columns <= kMaxColumns ? static_cast<int>(columns) : 0;
}

}  // namespace

int WriteStdout(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return kExitSuccess;
  const int error = errno;
  if (error != EPIPE) {
    PrintFailure(fmt::format("writing the output to stdout: {}. Part of it is missing.",
                             std::generic_category().message(error)));
  }
  return kExitCheckFailed;
}

void WriteStderr(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;  // nobody to tell
    text.remove_prefix(static_cast<size_t>(written));
  }
}

void PrintMessage(std::string_view message) { Diagnose(Level::kInfo, message); }
void PrintWarning(std::string_view message) { Diagnose(Level::kWarning, message); }
void PrintFailure(std::string_view message) { Diagnose(Level::kError, message); }

std::string ErrorText(const Error& error) {
  return Error{EscapeName(error.doing), EscapeName(error.object), EscapeName(error.found),
               EscapeName(error.expected), EscapeName(error.remedy)}
      .ToString();
}

void PrintError(const Error& error) { PrintFailure(ErrorText(error)); }

const char* EnvironmentVariable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here changes it
}

StreamFacts FactsOf(int descriptor) {
  StreamFacts facts;
  facts.is_terminal = isatty(descriptor) == 1;
  winsize size = {};
  if (facts.is_terminal && ioctl(descriptor, TIOCGWINSZ, &size) == 0) facts.columns = size.ws_col;
  return facts;
}

TextOptions TextOptionsFor(const StreamFacts& stream, const GetVariable& variable) {
  TextOptions options;
  options.width = ColumnsFrom(variable("COLUMNS"));
  if (options.width == 0) options.width = stream.columns;
  if (options.width == 0) options.width = kDefaultColumns;
  const char* terminal = variable("TERM");
  const bool dumb = terminal != nullptr && std::strcmp(terminal, "dumb") == 0;
  options.color = stream.is_terminal && !IsSet(variable("NO_COLOR")) && !dumb;
  options.unicode = IsUtf8Locale(variable);
  return options;
}

int HelpWidth() {
  return std::min(TextOptionsFor(FactsOf(STDOUT_FILENO), EnvironmentVariable).width, kWidestHelp);
}

std::string MessageText(std::string_view message, const StreamFacts& stream,
                        const GetVariable& variable) {
  const std::string text = fmt::format("gpubound: {}\n", message);
  return stream.is_terminal ? Wrapped(text, TextOptionsFor(stream, variable).width) : text;
}

}  // namespace gpubound
