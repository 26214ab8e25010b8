// SPDX-License-Identifier: Apache-2.0
//
// Words that a POSIX shell reads back as they were. Pure.
#ifndef GPUBOUND_TOOLS_COMMANDS_SHELL_QUOTE_H_
#define GPUBOUND_TOOLS_COMMANDS_SHELL_QUOTE_H_

#include <string>
#include <string_view>

namespace gpubound {

// |word| as it is when no character of it means anything to a shell, else in single quotes. Any
// byte except NUL survives.
std::string ShellQuote(std::string_view word);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_SHELL_QUOTE_H_
