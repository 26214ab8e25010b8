// SPDX-License-Identifier: Apache-2.0
//
// A file or folder that is there whole or not at all: it is written under another name beside its
// place and takes its name when it is complete. What is not committed is removed. Private to its
// owner (0600, 0700). One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_OUTPUT_FILE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_OUTPUT_FILE_H_

#include <stdio.h>

#include <memory>
#include <string>
#include <string_view>

#include "analysis/base/status.h"

namespace gpubound {

// `expected` of the error about a place that is taken.
inline constexpr char kNothingThere[] = "nothing there";

class OutputFile {
 public:
  // Makes an empty file. An error where |path| is there already, unless |replace|: only a regular
  // file is ever replaced, and never a file of a run itself.
  static Result<std::unique_ptr<OutputFile>> Create(const std::string& path, bool replace);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Failures are remembered until Commit().
  void Write(std::string_view bytes);

  // Makes Commit() fail: whoever writes could not go on, for |error| (errno).
  void Fail(int error);

  // The file under the name that it has until Commit(), for those who write it themselves.
  const std::string& temporary_path() const { return temporary_; }

  Status Commit();

 private:
  struct Close {
    void operator()(FILE* file) const { fclose(file); }
  };
  OutputFile(std::string path, bool replace) : path_(std::move(path)), replace_(replace) {}
  Status TakeName();

  const std::string path_;
  const bool replace_;
  std::string temporary_;  // empty once it has its name
  std::unique_ptr<FILE, Close> file_;
  int error_ = 0;  // errno of the first failure
};

// What a machine has of an export in a folder of its own is in kMachineFolder + FolderName(its host).
inline constexpr char kMachineFolder[] = "machine=";

// |text| as the name of a folder: what is no letter, digit, dot, dash or underscore becomes %XX.
std::string FolderName(const std::string& text);

// A folder likewise, of files that end in |extension| (".csv"), and folders of machines with such files. One
// that is there must be empty, or |replace| and hold nothing but those.
class OutputFolder {
 public:
  static Result<std::unique_ptr<OutputFolder>> Create(const std::string& path,
                                                      const std::string& extension, bool replace);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;

  const std::string& temporary_path() const { return temporary_; }
  Status Commit();

 private:
  OutputFolder(std::string path, std::string extension)
      : path_(std::move(path)), extension_(std::move(extension)) {}

  const std::string path_;
  const std::string extension_;
  std::string temporary_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_OUTPUT_FILE_H_
