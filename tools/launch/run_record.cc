// SPDX-License-Identifier: Apache-2.0
//
// Writes run.json beside itself and moves it into place, or over itself on a full disk.
#include "tools/launch/run_record.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>

#include "analysis/base/folder_entries.h"
#include "analysis/base/write_all.h"
#include "analysis/segments/run_info.h"
#include "analysis/segments/segment.h"
#include "analysis/segments/trace_file_name.h"

namespace gpubound {
namespace {

// What the end of a run adds to its record: two numbers, and forty bytes for each process.
constexpr off_t kRoomForTheEnd = 8192;

bool WriteFile(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const int error = WriteAll(file, text);
  // Where it fails the rest of the file's last block is room for most runs.
  if (error == 0) {
    fallocate(file, FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(text.size()) + kRoomForTheEnd);
  }
  const bool closed = close(file) == 0;  // where a network filesystem reports a full disk
  if (error != 0) errno = error;
  return error == 0 && closed;
}

// Writes |text| over the longer or shorter one in |path| if the file has that room already.
bool WriteInPlace(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return false;
  struct stat status = {};
  constexpr blkcnt_t kBlockBytes = 512;
  const auto size = static_cast<off_t>(text.size());
  const bool fits = fstat(file, &status) == 0 && status.st_blocks * kBlockBytes >= size;
  const bool written = fits && WriteAll(file, text) == 0 && ftruncate(file, size) == 0;
  return close(file) == 0 && written;
}

// On a full disk. Rather without who was recorded than without the end.
bool WriteOver(const std::string& path, RunRecord record) {
  if (WriteInPlace(path, RenderRunRecord(record))) return true;
  record.recorded.clear();
  return WriteInPlace(path, RenderRunRecord(record));
}

// Puts |from| at |to| unless something is there: 0, or an errno (EEXIST). Unlike rename, link(2)
// says so in one step; a filesystem without hard links gets two.
int PlaceNew(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) == 0) {
    unlink(from.c_str());
    return 0;
  }
  if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS) return errno;
  if (access(to.c_str(), F_OK) == 0) return EEXIST;
  return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

const char* RemedyFor(int error) {
  switch (error) {
    case ENOENT:
      return "The run's folder was removed while the program ran, and what was recorded with it: "
             "leave it there until the program has ended, or choose another place with -o DIR.";
    case ENOSPC:
    case EDQUOT:
      return "Free some space or choose another place with -o DIR.";
    default:
      return "Choose another place with -o DIR.";
  }
}

}  // namespace

std::vector<std::string> RecordedIn(const std::string& run_directory) {
  std::set<std::string> names;
  for (const std::filesystem::directory_entry& entry : EntriesOf(run_directory)) {
    const auto name = ParseTraceFileName(entry.path().filename().string());
    if (!name) continue;
    const ProcessIdentity& process = name->identity;
    names.insert(fmt::format("{}.{}.{}", process.host, process.pid, process.start_realtime_ns));
  }
  return {names.begin(), names.end()};
}

std::string JobRecordedIn(const std::string& run_directory) {
  std::ifstream file(std::filesystem::path(run_directory) / kRunInfoFile);
  const auto record = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object() || record.contains("end_monotonic_ns")) return {};
  const auto job = record.find("job");
  return job != record.end() && job->is_string() ? job->get<std::string>() : "";
}

std::string RenderRunRecord(const RunRecord& record) {
  nlohmann::ordered_json json = {
      {"format", kRunInfoFormat},
      {"version", GPUBOUND_VERSION},
      {"command", record.command},
      {"cwd", record.cwd},
      {"host", record.host},
      {"boot_id", record.boot_id},
      {"job", record.job},
      {"root_pid", record.root_pid},
      {"start_monotonic_ns", record.start_monotonic_ns},
      {"start_realtime_ns", record.start_realtime_ns},
  };
  if (record.end_monotonic_ns) json["end_monotonic_ns"] = *record.end_monotonic_ns;
  if (record.exit_code) json["exit_code"] = *record.exit_code;
  if (record.signal) json["signal"] = *record.signal;
  if (record.end_monotonic_ns) json["recorded"] = record.recorded;
  // Arguments are bytes; JSON is UTF-8.
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

void RemoveRunRecord(const std::string& run_directory) {
  unlink((run_directory + "/" + kRunInfoFile).c_str());
}

void NoteReplacedDirectory(const std::string& run_directory, const RunRecord& record) {
  std::error_code ignored;
  if (std::filesystem::exists(run_directory + "/" + kRunInfoFile, ignored)) return;
  const std::string stem = TraceFileStem({record.host, record.root_pid, record.start_realtime_ns});
  WriteFile(run_directory + "/" + stem + ".unrecorded",
            "the run's directory was moved, removed or covered while the command ran, and what was "
            "recorded in it until then is not here");
}

Result<bool> WriteRunRecord(const std::string& run_directory, const RunRecord& record,
                            bool replace) {
  const std::string path = run_directory + "/" + kRunInfoFile;
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  int error = 0;
  if (!WriteFile(temporary, RenderRunRecord(record))) {
    error = errno;
  } else if (!replace) {
    error = PlaceNew(temporary, path);
  } else if (rename(temporary.c_str(), path.c_str()) != 0) {
    error = errno;
  }
  if (error == 0) return true;
  unlink(temporary.c_str());
  if (replace && (error == ENOSPC || error == EDQUOT) && WriteOver(path, record)) return true;
  if (error == EEXIST && !replace) return false;
  return Error{"writing", path, std::generic_category().message(error), "a file with the command",
               RemedyFor(error)};
}

}  // namespace gpubound
