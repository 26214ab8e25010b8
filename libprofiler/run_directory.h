// SPDX-License-Identifier: Apache-2.0
//
// Where a process writes: finds or makes the run directory and names the process's files in it.
// Called once per process record.
#ifndef GPUBOUND_LIBPROFILER_RUN_DIRECTORY_H_
#define GPUBOUND_LIBPROFILER_RUN_DIRECTORY_H_

#include <cstdint>
#include <string>

#include "libprofiler/process_info.h"

namespace gpubound {

// Makes a part of a file name of |name|, which comes from outside.
void MakeFileNameSafe(char* name) noexcept;

class RunDirectory {
 public:
  // Uses the directory |path| (empty: $PWD/NAME-TIME-PID.gpubound), making it, 0700, if need be.
  // False: nothing can be written there, and one line on stderr says why and what to do.
  bool Open(const std::string& path, const ProcessStart& start);

  // On a filesystem shared with other hosts, where neither WAL nor a live mapping is safe.
  bool is_network() const { return is_network_; }
  const std::string& path() const { return path_; }

  std::string DatabasePath(uint32_t segment) const;
  std::string LivePath() const;
  // Of iterations behind the end of the recording (later_iterations.h).
  std::string LaterPath() const;
  // Shared by the processes of the run on this host (step_window.h).
  std::string StepsPath() const { return host_stem_ + ".steps"; }

 private:
  std::string path_;
  std::string host_stem_;  // path/host
  std::string stem_;       // path/host.pid.start
  bool is_network_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_RUN_DIRECTORY_H_
