// SPDX-License-Identifier: Apache-2.0
//
// Names of filesystems by the number that statfs gives. Pure.
#ifndef GPUBOUND_TOOLS_FILESYSTEM_KIND_H_
#define GPUBOUND_TOOLS_FILESYSTEM_KIND_H_

#include <cstdint>

namespace gpubound {

struct FilesystemKind {
  const char* name = "";    // empty: not in our list
  bool is_network = false;  // other hosts may write, or byte-range locks are not reliable
};

// |type| is statfs.f_type. Which ones count as network filesystems decides how the collector writes
// (libprofiler/run_directory.cc); the two lists say the same.
FilesystemKind KindOfFilesystem(uint64_t type);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_FILESYSTEM_KIND_H_
