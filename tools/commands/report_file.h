// SPDX-License-Identifier: Apache-2.0
//
// Files that a user names for a page, a figure or the results of checks: there whole or not at all,
// private to their owner, and never in place of something that gpubound has not written.
#ifndef GPUBOUND_TOOLS_COMMANDS_REPORT_FILE_H_
#define GPUBOUND_TOOLS_COMMANDS_REPORT_FILE_H_

#include <optional>
#include <string>

#include "analysis/base/status.h"

namespace gpubound {

// "-", or what the system calls standard output: written into as it is, where a format is text.
bool IsStdout(const std::string& path);

// An error where |path| is a file with content that is no earlier output of these commands, unless
// |force|. Pipes and devices are places to write into.
Status CheckPlace(const std::string& path, bool force);

// The same for a command that has not begun yet: says it, and returns the exit status. Nothing
// where there is no |path|.
std::optional<int> RefusePlace(const std::string& path, bool force);

// Writes |content| to |path|, replacing what was there only when all of it is written. Links stay,
// and a file that is replaced keeps its permissions.
Status WriteWholeFile(const std::string& path, const std::string& content, bool force);

// The same for a command, with what it says. Returns its exit status: |no_content| where |content|
// is an error. Standard output is a place like others.
int StoreAs(const std::string& path, const Result<std::string>& content, bool force,
            int no_content);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_REPORT_FILE_H_
