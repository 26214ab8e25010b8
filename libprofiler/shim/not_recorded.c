/* SPDX-License-Identifier: Apache-2.0
 *
 * Says that this process had something to record and could not: one line on stderr, and a file in
 * the run directory, HOST.PID.START.unrecorded, so that no report of the run says "complete". The
 * core writes the same file for its own reasons (libprofiler/unrecorded.cc); whoever comes second
 * says nothing.
 *
 * Any thread, also in a fork child whose parent held any lock: no lock, no allocation.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprofiler/shim/shim.h"

/* Of a run directory in which no file could be made: kUnrecordedMode in proto/run_path.h. */
#define RUN_MODE 0700
#define UNRECORDED_MODE 01700

enum { kMaxPath = 1024, kMaxLine = 1024, kMaxHost = 256 };

static const char* RunDirectory(void) {
  static const char kName[] = "GPUBOUND_RUN=";
  for (const char* next = shim_info.variables; *next != '\0'; next += strlen(next) + 1) {
    if (strncmp(next, kName, sizeof(kName) - 1) == 0) return next + sizeof(kName) - 1;
  }
  return NULL;
}

/* As FileNameSafe in libprofiler/run_directory.cc. */
static void MakeSafe(char* name) {
  for (; *name != '\0'; ++name) {
    const char c = *name;
    const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!safe) *name = '_';
  }
}

/* HOST.PID.START.suffix in `run`, for writing; -1 with errno where there is none to be had. */
static int OpenOwnFile(const char* run, const char* suffix, int flags) {
  char path[kMaxPath];
  char host[kMaxHost] = "";
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') memcpy(host, "localhost", 10);
  MakeSafe(host);
  const int used =
      snprintf(path, sizeof(path), "%s/%s.%llu.%lld.%s", run, host,
               (unsigned long long)shim_info.pid, (long long)shim_info.realtime_ns, suffix);
  if (used <= 0 || used >= (int)sizeof(path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  mkdir(run, 0700);
  return open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | flags, 0600);
}

/* False where the file is there already. */
static bool LeaveFile(const char* line, size_t length) {
  const char* run = RunDirectory();
  if (run == NULL) return true;
  const int fd = OpenOwnFile(run, "unrecorded", O_EXCL);
  if (fd < 0) {
    if (errno == EEXIST) return false;
    struct stat folder;
    if (errno != ENAMETOOLONG && stat(run, &folder) == 0 && (folder.st_mode & 07777) == RUN_MODE) {
      chmod(run, UNRECORDED_MODE);
    }
    return true;
  }
  const ssize_t ignored = write(fd, line, length);
  (void)ignored;
  close(fd);
  return true;
}

void ShimLogStart(const char* run) {
  char line[kMaxLine];
  const int fd = OpenOwnFile(run, "log", O_APPEND);
  if (fd < 0) return;
  const int length = snprintf(line, sizeof(line),
                              "preloaded into %.900s, which records once it uses CUDA, NVTX or a "
                              "scope\n",
                              program_invocation_name);
  const ssize_t ignored = write(fd, line, (size_t)length);
  (void)ignored;
  close(fd);
}

void ShimSayNotRecorded(const char* what, const char* why) {
  static const char kPrefix[] = "gpubound: ";
  static atomic_bool said = false;
  if (atomic_exchange(&said, true)) return;
  char line[kMaxLine];
  int length = snprintf(line, sizeof(line), "%sprocess %llu is not recorded: %s%s%s\n", kPrefix,
                        (unsigned long long)shim_info.pid, what, *why == '\0' ? "" : ": ", why);
  if (length <= 0) return;
  if (length >= (int)sizeof(line)) {
    length = sizeof(line) - 1;
    line[length - 1] = '\n';
  }
  const size_t prefix = sizeof(kPrefix) - 1;
  if (!LeaveFile(line + prefix, (size_t)length - prefix)) return;
  /* One write, so that lines of several processes do not mix; nothing to do without a stderr. */
  const ssize_t ignored = write(STDERR_FILENO, line, (size_t)length);
  (void)ignored;
}
