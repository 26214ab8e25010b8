// SPDX-License-Identifier: Apache-2.0
//
// Makes the run directory and recognises network filesystems.
#include "libprofiler/run_directory.h"

#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "libprofiler/log.h"
#include "proto/filesystem_kind.h"
#include "proto/run_path.h"

namespace gpubound {
namespace {

bool IsNetworkFilesystem(const std::string& path) {
  struct statfs info;
  if (statfs(path.c_str(), &info) != 0) return false;
  return KindOfFilesystem(static_cast<uint64_t>(info.f_type)).is_network;
}

std::string WorkingDirectory() {
  std::string path(PATH_MAX, '\0');  // not on a stack that may be 16 KiB
  return getcwd(path.data(), path.size()) == nullptr ? "." : path.c_str();
}

std::string DefaultPath(const ProcessStart& start) {
  const time_t seconds = static_cast<time_t>(start.realtime_ns / 1'000'000'000);
  tm utc = {};  // as the shim names it; local time would fix TZ before the program sets it
  gmtime_r(&seconds, &utc);
  char suffix[64];
  std::snprintf(suffix, sizeof(suffix), "-%04d%02d%02d-%02d%02d%02d-%llu.gpubound",
                utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min,
                utc.tm_sec, static_cast<unsigned long long>(start.pid));
  return WorkingDirectory() + "/" + ProgramName(CommandLine()) + suffix;
}

// Like mkdir -p, private to the user. True when |path| is a directory afterwards.
bool MakeDirectories(const std::string& path) {
  for (size_t slash = path.find('/', 1);; slash = path.find('/', slash + 1)) {
    const std::string part = path.substr(0, slash);
    if (mkdir(part.c_str(), 0700) != 0 && errno != EEXIST && slash == std::string::npos) {
      return false;
    }
    if (slash == std::string::npos) break;
  }
  struct stat info;
  if (stat(path.c_str(), &info) != 0) return false;
  if (S_ISDIR(info.st_mode)) return true;
  errno = ENOTDIR;
  return false;
}

}  // namespace

void MakeFileNameSafe(char* name) noexcept {
  for (; *name != '\0'; ++name) {
    const char c = *name;
    const bool safe = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_' || c == '.';
    if (!safe) *name = '_';
  }
}

bool RunDirectory::Open(const std::string& path, const ProcessStart& start) {
  path_ = path.empty() ? DefaultPath(start) : path;
  // Absolute, since the program may change its working directory before the next segment.
  if (path_[0] != '/') path_ = WorkingDirectory() + "/" + path_;
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
  if (path_.size() > kLongestRunPath) {
    LogOnce(
        "the path of the run directory has %zu bytes, and SQLite opens no trace whose path has "
        "more than "
        "%zu; nothing is recorded. Set GPUBOUND_RUN to a shorter one than %s",
        path_.size(), kLongestRunPath, path_.c_str());
    return false;
  }
  if (!MakeDirectories(path_) || access(path_.c_str(), W_OK | X_OK) != 0) {
    char reason[128];
    LogOnce(
        "cannot write to the run directory %s: %s; nothing is recorded. Set GPUBOUND_RUN to a "
        "writable directory",
        path_.c_str(), strerror_r(errno, reason, sizeof(reason)));
    return false;
  }
  is_network_ = IsNetworkFilesystem(path_);
  char identity[64];
  std::snprintf(identity, sizeof(identity), ".%llu.%lld",
                static_cast<unsigned long long>(start.pid),
                static_cast<long long>(start.realtime_ns));
  std::string host = HostName();
  MakeFileNameSafe(host.data());
  host_stem_ = path_ + "/" + host;
  stem_ = host_stem_ + identity;
  return true;
}

std::string RunDirectory::DatabasePath(uint32_t segment) const {
  return stem_ + "." + std::to_string(segment) + ".db";
}

std::string RunDirectory::LivePath() const { return stem_ + ".live"; }

std::string RunDirectory::LaterPath() const { return stem_ + ".later"; }

}  // namespace gpubound
