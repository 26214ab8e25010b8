// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a text trace, plain or compressed with gzip, one block after the other. One object,
// one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_SOURCE_H_
#define GPUBOUND_ANALYSIS_IMPORT_SOURCE_H_

#include <cstddef>
#include <memory>
#include <string>

#include "analysis/status.h"

namespace gpubound {

// What an importer reads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to |capacity| bytes into |to|; 0 at the end. An error says what is wrong with the file.
  virtual Result<size_t> Read(char* to, size_t capacity) = 0;
};

// The file at |path|. Whether it is compressed is told by its content, not its name; several
// compressed streams one after the other are one text.
Result<std::unique_ptr<ByteSource>> OpenText(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_SOURCE_H_
