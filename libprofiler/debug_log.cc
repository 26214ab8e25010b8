// SPDX-License-Identifier: Apache-2.0
//
// The path is kept for one process: a fork child finds another process's and logs nothing until it
// has started its own.
#include "libprofiler/debug_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "libprofiler/clock.h"
#include "libprofiler/log.h"
#include "libprofiler/run_directory.h"
#include "libprofiler/settings.h"
#include "libprofiler/signal_shield.h"
#include "proto/run_path.h"

namespace gpubound {
namespace {

constexpr size_t kLongestLine = 2048;

// Written before g_process, by the one thread that starts to record or says why it cannot.
constinit char g_path[kLongestRunPath + 512] = {};
constinit int64_t g_begin_ns = 0;
constinit std::atomic<pid_t> g_process{0};  // 0: nothing is logged

bool IsAsked() {
  const char* const value = EnvValue("GPUBOUND_LOG");
  if (std::strcmp(value, "debug") == 0) return true;
  if (*value != '\0') LogOnce("GPUBOUND_LOG is '%s', expected debug; nothing is logged", value);
  return false;
}

}  // namespace

void StartDebugLog(const char* run, const ProcessStart& start) noexcept {
  if (*run == '\0' || g_process == getpid() || !IsAsked()) return;
  char host[256] = {};
  if (gethostname(host, sizeof(host) - 1) != 0 || host[0] == '\0') std::strcpy(host, "localhost");
  MakeFileNameSafe(host);
  const int length = std::snprintf(g_path, sizeof(g_path), "%s/%s.%llu.%lld.log", run, host,
                                   static_cast<unsigned long long>(start.pid),
                                   static_cast<long long>(start.realtime_ns));
  if (length <= 0 || static_cast<size_t>(length) >= sizeof(g_path)) return;
  mkdir(run, 0700);
  g_begin_ns = start.monotonic_ns;
  g_process = getpid();
}

void DebugLog(const char* format, ...) noexcept {
  if (g_process.load(std::memory_order_acquire) == 0 || g_process != getpid()) return;
  const int saved_errno = errno;
  char line[kLongestLine];
  const double seconds = static_cast<double>(static_cast<int64_t>(ReadMonotonicNs()) - g_begin_ns);
  const auto prefix = static_cast<size_t>(
      std::snprintf(line, sizeof(line), "%.6f s, thread %u: ", seconds / 1e9, CurrentTid()));
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line + prefix, sizeof(line) - prefix - 1, format, arguments);
  va_end(arguments);
  size_t length = std::strlen(line);
  std::replace_if(
      line, line + length, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  line[length++] = '\n';
  const CancelBlock no_cancel;
  const int fd = open(g_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0) {
    [[maybe_unused]] const ssize_t written = write(fd, line, length);
    close(fd);
  }
  errno = saved_errno;
}

}  // namespace gpubound
