// SPDX-License-Identifier: Apache-2.0
//
// What a command says of itself, by level: on stderr, and in a log file where one was asked for,
// with the time, the level and the process of each line. spdlog keeps the levels and the files.
//
// Any thread may say something; ConfigureDiagnostics comes before there are several.
#ifndef GPUBOUND_TOOLS_CONSOLE_DIAGNOSTICS_H_
#define GPUBOUND_TOOLS_CONSOLE_DIAGNOSTICS_H_

#include <optional>
#include <string>
#include <string_view>

#include "analysis/base/status.h"

namespace gpubound {

enum class Level {
  kDebug,    // what was chosen and how long it took; on stderr with --verbose
  kInfo,     // what was done
  kWarning,  // what a result lacks
  kError,    // what could not be done; on stderr with --quiet, too
};

struct DiagnosticOptions {
  bool verbose = false;
  bool quiet = false;    // wins over verbose
  std::string log_file;  // appended to, and gets every level; empty: none
};

// Until it is called: no log file, and stderr gets all but kDebug. Takes the place of an earlier
// call. Returns why the log file cannot be written; then nothing has changed.
std::optional<Error> ConfigureDiagnostics(const DiagnosticOptions& options);

// |text| may have several lines. Never throws: what cannot be written is lost.
void Diagnose(Level level, std::string_view text) noexcept;

// Whether stderr gets this level.
bool StderrShows(Level level);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CONSOLE_DIAGNOSTICS_H_
