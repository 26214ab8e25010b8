// SPDX-License-Identifier: Apache-2.0
//
// Names of filesystems by the number that statfs gives, and on which of them a trace is written
// with care: for the collector, which does so, and for the command that says it beforehand. Pure.
#ifndef GPUBOUND_PROTO_FILESYSTEM_KIND_H_
#define GPUBOUND_PROTO_FILESYSTEM_KIND_H_

#include <cstdint>

namespace gpubound {

struct FilesystemKind {
  const char* name = "";  // empty: not in our list
  // Other hosts may write, or shared mappings and byte-range locks are not reliable (FUSE and 9p).
  bool is_network = false;
};

// |type| is statfs.f_type.
FilesystemKind KindOfFilesystem(uint64_t type);

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_FILESYSTEM_KIND_H_
