// SPDX-License-Identifier: Apache-2.0
//
// A program that annotates, keeps its own account of it and then lives or dies in one of many ways:
// lifecycle_victim ACTION. tests/lifecycle compares its trace with its account.
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>

#include "tests/programs/victim.h"

namespace gpubound {

ProgressFile* Progress() {
  static ProgressFile* progress = [] {
    const char* path = std::getenv("VICTIM_PROGRESS");
    return MapProgress(path == nullptr ? "" : path);
  }();
  return progress;
}

void RequireWhatIsDone() {
  const int32_t self = static_cast<int32_t>(syscall(SYS_getpid));
  const uint32_t used = Progress()->used;
  for (uint32_t i = 0; i < used; ++i) {
    ProgressLine& line = Progress()->lines[i];
    if (line.pid == self) line.required = line.completed.load();
  }
}

uint64_t BlockedSignals() {
  uint64_t numbers = 0;
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  for (int number = 1; number < 64; ++number) {
    if (sigismember(&mask, number) == 1) numbers |= uint64_t{1} << number;
  }
  return numbers;
}

int WaitForChild(pid_t child) {
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace gpubound

int main(int argc, char** argv) {
  const std::string name = argc == 2 ? argv[1] : "";
  for (const auto& actions :
       {gpubound::EndActions(), gpubound::ChildActions(), gpubound::GroundActions(),
        gpubound::OddActions(), gpubound::SignalActions()}) {
    const auto action = actions.find(name);
    if (action != actions.end()) return action->second();
  }
  std::fprintf(stderr, "lifecycle_victim: no action '%s'\n", name.c_str());
  return 125;
}
