// SPDX-License-Identifier: Apache-2.0
//
// Starts the program that is to be profiled and stays out of its way: the launcher ignores SIGINT
// and SIGQUIT, which a terminal sends to both, hands on the signals that only the launcher gets,
// and waits. The program sees the signal dispositions and mask that the launcher was started with.
//
// One program at a time, from the main thread: signal dispositions belong to the whole process.
#ifndef GPUBOUND_TOOLS_LAUNCH_CHILD_PROGRAM_H_
#define GPUBOUND_TOOLS_LAUNCH_CHILD_PROGRAM_H_

#include <signal.h>
#include <sys/types.h>

#include <array>
#include <string>
#include <vector>

#include "tools/console/exit_codes.h"

namespace gpubound {

// Found by waiting: exactly one of the two is set.
struct ProgramEnd {
  int exit_code = -1;
  int signal = 0;

  // As a shell says it: the exit code, or 128 plus the signal.
  int ExitStatus() const { return signal != 0 ? kExitSignalBase + signal : exit_code; }
};

class ChildProgram {
 public:
  // Blocks and ignores signals as described above, until the destructor restores them.
  ChildProgram();
  ~ChildProgram();
  ChildProgram(const ChildProgram&) = delete;
  ChildProgram& operator=(const ChildProgram&) = delete;

  // Starts |command| with |environment|, looked up in this process's PATH. Returns 0, or the errno
  // of fork or exec; then nothing runs.
  int Start(const std::vector<std::string>& command, const std::vector<std::string>& environment);

  pid_t pid() const { return pid_; }

  // Waits for the end, handing on signals meanwhile. Call once, after Start returned 0.
  ProgramEnd Wait();

 private:
  void HandOn(const siginfo_t& signal) const;

  pid_t pid_ = 0;
  sigset_t watched_ = {};
  sigset_t mask_before_ = {};
  std::array<struct sigaction, 3> actions_before_ = {};
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_CHILD_PROGRAM_H_
