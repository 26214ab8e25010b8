// SPDX-License-Identifier: Apache-2.0
//
// Names, makes and finds run directories.
#include "tools/launch/run_directory.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>
#include <thread>

#include "analysis/base/folder_entries.h"
#include "analysis/segments/run_info.h"
#include "proto/run_path.h"
#include "tools/launch/run_record.h"

namespace gpubound {
namespace fs = std::filesystem;
namespace {

constexpr size_t kMaxNameBytes = 64;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

std::string SafeName(std::string_view program) {
  std::string name;
  for (const char c : program.substr(program.rfind('/') + 1).substr(0, kMaxNameBytes)) {
    const bool inner = !name.empty() && (c == '.' || c == '-');
    name += IsPlain(c) || inner ? c : '_';
  }
  return name.empty() ? "_" : name;
}

std::string ErrorName(int error) { return std::generic_category().message(error); }

Error CannotMake(const std::string& path, int error) {
  return {"making the run directory", path, ErrorName(error), "a folder that can be written",
          "Choose another place with -o DIR."};
}

// An existing directory, which nobody else's data may be mixed with.
Result<RunDirectory> TakeExisting(const std::string& path, bool join) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return Error{"making the run directory", path, "a file", "a directory, or nothing",
                 "Choose another place with -o DIR."};
  }
  const bool empty = fs::is_empty(path, error);
  if (error) return CannotMake(path, error.value());
  if (!empty && !join) {
    return Error{"making the run directory", path,
                 HoldsTrace(path) ? "the trace of another run" : "a directory with other files",
                 "a directory that is empty or not there",
                 "Choose another with -o DIR, or remove that one."};
  }
  if (access(path.c_str(), W_OK | X_OK) != 0) return CannotMake(path, errno);
  return RunDirectory{path, false};
}

}  // namespace

std::string DefaultRunName(std::string_view program, std::time_t now, pid_t pid) {
  return fmt::format("{}-{:%Y%m%d-%H%M%S}-{}{}", SafeName(program), fmt::gmtime(now), pid,
                     kRunSuffix);
}

Result<RunDirectory> MakeRunDirectory(const std::string& path, bool join) {
  std::error_code error;
  fs::path normal = fs::absolute(path, error).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();  // "dir/"
  const std::string absolute = normal.string();
  if (error) {
    return Error{"making the run directory", path, error.message(), "a current directory",
                 "Change to a folder that exists, or give -o an absolute path."};
  }
  if (absolute.size() > kLongestRunPath) {
    return Error{
        "making the run directory", absolute, fmt::format("a path of {} bytes", absolute.size()),
        fmt::format("at most {}, as SQLite opens no files with a longer path", kLongestRunPath),
        "Choose a shorter one with -o DIR."};
  }
  fs::create_directories(fs::path(absolute).parent_path(), error);
  std::error_code ignored;
  if (error && !fs::is_directory(fs::path(absolute).parent_path(), ignored)) {
    return CannotMake(absolute, error.value());
  }
  if (mkdir(absolute.c_str(), 0700) == 0) return RunDirectory{absolute, true};
  if (errno != EEXIST) return CannotMake(absolute, errno);
  return TakeExisting(absolute, join);
}

Result<RunDirectory> MakeRunDirectoryOfJob(const std::string& path, const std::string& job) {
  // Between the folder and its record the other launcher looks for its files, and others of the
  // job may have put records of their processes there.
  constexpr auto kLongest = std::chrono::seconds(10);
  constexpr auto kPause = std::chrono::milliseconds(20);
  for (const auto until = std::chrono::steady_clock::now() + kLongest;;) {
    Result<RunDirectory> made = MakeRunDirectory(path, /*join=*/false);
    if (made.ok()) return made;
    const std::string recorded = JobRecordedIn(path);
    if (recorded == job) return MakeRunDirectory(path, /*join=*/true);
    std::error_code ignored;
    const bool has_record = fs::exists(fs::path(path) / kRunInfoFile, ignored);
    if (has_record || !fs::is_directory(path, ignored) ||
        std::chrono::steady_clock::now() > until) {
      return made;
    }
    std::this_thread::sleep_for(kPause);
  }
}

Result<RunDirectory> MakeNamedRunDirectoryOfJob(std::string_view program, const std::string& job) {
  constexpr int kMost = 1000;
  const std::string name = SafeName(program) + "-" + SafeName(job);
  for (int number = 1;; ++number) {
    const std::string path = name + (number == 1 ? "" : "-" + std::to_string(number)) + kRunSuffix;
    Result<RunDirectory> made = MakeRunDirectoryOfJob(path, job);
    if (made.ok() || number == kMost || !HoldsTrace(path)) return made;
  }
}

void RemoveIfEmpty(const RunDirectory& directory) {
  if (directory.created) rmdir(directory.path.c_str());
}

bool HoldsTrace(const std::string& path) {
  return std::ranges::any_of(EntriesOf(path), [](const fs::directory_entry& entry) {
    const std::string extension = entry.path().extension().string();
    return extension == ".db" || extension == ".live";
  });
}

uint64_t TraceBytes(const std::string& path) {
  uint64_t bytes = 0;
  for (const fs::directory_entry& entry : EntriesOf(path)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".db" && extension != ".db-wal") continue;
    std::error_code error;
    const uintmax_t size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

Result<std::string> NewestRun(const fs::path& folder) {
  std::error_code error;
  std::string newest;
  fs::file_time_type newest_time;
  for (const fs::directory_entry& entry : EntriesOf(folder, &error)) {
    std::error_code ignored;
    if (entry.path().extension() != kRunSuffix || !entry.is_directory(ignored)) continue;
    const fs::file_time_type time = entry.last_write_time(ignored);
    const std::string name = entry.path().filename().string();
    if (ignored) continue;
    if (!newest.empty() && (time < newest_time || (time == newest_time && name < newest))) continue;
    newest = name;
    newest_time = time;
  }
  if (!newest.empty()) return (folder == "." ? fs::path(newest) : folder / newest).string();
  return Error{"looking for a run in", folder == "." ? "the current directory" : folder.string(),
               error ? error.message() : "no directory that ends in " + std::string(kRunSuffix),
               "the directory of a run",
               "Name it (gpubound report RUN), or record one first: gpubound run -- CMD."};
}

Result<std::string> RunOrNewest(const std::string& path) {
  return path.empty() ? NewestRun(".") : Result<std::string>(path);
}

}  // namespace gpubound
