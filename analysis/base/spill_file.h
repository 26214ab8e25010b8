// SPDX-License-Identifier: Apache-2.0
//
// A file without a name that holds what memory should not: made at the first write, gone with the
// object. One object, one thread; what was written may be read by several.
#ifndef GPUBOUND_ANALYSIS_BASE_SPILL_FILE_H_
#define GPUBOUND_ANALYSIS_BASE_SPILL_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "analysis/base/status.h"

namespace gpubound {

// Where such files lie: $TMPDIR, else /tmp. One that is not there is no reason to do without: most
// runs need no file, and one that does is told what cannot be written.
std::string SpillFolder();

class SpillFile {
 public:
  // The file lies in |folder|.
  explicit SpillFile(std::string folder);
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  Status Append(const void* bytes, size_t count);
  Status Read(uint64_t offset, void* to, size_t count);
  uint64_t size() const { return size_; }

 private:
  Error Failed(const char* doing) const;

  const std::string folder_;
  int descriptor_ = -1;
  uint64_t size_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_SPILL_FILE_H_
