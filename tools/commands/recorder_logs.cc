// SPDX-License-Identifier: Apache-2.0
//
// Prints the files HOST.PID.START.log by name, and so by process.
#include "tools/commands/recorder_logs.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include "analysis/base/text_table.h"

namespace gpubound {

std::string RenderRecorderLogs(const std::string& run) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  std::error_code ignored;
  for (fs::directory_iterator entry(run, ignored), end; entry != end; entry.increment(ignored)) {
    if (entry->path().extension() == ".log") paths.push_back(entry->path());
  }
  std::sort(paths.begin(), paths.end());
  std::string text;
  for (const fs::path& path : paths) {
    text += "\n" + EscapeName(path.filename().string()) + "\n";
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) text += "  " + EscapeName(line) + "\n";
  }
  return text;
}

}  // namespace gpubound
