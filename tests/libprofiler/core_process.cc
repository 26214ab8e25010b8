// SPDX-License-Identifier: Apache-2.0
//
// Starts and ends core_program.
#include "tests/libprofiler/core_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace gpubound {
namespace {

const char* Required(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) throw std::runtime_error(std::string(name) + " is not set");
  return value;
}

}  // namespace

CoreProcess::CoreProcess(const std::string& scenario, const std::string& argument,
                         const std::string& run, const std::string& stderr_path,
                         const std::vector<std::string>& variables) {
  const char* program = Required("GPUBOUND_TEST_PROGRAM");
  const char* core = Required("GPUBOUND_TEST_CORE");
  pid_ = fork();
  if (pid_ != 0) return;
  const int log = open(stderr_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(log, STDERR_FILENO);
  setenv("GPUBOUND_RUN", run.c_str(), 1);
  for (const std::string& variable : variables) putenv(const_cast<char*>(variable.c_str()));
  execl(program, program, core, scenario.c_str(), argument.c_str(), nullptr);
  _exit(127);
}

CoreProcess::~CoreProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

int CoreProcess::Wait() {
  int status = 0;
  waitpid(pid_, &status, 0);
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void CoreProcess::Kill() { kill(pid_, SIGKILL); }

}  // namespace gpubound
