// SPDX-License-Identifier: Apache-2.0
//
// A directory of its own for one test, removed with it.
#ifndef GPUBOUND_TESTS_LIBPROFILER_TEMP_DIRECTORY_H_
#define GPUBOUND_TESTS_LIBPROFILER_TEMP_DIRECTORY_H_

#include <string>
#include <vector>

namespace gpubound {

class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  const std::string& path() const { return path_; }
  // A path below that does not exist yet.
  std::string Below(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Files in |directory| whose name ends in |suffix|, sorted.
std::vector<std::string> FilesEndingIn(const std::string& directory, const std::string& suffix);

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIBPROFILER_TEMP_DIRECTORY_H_
