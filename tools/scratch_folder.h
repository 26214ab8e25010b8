// SPDX-License-Identifier: Apache-2.0
//
// A folder for runs that nobody keeps; gone with the object.
#ifndef GPUBOUND_TOOLS_SCRATCH_FOLDER_H_
#define GPUBOUND_TOOLS_SCRATCH_FOLDER_H_

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "analysis/status.h"

namespace gpubound {

class ScratchFolder {
 public:
  ScratchFolder() {
    std::error_code ignored;
    const std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
    std::string pattern = (temporary / "gpubound-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Whether there is one; an error for the user where there is not.
  Status Made() const {
    if (!path_.empty()) return Ok{};
    return Error{"making a folder for runs", "$TMPDIR, else /tmp", "none could be made there",
                 "a place for temporary files", "Set TMPDIR to a folder that can be written to."};
  }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_SCRATCH_FOLDER_H_
