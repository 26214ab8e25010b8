// SPDX-License-Identifier: Apache-2.0
//
// A line that counts seconds.
#include "tools/console/progress_note.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <utility>

#include "analysis/base/text_table.h"
#include "tools/console/console.h"
#include "tools/console/diagnostics.h"

namespace gpubound {

ProgressNote::ProgressNote(const std::string& what) : what_(EscapeName(what)) {
  if (isatty(STDERR_FILENO) == 1 && StderrShows(Level::kInfo))
    ticker_ = std::thread([this] { Tick(); });
}

ProgressNote::~ProgressNote() {
  if (!ticker_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  over_changed_.notify_one();
  ticker_.join();
}

void ProgressNote::Tick() {
  std::unique_lock lock(mutex_);
  int seconds = 0;
  while (!over_changed_.wait_for(lock, std::chrono::seconds(1), [this] { return over_; })) {
    WriteStderr(fmt::format("\rgpubound: {} ... {} s", what_, ++seconds));
  }
  if (seconds > 0) WriteStderr("\r\x1b[K");
}

}  // namespace gpubound
