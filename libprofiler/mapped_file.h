// SPDX-License-Identifier: Apache-2.0
//
// A small file of the run directory, mapped for writing. Any thread; one system call or more.
#ifndef GPUBOUND_LIBPROFILER_MAPPED_FILE_H_
#define GPUBOUND_LIBPROFILER_MAPPED_FILE_H_

#include <cstddef>
#include <string>

namespace gpubound {

// |bytes| of the file at |path|, made with mode 0600 where it is not there; a new one holds zeros.
// It has its blocks: a store into a hole of a full disk would kill the program. Null where it
// cannot be mapped; errno says why. Unmap with munmap.
void* MapFile(const std::string& path, size_t bytes);

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_MAPPED_FILE_H_
