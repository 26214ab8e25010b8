// SPDX-License-Identifier: Apache-2.0
#include "libprofiler/unrecorded.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "libprofiler/debug_log.h"
#include "libprofiler/run_directory.h"
#include "libprofiler/settings.h"
#include "proto/run_path.h"

namespace gpubound {

bool LeaveUnrecorded(const ProcessStart& start, const char* why) noexcept {
  const char* const run = EnvValue("GPUBOUND_RUN");
  if (*run == '\0') return true;
  StartDebugLog(run, start);
  DebugLog("nothing is recorded: %s", why);
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') std::strcpy(host, "localhost");
  MakeFileNameSafe(host);
  char path[kLongestRunPath + 512];
  const int length = std::snprintf(path, sizeof(path), "%s/%s.%llu.%lld.unrecorded", run, host,
                                   static_cast<unsigned long long>(start.pid),
                                   static_cast<long long>(start.realtime_ns));
  if (length <= 0 || static_cast<size_t>(length) >= sizeof(path)) return true;
  mkdir(run, 0700);
  const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) {
    if (errno == EEXIST) return false;
    struct stat folder;
    if (stat(run, &folder) == 0 && (folder.st_mode & 07777) == kRunMode) {
      chmod(run, kUnrecordedMode);
    }
    return true;
  }
  [[maybe_unused]] const ssize_t written = write(fd, why, std::strlen(why));
  close(fd);
  return true;
}

}  // namespace gpubound
