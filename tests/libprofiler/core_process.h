// SPDX-License-Identifier: Apache-2.0
//
// Runs core_program in a process of its own with a run directory, and kills it if asked.
#ifndef GPUBOUND_TESTS_LIBPROFILER_CORE_PROCESS_H_
#define GPUBOUND_TESTS_LIBPROFILER_CORE_PROCESS_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace gpubound {

class CoreProcess {
 public:
  // Starts |scenario| with GPUBOUND_RUN=|run| and |variables| ("NAME=value"). Its stderr goes to
  // the file |stderr_path|.
  CoreProcess(const std::string& scenario, const std::string& argument, const std::string& run,
              const std::string& stderr_path, const std::vector<std::string>& variables = {});
  ~CoreProcess();
  CoreProcess(const CoreProcess&) = delete;
  CoreProcess& operator=(const CoreProcess&) = delete;

  // Exit status, or 128 + signal.
  int Wait();
  void Kill();
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIBPROFILER_CORE_PROCESS_H_
