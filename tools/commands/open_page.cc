// SPDX-License-Identifier: Apache-2.0
//
// Starts a browser and does not wait for it. No state.
#include "tools/commands/open_page.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace gpubound {
namespace {

bool Start(const std::string& program, const std::string& url) {
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // A browser says much that is nothing to who reads reports.
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  std::string name = program;
  std::string argument = url;
  std::array<char*, 3> words = {name.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int failed = posix_spawnp(&pid, name.c_str(), &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return failed == 0;
}

}  // namespace

std::string PageInRun(const std::string& run) {
  return (std::filesystem::path(run) / "report.html").string();
}

std::string FileUrl(const std::string& path) {
  constexpr std::string_view kPlain = "/-_.~";
  std::error_code ignored;
  const std::filesystem::path whole = std::filesystem::absolute(path, ignored);
  std::string url = "file://";
  for (const char c : whole.empty() ? path : whole.lexically_normal().string()) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte) != 0) || kPlain.find(c) != std::string_view::npos) {
      url += c;
      continue;
    }
    std::array<char, 4> text;
    std::snprintf(text.data(), text.size(), "%%%02X", byte);
    url += text.data();
  }
  return url;
}

bool OpenInBrowser(const std::string& path) {
  const std::string url = FileUrl(path);
  const char* const chosen = std::getenv("BROWSER");
  if (chosen != nullptr && *chosen != '\0') return Start(chosen, url);
  return Start("xdg-open", url) || Start("open", url);
}

}  // namespace gpubound
