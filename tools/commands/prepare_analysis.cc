// SPDX-License-Identifier: Apache-2.0
//
// Installs the handler. No other state.
#include "tools/commands/prepare_analysis.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <string_view>

#include "analysis/base/large_pages.h"
#include "analysis/segments/sqlite.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr std::string_view kMessage =
    "gpubound: reading a run: found a part of a file that cannot be read, expected all that was "
    "there when it was opened. Did the disk fail, or did somebody cut the file? Copy the run and "
    "try again.\n";

void Stop(int) {
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(kExitUnreadable);
}

}  // namespace

void AllowManyFiles() {
  struct rlimit limit {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

void PrepareAnalysis() {
  AllowManyFiles();
  AllocateFromLargePages();
  Database::PrepareForThreads();
}

void PrepareAnalysisOfMapped() {
  PrepareAnalysis();
  struct sigaction action {};
  action.sa_handler = &Stop;
  if (sigaction(SIGBUS, &action, nullptr) == 0) Database::MapFiles();
}

}  // namespace gpubound
