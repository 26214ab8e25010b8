// SPDX-License-Identifier: Apache-2.0
//
// fork, exec and a loop around sigwaitinfo. Everything that is watched stays blocked, so there is
// no handler and no moment in which a signal could be missed.
#include "tools/launch/child_program.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>

#include "tools/launch/argv.h"
#include "tools/launch/signal_facts.h"

namespace gpubound {
namespace {

// Handled for the time of the program: the first two ignored, SIGCHLD made sure to be reported (a
// parent may have left it ignored, and then there would be no status to wait for).
constexpr int kHandled[] = {SIGINT, SIGQUIT, SIGCHLD};

// SIGUSR1 and SIGUSR2 are how batch systems announce the end of a job; they would end the launcher.
constexpr int kHandedOn[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

// Reads the errno that the child wrote, 0 when its exec closed the pipe.
int ReadExecError(int pipe_end) {
  int error = 0;
  ssize_t got = 0;
  do {
    got = read(pipe_end, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(error) ? error : 0;
}

}  // namespace

ChildProgram::ChildProgram() {
  for (size_t i = 0; i < std::size(kHandled); ++i) {
    struct sigaction action = {};
    action.sa_handler = kHandled[i] == SIGCHLD ? SIG_DFL : SIG_IGN;
    sigaction(kHandled[i], &action, &actions_before_[i]);
  }
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGCHLD);
  for (const int signal : kHandedOn) {
    if (!IsIgnored(signal)) sigaddset(&watched_, signal);  // nohup ignores SIGHUP, for both
  }
  sigprocmask(SIG_BLOCK, &watched_, &mask_before_);
}

ChildProgram::~ChildProgram() {
  for (size_t i = 0; i < std::size(kHandled); ++i) {
    sigaction(kHandled[i], &actions_before_[i], nullptr);
  }
  // Signals that came too late to be handed on were meant for the program.
  const timespec at_once = {0, 0};
  while (sigtimedwait(&watched_, nullptr, &at_once) > 0) {
  }
  sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
}

int ChildProgram::Start(const std::vector<std::string>& command,
                        const std::vector<std::string>& environment) {
  const std::vector<char*> arguments = ArgvOf(command);
  const std::vector<char*> variables = ArgvOf(environment);
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return errno;
  pid_ = fork();
  if (pid_ < 0) {
    const int error = errno;
    close(report[0]);
    close(report[1]);
    return error;
  }
  if (pid_ == 0) {
    for (size_t i = 0; i < std::size(kHandled); ++i) {
      sigaction(kHandled[i], &actions_before_[i], nullptr);
    }
    sigprocmask(SIG_SETMASK, &mask_before_, nullptr);
    execvpe(arguments[0], arguments.data(), variables.data());
    const int error = errno;
    [[maybe_unused]] const ssize_t written = write(report[1], &error, sizeof(error));
    _exit(127);
  }
  close(report[1]);
  const int error = ReadExecError(report[0]);
  close(report[0]);
  if (error != 0) {
    while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return error;
}

void ChildProgram::HandOn(const siginfo_t& signal) const {
  // What the kernel sends because of the terminal goes to the program as well.
  if (signal.si_code != SI_KERNEL) kill(pid_, signal.si_signo);
}

ProgramEnd ChildProgram::Wait() {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(pid_, &status, WNOHANG);
    if (ended == pid_ && WIFEXITED(status)) return {WEXITSTATUS(status), 0};
    if (ended == pid_ && WIFSIGNALED(status)) return {-1, WTERMSIG(status)};
    siginfo_t signal = {};
    const int received = sigwaitinfo(&watched_, &signal);
    if (received > 0 && received != SIGCHLD) HandOn(signal);
  }
}

}  // namespace gpubound
