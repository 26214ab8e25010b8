// SPDX-License-Identifier: Apache-2.0
//
// Runs a program to its end under a deadline and says how it ended. One that hangs is killed
// together with all that it started, and the stacks of all their threads are in the outcome where
// gdb is installed. Call from one thread at a time.
#ifndef GPUBOUND_TESTS_LIFECYCLE_PROCESS_RUNNER_H_
#define GPUBOUND_TESTS_LIFECYCLE_PROCESS_RUNNER_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace gpubound {

struct Outcome {
  pid_t pid = 0;
  int exit_code = -1;  // -1 when a signal ended it
  int signal = 0;
  bool hung = false;
  std::string out;     // what it wrote to stdout
  std::string err;     // and to stderr
  std::string stacks;  // of a hung program and what it started

  std::string Describe() const;
};

class ProcessRunner {
 public:
  // Runs with this test's environment, changed by Set and Unset.
  void Set(const std::string& variable, const std::string& value) { changes_[variable] = value; }
  void Unset(const std::string& variable) { unset_[variable] = true; }
  void SetDirectory(const std::string& path) { directory_ = path; }
  void SetDeadlineSeconds(int seconds) { deadline_seconds_ = seconds; }
  // Called once, when the program runs, e.g. to kill it after a while.
  void WhileRunning(std::function<void(pid_t)> action) { action_ = std::move(action); }

  // Also waits until nobody holds the program's stdout and stderr any more, so that children that
  // it left behind have ended as well.
  [[nodiscard]] Outcome Run(const std::vector<std::string>& command) const;

 private:
  std::map<std::string, std::string> changes_;
  std::map<std::string, bool> unset_;
  std::string directory_;
  std::function<void(pid_t)> action_;
  int deadline_seconds_ = 120;  // of wall-clock time, which others of the machine take, too
};

// Waits under the same rules for |child|, which the calling process forked itself.
Outcome AwaitChild(pid_t child, int deadline_seconds);

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIFECYCLE_PROCESS_RUNNER_H_
