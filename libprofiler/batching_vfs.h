// SPDX-License-Identifier: Apache-2.0
//
// A VFS of SQLite over the system's own that writes and reads runs of pages instead of single ones.
//
// SQLite appends each page to its write-ahead log by two writes, and moves it into the database by
// a read and a write. The calls cost more than the bytes: with pages of 4 KiB they were half of
// what it takes to write a chunk (bench/codec_bench). Here
//   - writes to the log are gathered and handed to the system before the frame that commits them
//     counts as written, so that a commit means what it meant before and a full disk fails it;
//   - writes to the database are gathered while a checkpoint moves pages into it, and handed over
//     before it synchronises;
//   - reads of the log in its order, which is what a checkpoint does, read ahead.
// Everything else goes through unchanged.
//
// Ownership: a file's buffer belongs to the file and lives until it is closed.
// Thread rule: the thread that owns the connection.
#ifndef GPUBOUND_LIBPROFILER_BATCHING_VFS_H_
#define GPUBOUND_LIBPROFILER_BATCHING_VFS_H_

#include <string_view>

#include "libprofiler/open_files.h"

namespace gpubound {

// While it lives, what SQLite opens on this thread by a name that begins with |prefix|, a database
// and its companions, is added to |files|. Both outlive it. One at a time on a thread.
class NoteOpened {
 public:
  NoteOpened(std::string_view prefix, OpenFiles* files) noexcept;
  ~NoteOpened();
  NoteOpened(const NoteOpened&) = delete;
  NoteOpened& operator=(const NoteOpened&) = delete;

  void Opened(std::string_view path, int fd) noexcept;

 private:
  const std::string_view prefix_;
  OpenFiles* const files_;
};

// Registers the VFS with SQLite, once, not as the default. Returns the name to open a database
// with, or null where SQLite has no VFS to build on: then its default is as good.
const char* BatchingVfsName();

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_BATCHING_VFS_H_
