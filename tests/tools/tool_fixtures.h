// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the command share: a folder of their own, an environment that is a map, and the
// two output streams caught. One thread.
#ifndef GPUBOUND_TESTS_TOOLS_TOOL_FIXTURES_H_
#define GPUBOUND_TESTS_TOOLS_TOOL_FIXTURES_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "tools/console/console.h"

namespace gpubound {

// A folder that is empty at first and gone at the end.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gpubound-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(File(name), std::ios::binary) << text;
    return File(name);
  }

 private:
  std::string path_;
};

inline std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline mode_t ModeOf(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

// What `gpubound run` leaves of a program in which nothing was recorded; returns |path|.
inline std::string WriteEmptyRun(const std::string& path) {
  std::filesystem::create_directory(path);
  std::ofstream(path + "/run.json")
      << R"({"format":"gpubound.run.v1","command":["true"],"cwd":"/","host":"h","root_pid":4,)"
      << R"("start_monotonic_ns":1,"start_realtime_ns":1,"end_monotonic_ns":9000,"exit_code":0,)"
      << R"("version":"1"})";
  return path;
}

// An environment without side effects.
inline GetVariable FakeVariables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> const char* {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  };
}

// Runs |action| and returns what it wrote.
struct Captured {
  int status = -1;
  std::string out;
  std::string err;
};

inline Captured Capture(const std::function<int()>& action) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Captured captured;
  captured.status = action();
  captured.out = testing::internal::GetCapturedStdout();
  captured.err = testing::internal::GetCapturedStderr();
  return captured;
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_TOOLS_TOOL_FIXTURES_H_
