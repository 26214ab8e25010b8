// SPDX-License-Identifier: Apache-2.0
//
// Reads the states of this process's threads.
#include "libprofiler/process_end.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libprofiler/own_threads.h"
#include "libprofiler/process_info.h"

namespace gpubound {
namespace {

// The state letter in /proc/self/task/TID/stat: it follows the name, which ends at the last ')'.
// 'X' when there is no such thread.
char StateOf(long tid) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", tid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 'X';
  char text[512];
  const ssize_t length = read(fd, text, sizeof(text) - 1);
  close(fd);
  if (length <= 0) return 'X';
  text[length] = '\0';
  const char* end_of_name = std::strrchr(text, ')');
  return end_of_name == nullptr || end_of_name[1] != ' ' ? 'X' : end_of_name[2];
}

bool HasEnded(long tid) {
  const char state = StateOf(tid);
  return state == 'Z' || state == 'X';
}

// The signals that the main thread had blocked when it ended, as those have that it made, unless
// they chose otherwise.
sigset_t MaskOfMainThread() {
  sigset_t mask;
  sigemptyset(&mask);
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%d/status", static_cast<int>(getpid()));
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return mask;
  char line[256];
  unsigned long long blocked = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "SigBlk: %llx", &blocked) == 1) break;
  }
  std::fclose(file);
  for (int signal = 1; signal <= 64; ++signal) {
    if ((blocked >> (signal - 1) & 1) != 0) sigaddset(&mask, signal);
  }
  return mask;
}

void* Exit(void*) {
  // The C library, too, runs the handlers on whichever thread is the last, of the program's: where
  // this one was made, every signal is blocked, and what handlers start would inherit that.
  const sigset_t mask = MaskOfMainThread();
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::exit(0);
}

}  // namespace

bool IsLastThread() {
  if (StateOf(getpid()) != 'Z') return false;
  DIR* directory = opendir("/proc/self/task");
  if (directory == nullptr) return false;
  const long self = static_cast<long>(CurrentTid());
  bool alone = true;
  while (const dirent* entry = readdir(directory)) {
    const long tid = std::strtol(entry->d_name, nullptr, 10);
    if (tid <= 0 || tid == self || IsOwnThread(static_cast<uint32_t>(tid))) continue;
    if (!HasEnded(tid)) alone = false;
  }
  closedir(directory);
  return alone;
}

void ExitAsLastThread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, &Exit, nullptr) == 0) pthread_detach(thread);
}

}  // namespace gpubound
