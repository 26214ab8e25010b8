// SPDX-License-Identifier: Apache-2.0
//
// Files that stay open while the program runs, out of the way of its own: programs count on the
// lowest free numbers, and put files of theirs onto numbers that they take to be free.
#ifndef GPUBOUND_LIBPROFILER_HIGH_DESCRIPTOR_H_
#define GPUBOUND_LIBPROFILER_HIGH_DESCRIPTOR_H_

#include <dirent.h>

namespace gpubound {

// Above what is used by number; below 64, from which on the kernel makes a process's table anew,
// and waits meanwhile where it has several threads.
inline constexpr int kLeastHighDescriptor = 48;

// open(2), on the lowest free descriptor from kLeastHighDescriptor on, else on the highest that the
// limit allows. A second one of a file on which this process has record locks takes these off.
int OpenHigh(const char* path, int flags, int mode) noexcept;

// opendir(3), likewise.
DIR* OpenFolderHigh(const char* path) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_HIGH_DESCRIPTOR_H_
