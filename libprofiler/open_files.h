// SPDX-License-Identifier: Apache-2.0
//
// Which descriptors of this process are ours. Programs close descriptors that they did not open
// (daemons, subprocess wrappers, closefrom), and the kernel gives the next file the same number: a
// library that went on writing through it would write into somebody's data.
//
// Thread rule: the thread that owns the files.
#ifndef GPUBOUND_LIBPROFILER_OPEN_FILES_H_
#define GPUBOUND_LIBPROFILER_OPEN_FILES_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace gpubound {

class OpenFiles {
 public:
  // Notes every open descriptor whose file's name begins with |prefix|: a database and its
  // companions. Replaces what was noted before.
  void Remember(const std::string& prefix);

  // False when a noted descriptor is closed or has become another file: then none may be used or
  // closed any more. An fstat each.
  bool AreOurs() const;

  // Some have no name any more: nobody can read what is written into them.
  bool AnyRemoved() const;

 private:
  struct File {
    int fd;
    dev_t device;
    ino_t inode;
  };
  std::vector<File> files_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_OPEN_FILES_H_
