// SPDX-License-Identifier: Apache-2.0
//
// Looks before it writes. No state.
#include "tools/commands/report_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "analysis/base/write_all.h"
#include "analysis/output/export/output_file.h"
#include "analysis/output/export/run_file_name.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr char kDoing[] = "writing the output";

// What the head of a page (tools/page/src/page.html), of a figure (analysis/output/page/plot.cc)
// and of JUnit's XML (analysis/output/check/check_output.cc) holds.
constexpr std::array<std::string_view, 3> kMarks = {
    "<meta name=\"generator\" content=\"gpubound\">", "<title>gpubound",
    "<testsuites name=\"gpubound\""};
constexpr size_t kHeadBytes = 4096;

bool IsOursOrEmpty(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), kHeadBytes);
  if (file.bad() || !file.is_open()) return false;
  head.resize(static_cast<size_t>(file.gcount()));
  return head.empty() || std::any_of(kMarks.begin(), kMarks.end(), [&](std::string_view mark) {
           return head.find(mark) != std::string::npos;
         });
}

Error PlaceError(const std::string& path, const std::string& found) {
  return Error{kDoing, path, found, "a place that can be written and has room",
               "Choose another place."};
}

// Into a pipe or a device.
Status WriteInto(const std::string& path, std::string_view content) {
  const int file = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  int error = file < 0 ? errno : WriteAll(file, content);
  if (file >= 0 && close(file) != 0 && error == 0) error = errno;
  if (error != 0) return PlaceError(path, std::generic_category().message(error));
  return Ok{};
}

}  // namespace

bool IsStdout(const std::string& path) { return path == "-" || path == "/dev/stdout"; }

Status CheckPlace(const std::string& path, bool force) {
  struct stat there = {};
  if (stat(path.c_str(), &there) != 0) return Ok{};  // to be made
  if (S_ISDIR(there.st_mode)) return PlaceError(path, "a folder");
  if (IsPlaceOfRun(path)) {
    return Error{kDoing, path, "a file of the run itself", kNothingThere, "Choose another name."};
  }
  if (force || !S_ISREG(there.st_mode) || IsOursOrEmpty(path)) return Ok{};
  return Error{kDoing, path, "a file that gpubound has not written", kNothingThere,
               "Choose another name, or replace it with --force."};
}

std::optional<int> RefusePlace(const std::string& path, bool force) {
  const bool is_file = !path.empty() && !IsStdout(path);
  const Status place = is_file ? CheckPlace(path, force) : Status(Ok{});
  if (place.ok()) return std::nullopt;
  PrintError(place.error());
  return place.error().expected == kNothingThere ? kExitWrongUse : kExitCheckFailed;
}

Status WriteWholeFile(const std::string& path, const std::string& content, bool force) {
  const Status place = CheckPlace(path, force);
  if (!place.ok()) return place.error();
  struct stat there = {};
  const bool exists = stat(path.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) return WriteInto(path, content);
  std::error_code error;
  const std::string target = exists ? std::filesystem::canonical(path, error).string() : path;
  if (error) return PlaceError(path, error.message());
  const auto file = OutputFile::Create(target, /*replace=*/exists);
  if (!file.ok()) return file.error();
  const mode_t permissions = there.st_mode & 0777;
  if (exists && chmod((*file)->temporary_path().c_str(), permissions) != 0) (*file)->Fail(errno);
  (*file)->Write(content);
  return (*file)->Commit();
}

int StoreAs(const std::string& path, const Result<std::string>& content, bool force,
            int no_content) {
  if (content.ok() && IsStdout(path)) return WriteStdout(*content);
  const Status written =
      content.ok() ? WriteWholeFile(path, *content, force) : Status(content.error());
  if (written.ok()) return kExitSuccess;
  PrintError(written.error());
  return content.ok() ? kExitCheckFailed : no_content;
}

}  // namespace gpubound
