// SPDX-License-Identifier: Apache-2.0
//
// The child is its own process group, so that a deadline ends those of its descendants too whose
// parents have ended.
#include "tests/lifecycle/process_runner.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "tests/lifecycle/process_family.h"

namespace gpubound {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> MakeEnvironment(const std::map<std::string, std::string>& changes,
                                         const std::map<std::string, bool>& unset) {
  std::vector<std::string> environment;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text = *variable;
    const std::string name = text.substr(0, text.find('='));
    if (changes.count(name) == 0 && unset.count(name) == 0) environment.push_back(text);
  }
  for (const auto& [name, value] : changes) environment.push_back(name + "=" + value);
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The reading ends of the program's stdout and stderr.
class Pipes {
 public:
  Pipes() {
    for (auto& ends : ends_) {
      if (pipe2(ends.data(), O_CLOEXEC) != 0) std::abort();
    }
  }
  ~Pipes() {
    for (auto& ends : ends_) close(ends[0]);
  }
  void AddTo(posix_spawn_file_actions_t* actions) const {
    posix_spawn_file_actions_adddup2(actions, ends_[0][1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(actions, ends_[1][1], STDERR_FILENO);
  }
  void CloseWritingEnds() {
    for (auto& ends : ends_) close(ends[1]);
  }

  // Reads until every writer is gone; false when |deadline| came first.
  bool ReadAll(Clock::time_point deadline, std::string* out, std::string* err) {
    std::string* texts[] = {out, err};
    pollfd polled[] = {{ends_[0][0], POLLIN, 0}, {ends_[1][0], POLLIN, 0}};
    for (int open = 2; open > 0;) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
      if (left.count() <= 0) return false;
      if (poll(polled, 2, static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
      for (int i = 0; i < 2; ++i) {
        if (polled[i].fd < 0 || polled[i].revents == 0) continue;
        std::array<char, 4096> part;
        const ssize_t length = read(polled[i].fd, part.data(), part.size());
        if (length > 0) {
          texts[i]->append(part.data(), static_cast<size_t>(length));
        } else {
          polled[i].fd = -1;
          --open;
        }
      }
    }
    return true;
  }

 private:
  std::array<std::array<int, 2>, 2> ends_;
};

bool WaitUntil(Clock::time_point deadline, pid_t pid, int* status) {
  for (;;) {
    if (waitpid(pid, status, WNOHANG) == pid) return true;
    if (Clock::now() > deadline) return false;
    usleep(500);  // the process has closed its outputs: it is about to end
  }
}

// Of what it started, too.
void EndHung(Outcome* outcome) {
  outcome->hung = true;
  const std::vector<FamilyMember> family = FamilyOf(outcome->pid);
  outcome->stacks = StacksOf(family);
  for (const FamilyMember& member : family) kill(member.pid, SIGKILL);
  if (getpgid(outcome->pid) == outcome->pid) kill(-outcome->pid, SIGKILL);
  int status = 0;
  waitpid(outcome->pid, &status, 0);
}

void SetStatus(int status, Outcome* outcome) {
  if (WIFSIGNALED(status)) outcome->signal = WTERMSIG(status);
  if (WIFEXITED(status)) outcome->exit_code = WEXITSTATUS(status);
}

}  // namespace

std::string Outcome::Describe() const {
  std::string text = hung          ? "hung"
                     : signal != 0 ? std::string("signal ") + strsignal(signal)
                                   : "exit " + std::to_string(exit_code);
  return text + "\nstdout: " + out + "\nstderr: " + err + (stacks.empty() ? "" : "\n" + stacks);
}

Outcome ProcessRunner::Run(const std::vector<std::string>& command) const {
  Outcome outcome;
  std::vector<std::string> arguments = command;
  std::vector<std::string> environment = MakeEnvironment(changes_, unset_);
  Pipes pipes;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  pipes.AddTo(&actions);
  if (!directory_.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory_.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  const int error = posix_spawnp(&outcome.pid, arguments[0].c_str(), &actions, &attributes,
                                 Pointers(arguments).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  pipes.CloseWritingEnds();
  if (error != 0) {
    outcome.err = arguments[0] + ": " + strerror(error);
    return outcome;
  }
  if (action_) action_(outcome.pid);
  const auto deadline = Clock::now() + std::chrono::seconds(deadline_seconds_);
  int status = 0;
  if (!pipes.ReadAll(deadline, &outcome.out, &outcome.err) ||
      !WaitUntil(deadline, outcome.pid, &status)) {
    EndHung(&outcome);
    return outcome;
  }
  SetStatus(status, &outcome);
  return outcome;
}

Outcome AwaitChild(pid_t child, int deadline_seconds) {
  Outcome outcome;
  outcome.pid = child;
  int status = 0;
  if (WaitUntil(Clock::now() + std::chrono::seconds(deadline_seconds), child, &status)) {
    SetStatus(status, &outcome);
  } else {
    EndHung(&outcome);
  }
  return outcome;
}

}  // namespace gpubound
