// SPDX-License-Identifier: Apache-2.0
//
// Writes beside the place and renames. One object, one thread.
#include "analysis/output/export/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <system_error>

#include "analysis/base/folder_entries.h"
#include "analysis/output/export/run_file_name.h"
#include "analysis/output/export/unfinished_outputs.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

std::string Reason(int error) { return std::generic_category().message(error); }

Error WriteError(const std::string& path, const std::string& found) {
  return {"writing the output", path, found, "a place that can be written and has room",
          "Choose another place."};
}

Error ExistsError(const std::string& path, const std::string& found, bool replaceable) {
  return {
      "writing the output", path, found, kNothingThere,
      replaceable ? "Choose another name, or replace it with --force." : "Choose another name."};
}

Error InUseError(const std::string& path, const std::string& found) {
  return {"writing the output", path, found, "a folder that another can take the place of",
          "Name a folder that is not there yet, such as " +
              (fs::path(path) / "tables").lexically_normal().string() + "."};
}

// Why no other folder can be put where the one at |path| is.
std::string WhyInUse(const std::string& path) {
  std::error_code error;
  if (fs::equivalent(path, fs::current_path(error), error)) return "the folder that this runs in";
  struct stat folder = {};
  struct stat parent = {};
  const bool known = stat(path.c_str(), &folder) == 0 && stat((path + "/..").c_str(), &parent) == 0;
  const bool root = known && folder.st_ino == parent.st_ino;
  return known && (root || folder.st_dev != parent.st_dev) ? "a folder that something is mounted on"
                                                           : "";
}

// |temporary| is empty where it has the name |path| afterwards.
Status RenameUnfinished(std::string* temporary, const std::string& path) {
  int failure = 0;
  EndUnfinished(*temporary, [&] {
    if (rename(temporary->c_str(), path.c_str()) == 0) return true;
    failure = errno;
    return false;
  });
  if (failure != 0) return WriteError(path, Reason(failure));
  temporary->clear();
  return Ok{};
}

// A file of an export, or a machine's folder of nothing but such.
bool IsOurs(const fs::directory_entry& entry, const std::string& extension) {
  std::error_code error;
  if (fs::is_regular_file(entry.symlink_status(error))) {
    return entry.path().extension() == extension;
  }
  if (!fs::is_directory(entry.symlink_status(error))) return false;
  return entry.path().filename().string().starts_with(kMachineFolder) &&
         std::ranges::all_of(EntriesOf(entry.path()), [&](const fs::directory_entry& inner) {
           return fs::is_regular_file(inner.symlink_status(error)) &&
                  inner.path().extension() == extension;
         });
}

std::string Untrailed(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

std::string FolderName(const std::string& text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string name;
  for (const char letter : text) {
    const auto byte = static_cast<unsigned char>(letter);
    const bool plain =
        (byte < 0x80 && std::isalnum(byte) != 0) || letter == '.' || letter == '-' || letter == '_';
    if (plain) {
      name += letter;
    } else {
      name += {'%', kDigits[byte >> 4], kDigits[byte & 0xf]};
    }
  }
  return name;
}

Result<std::unique_ptr<OutputFile>> OutputFile::Create(const std::string& path, bool replace) {
  if (IsPlaceOfRun(path)) return ExistsError(path, "the place of a file of the run itself", false);
  struct stat status = {};
  if (lstat(path.c_str(), &status) == 0) {
    const bool regular = S_ISREG(status.st_mode);
    if (!replace || !regular) {
      return ExistsError(path, regular ? "a file" : "something that is no file", regular);
    }
  }
  std::unique_ptr<OutputFile> file(new OutputFile(path, replace));  // NOLINT: private constructor
  std::string pattern = path + ".partial-XXXXXX";
  int descriptor = -1;
  int failure = 0;
  file->temporary_ = MakeUnfinished([&] {
    descriptor = mkostemp(pattern.data(), O_CLOEXEC);  // 0600
    failure = errno;
    return descriptor < 0 ? std::string() : pattern;
  });
  if (descriptor < 0) return WriteError(path, Reason(failure));
  file->file_.reset(fdopen(descriptor, "wb"));
  return file;
}

OutputFile::~OutputFile() {
  if (temporary_.empty()) return;
  EndUnfinished(temporary_, [&] {
    unlink(temporary_.c_str());
    return true;
  });
}

void OutputFile::Write(std::string_view bytes) {
  if (error_ == 0 && fwrite(bytes.data(), 1, bytes.size(), file_.get()) != bytes.size()) {
    error_ = errno;
  }
}

void OutputFile::Fail(int error) {
  if (error_ == 0) error_ = error;
}

Status OutputFile::Commit() {
  FILE* const file = file_.release();
  if (fclose(file) != 0 && error_ == 0) error_ = errno;
  if (error_ != 0) return WriteError(path_, Reason(error_));
  return TakeName();
}

// Without leave to replace, a file that has appeared there meanwhile stays.
Status OutputFile::TakeName() {
  if (!replace_ && link(temporary_.c_str(), path_.c_str()) == 0) return Ok{};  // and remove the old
  if (!replace_ && errno == EEXIST) return ExistsError(path_, "a file", true);
  // Replacing, or a filesystem without hard links.
  return RenameUnfinished(&temporary_, path_);
}

Result<std::unique_ptr<OutputFolder>> OutputFolder::Create(const std::string& given,
                                                           const std::string& extension,
                                                           bool replace) {
  const std::string named = Untrailed(given);
  std::string path = named;
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    if (!fs::is_directory(path, error))
      return ExistsError(named, "something that is no folder", false);
    // A link stays and leads to the new folder; names such as . cannot be given away.
    const fs::path target = fs::canonical(path, error);
    if (!error) path = target.string();
    if (const std::string why = WhyInUse(path); !why.empty()) return InUseError(given, why);
    const bool ours = std::ranges::all_of(EntriesOf(path), [&](const fs::directory_entry& entry) {
      return IsOurs(entry, extension);
    });
    const bool empty = fs::is_empty(path, error);
    if (!empty && !(replace && ours)) return ExistsError(named, "a folder that is not empty", ours);
  }
  std::unique_ptr<OutputFolder> folder(new OutputFolder(path, extension));  // NOLINT: private
  std::string pattern = path + ".partial-XXXXXX";
  int failure = 0;
  folder->temporary_ = MakeUnfinished([&] {
    const bool made = mkdtemp(pattern.data()) != nullptr;  // 0700
    failure = errno;
    return made ? pattern : std::string();
  });
  if (folder->temporary_.empty()) return WriteError(path, Reason(failure));
  return folder;
}

OutputFolder::~OutputFolder() {
  if (temporary_.empty()) return;
  EndUnfinished(temporary_, [&] {
    std::error_code ignored;
    fs::remove_all(temporary_, ignored);
    return true;
  });
}

Status OutputFolder::Commit() {
  // Create() has seen that there is nothing else in it.
  for (const fs::directory_entry& entry : EntriesOf(path_)) {
    std::error_code ignored;
    if (IsOurs(entry, extension_)) fs::remove_all(entry.path(), ignored);
  }
  return RenameUnfinished(&temporary_, path_);
}

}  // namespace gpubound
