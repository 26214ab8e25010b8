// SPDX-License-Identifier: Apache-2.0
//
// Starts `python3 -m gpubound.cluster`.
#include "tools/commands/cluster_parts.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "analysis/base/status.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/argv.h"

namespace gpubound {
namespace {

constexpr char kClusterPython[] = "python3";

int Complain(const std::string& object, const std::string& found) {
  PrintError(Error{"reducing the run on an engine", object, found, "python3 with gpubound",
                   "pip install gpubound there, or make the parts with gpubound part."});
  return kExitUnreadable;
}

}  // namespace

PartsOfCluster::~PartsOfCluster() {
  if (!path_.empty()) unlink(path_.c_str());
}

int PartsOfCluster::Make(const std::string& run, const ClusterQuestion& question) {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "gpubound-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) return Complain(path, std::generic_category().message(errno));
  close(file);
  path_ = path;
  std::string ranges;
  for (const std::string& name : question.operations) ranges += (ranges.empty() ? "" : ",") + name;
  std::vector<std::string> words = {
      kClusterPython, "-m", "gpubound.cluster", run, "--on", question.engine, "-o", path_};
  if (question.timeout_s > 0) {
    words.push_back("--timeout=" + std::to_string(question.timeout_s));
  }
  if (!ranges.empty()) words.push_back("--operations=" + ranges);
  const std::vector<char*> argv = ArgvOf(words);
  pid_t child = 0;
  const int failed = posix_spawnp(&child, kClusterPython, nullptr, nullptr, argv.data(), environ);
  if (failed != 0) return Complain(kClusterPython, std::generic_category().message(failed));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (!WIFEXITED(status)) return Complain(run, "a python3 that was killed");
  const int code = WEXITSTATUS(status);
  if (code == 0 || code == kExitWrongUse || code == kExitUnreadable) return code;  // it said why
  return Complain(run, "a python3 without gpubound.cluster");
}

}  // namespace gpubound
