// SPDX-License-Identifier: Apache-2.0
//
// Reads the states of this process's threads.
#include "libprofiler/process_end.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
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

void* Exit(void*) {
  // The C library, too, runs the handlers on whichever thread is the last.
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
