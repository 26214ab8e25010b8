// SPDX-License-Identifier: Apache-2.0
//
// The watcher reads a pipe to which nobody writes; its end is that of the process that owns the
// folder.
#include "tools/launch/scratch_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

namespace gpubound {
namespace {

// Away from the standard streams, of which some may be closed: who prints would write into the
// pipe, and the watcher would put its own stream in the place of its end. False where no number is
// free.
bool MoveBehindStreams(int* fd) {
  if (*fd > STDERR_FILENO) return true;
  const int moved = fcntl(*fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  close(*fd);
  *fd = moved;
  return moved >= 0;
}

// Of a process that may have had threads: nothing here allocates.
[[noreturn]] void RemoveWhenItEnds(int ended_fd, const char* path) {
  setsid();  // ^C is not for it
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  // A reader of what the command writes is not to wait for it.
  const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, fd);
  char byte = 0;
  while (read(ended_fd, &byte, 1) < 0 && errno == EINTR) {
  }
  execl("/bin/rm", "rm", "-rf", "--", path, static_cast<char*>(nullptr));
  _exit(1);
}

}  // namespace

ScratchFolder::ScratchFolder() {
  std::error_code ignored;
  const std::filesystem::path temporary = std::filesystem::temp_directory_path(ignored);
  std::string pattern = (temporary / "gpubound-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return;
  path_ = pattern;
  Watch();
}

// Without a watcher, the folder is left behind where the process is killed.
void ScratchFolder::Watch() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const bool read_end = MoveBehindStreams(&ends[0]);
  const bool write_end = MoveBehindStreams(&ends[1]);
  watcher_ = read_end && write_end ? fork() : -1;
  if (watcher_ == 0) {
    close(ends[1]);
    RemoveWhenItEnds(ends[0], path_.c_str());
  }
  close(ends[0]);
  if (watcher_ > 0) {
    alive_fd_ = ends[1];
  } else {
    close(ends[1]);
  }
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  if (watcher_ <= 0) return;
  kill(watcher_, SIGKILL);
  while (waitpid(watcher_, nullptr, 0) < 0 && errno == EINTR) {
  }
  close(alive_fd_);
}

Status ScratchFolder::Made() const {
  if (!path_.empty()) return Ok{};
  return Error{"making a folder for runs", "$TMPDIR, else /tmp", "none could be made there",
               "a place for temporary files", "Set TMPDIR to a folder that can be written to."};
}

}  // namespace gpubound
