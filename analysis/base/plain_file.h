// SPDX-License-Identifier: Apache-2.0
//
// What a reader may open in a folder that anybody filled: opening a pipe waits for its other end,
// for ever if there is none, and opening a device can do anything.
#ifndef GPUBOUND_ANALYSIS_BASE_PLAIN_FILE_H_
#define GPUBOUND_ANALYSIS_BASE_PLAIN_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>

namespace gpubound {

inline constexpr char kNoPlainFile[] = "a pipe, a device or a folder, not a file";

// Whether |path|, or what it links to, is there and is no file.
inline bool IsNoPlainFile(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  return std::filesystem::exists(status) && !std::filesystem::is_regular_file(status);
}

// Whether |path| is there and not empty.
inline bool HasContent(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return !error && size > 0;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_PLAIN_FILE_H_
