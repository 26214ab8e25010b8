// SPDX-License-Identifier: Apache-2.0
//
// /proc/PID/task and sched_setaffinity. A thread that wakes up, as from SIGSTOP, is put on a
// processor that it may have before kill() returns, and stays there while it works.
#include "tools/verify/working_threads.h"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace gpubound {
namespace {

constexpr int64_t kLeastPart = 10;   // of the time: a tenth
constexpr double kInParallel = 1.2;  // of a turn; the rest is how late time is accounted for

// Threads of |process| and their processor time so far, ns. Empty where that cannot be read.
std::map<pid_t, int64_t> WorkOf(pid_t process) {
  std::map<pid_t, int64_t> worked_ns;
  std::error_code error;
  std::filesystem::directory_iterator tasks(fmt::format("/proc/{}/task", process), error);
  for (; !error && tasks != std::filesystem::directory_iterator(); tasks.increment(error)) {
    const std::string name = tasks->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    int64_t ns = 0;
    if (std::ifstream(tasks->path() / "schedstat") >> ns) worked_ns[thread] = ns;
  }
  return worked_ns;
}

}  // namespace

void WorkingThreads::Choose(pid_t process, int64_t turn_ns) {
  process_ = process;
  chosen_.clear();
  std::map<pid_t, int64_t> now_ns = WorkOf(process);
  const auto newly_ns = [this](const auto& thread) {
    const auto before = worked_ns_.find(thread.first);
    return thread.second - (before == worked_ns_.end() ? 0 : before->second);
  };
  int64_t all_ns = 0;
  for (const auto& thread : now_ns) all_ns += newly_ns(thread);
  const bool in_parallel = static_cast<double>(all_ns) > kInParallel * static_cast<double>(turn_ns);
  if (turn_ns == 0 || all_ns == 0) {
    chosen_.push_back(process);
  } else if (!in_parallel) {
    for (const auto& thread : now_ns) {
      if (newly_ns(thread) >= all_ns / kLeastPart) chosen_.push_back(thread.first);
    }
  }
  worked_ns_ = std::move(now_ns);
}

void WorkingThreads::Place(const Processors& place) {
  place_ = place;
  for (const pid_t thread : chosen_) {
    const Processors before = Processors::Allowed(thread);
    if (!before.Contain(place)) continue;
    place.Hold(thread);
    placed_.push_back({thread, before});
  }
}

void WorkingThreads::Release() {
  for (const Placed& placed : placed_) placed.before.Hold(placed.thread);
  if (!placed_.empty()) {
    // Those that they have started meanwhile.
    for (const auto& [thread, ns] : WorkOf(process_)) {
      if (worked_ns_.contains(thread) || Processors::Allowed(thread) != place_) continue;
      placed_.front().before.Hold(thread);
    }
  }
  placed_.clear();
}

}  // namespace gpubound
