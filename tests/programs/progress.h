// SPDX-License-Identifier: Apache-2.0
//
// A victim's own account of its scopes, to compare its trace with: a file that the victim maps
// shared, so that what it noted survives any death. One line per (process, thread).
//
// The victim's threads each write their own line; the test reads after the victims have ended. The
// number of scopes is stored after the scope has closed: a trace must hold at least `completed`
// scopes of a line and at most one more.
#ifndef GPUBOUND_TESTS_PROGRAMS_PROGRESS_H_
#define GPUBOUND_TESTS_PROGRAMS_PROGRESS_H_

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>

namespace gpubound {

inline constexpr uint32_t kProgressLines = 4096;

struct ProgressLine {
  std::atomic<int32_t> pid;
  std::atomic<int32_t> tid;
  std::atomic<uint64_t> completed;   // scopes that are closed
  std::atomic<uint64_t> required;    // of them, those closed before the process began to end
  std::atomic<uint32_t> unrecorded;  // 1: none of this line's scopes may be in a trace
};

struct ProgressFile {
  std::atomic<uint32_t> used;
  ProgressLine lines[kProgressLines];
};

// Maps |path|, making it if need be. Never null: without its account a test is worth nothing.
inline ProgressFile* MapProgress(const char* path) {
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0 || ftruncate(file, sizeof(ProgressFile)) != 0) std::abort();
  void* memory = mmap(nullptr, sizeof(ProgressFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) std::abort();
  return static_cast<ProgressFile*>(memory);
}

// A new line for the calling thread.
inline ProgressLine* ClaimProgressLine(ProgressFile* progress) {
  const uint32_t index = progress->used.fetch_add(1);
  if (index >= kProgressLines) std::abort();
  ProgressLine* line = &progress->lines[index];
  line->pid = static_cast<int32_t>(syscall(SYS_getpid));
  line->tid = static_cast<int32_t>(syscall(SYS_gettid));
  return line;
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_PROGRAMS_PROGRESS_H_
