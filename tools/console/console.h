// SPDX-License-Identifier: Apache-2.0
//
// The two streams of a command: results on stdout, everything else on stderr, and what the terminal
// behind them can show. Errors and messages begin with "gpubound: ".
#ifndef GPUBOUND_TOOLS_CONSOLE_CONSOLE_H_
#define GPUBOUND_TOOLS_CONSOLE_CONSOLE_H_

#include <functional>
#include <string>
#include <string_view>

#include "analysis/base/status.h"
#include "analysis/output/text/report_text.h"

namespace gpubound {

// Writes all of |text| and flushes. Returns kExitSuccess, or kExitCheckFailed where stdout took not
// all of it (full disk): said on stderr, except when a reader such as `head` closed the pipe.
int WriteStdout(std::string_view text);

void WriteStderr(std::string_view text);

// "gpubound: " and |message|, which may have several lines, and a newline. A terminal gets lines
// that fit it, so that words stay whole. By level (diagnostics.h): what was done, what a result
// lacks, what could not be done.
void PrintMessage(std::string_view message);
void PrintWarning(std::string_view message);
void PrintFailure(std::string_view message);

// The error with every part escaped, and its remedy; a failure.
void PrintError(const Error& error);
std::string ErrorText(const Error& error);

// Looks a variable up; nullptr where it is unset.
using GetVariable = std::function<const char*(const char*)>;
const char* EnvironmentVariable(const char* name);
// To more than nothing.
inline bool IsSet(const char* value) { return value != nullptr && *value != '\0'; }

// What is known of one output stream.
struct StreamFacts {
  bool is_terminal = false;
  int columns = 0;  // as the terminal says, 0 when it does not
};
StreamFacts FactsOf(int descriptor);

// Width, colour and character set for a stream: COLUMNS, else the terminal, else 80; colour on a
// terminal only, never with a NO_COLOR that is not empty or a dumb terminal; symbols beyond ASCII
// only in a UTF-8 locale.
TextOptions TextOptionsFor(const StreamFacts& stream, const GetVariable& variable);

// Columns of a command's help: those of stdout, but no more than can be read with ease.
int HelpWidth();

// What PrintMessage writes to |stream|.
std::string MessageText(std::string_view message, const StreamFacts& stream,
                        const GetVariable& variable);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CONSOLE_CONSOLE_H_
