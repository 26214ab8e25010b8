// SPDX-License-Identifier: Apache-2.0
//
// A folder for runs that nobody keeps; gone with the object, and with the process where that is
// killed: a process of its own, in a session of its own, waits for the end of this one.
#ifndef GPUBOUND_TOOLS_LAUNCH_SCRATCH_FOLDER_H_
#define GPUBOUND_TOOLS_LAUNCH_SCRATCH_FOLDER_H_

#include <sys/types.h>

#include <string>

#include "analysis/base/status.h"

namespace gpubound {

class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  // Whether there is one; an error for the user where there is not.
  Status Made() const;
  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  void Watch();

  std::string path_;
  pid_t watcher_ = -1;
  int alive_fd_ = -1;  // closed when this process ends, however it does
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_SCRATCH_FOLDER_H_
