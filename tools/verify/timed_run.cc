// SPDX-License-Identifier: Apache-2.0
//
// posix_spawn and wait4 between two readings of a clock, and the end of what was said meanwhile.
#include "tools/verify/timed_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <system_error>

#include "analysis/base/text_table.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/argv.h"

namespace gpubound {
namespace {

int64_t NsOf(const timeval& time) {
  return int64_t{time.tv_sec} * 1'000'000'000 + int64_t{time.tv_usec} * 1'000;
}

}  // namespace

void NoteEnd(int status, const rusage& used, TimedRun* run) {
  run->cpu_ns = NsOf(used.ru_utime) + NsOf(used.ru_stime);
  run->exit_status = WIFSIGNALED(status) ? kExitSignalBase + WTERMSIG(status) : WEXITSTATUS(status);
}

Error NotStarted(const std::vector<std::string>& command, int error) {
  return {"starting", EscapeName(command.front()), std::generic_category().message(error),
          "a program that runs", "Check its name and that it is executable."};
}

Result<TimedRun> RunTimed(const std::vector<std::string>& command, const RunInput& input) {
  const std::vector<char*> arguments = ArgvOf(command);
  const std::vector<char*> variables = ArgvOf(input.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, input.stderr_path.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const auto begin = std::chrono::steady_clock::now();
  TimedRun run;
  const int error =
      posix_spawnp(&run.pid, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return NotStarted(command, error);
  int status = 0;
  rusage used = {};
  pid_t ended = 0;
  do {
    ended = wait4(run.pid, &status, 0, &used);
  } while (ended < 0 && errno == EINTR);
  if (ended < 0) {
    return Error{"waiting for", EscapeName(command.front()), std::generic_category().message(errno),
                 "how it ended", "Start this again from a shell, which leaves SIGCHLD alone."};
  }
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  run.wall_ns = took.count();
  NoteEnd(status, used, &run);
  return run;
}

std::vector<std::string> LastLines(const std::string& path, size_t count) {
  constexpr std::streamoff kBytes = 8192;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kBytes));
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty()) lines.push_back(std::move(line));
  }
  if (lines.size() > count) lines.erase(lines.begin(), lines.end() - static_cast<long>(count));
  return lines;
}

}  // namespace gpubound
