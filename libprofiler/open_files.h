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

#include <array>
#include <cstddef>

namespace gpubound {

class OpenFiles {
 public:
  // Notes |fd|, beside the first kMostFiles.
  void Add(int fd) noexcept;
  void Clear() noexcept { count_ = 0; }
  // Those that whoever opened them has closed again.
  void DropClosed() noexcept;

  // False when a noted descriptor is closed or has become another file: then none may be used or
  // closed any more. An fstat each.
  bool AreOurs() const;

  // Some have no name any more: nobody can read what is written into them.
  bool AnyRemoved() const;

 private:
  static constexpr size_t kMostFiles = 4;  // a database, its log or journal, and their index
  struct File {
    int fd;
    dev_t device;
    ino_t inode;

    bool IsOpen() const;
  };
  std::array<File, kMostFiles> files_;
  size_t count_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_OPEN_FILES_H_
