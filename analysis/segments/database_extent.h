// SPDX-License-Identifier: Apache-2.0
//
// How long the file of a database is and how long its own header says that it is, to tell what a
// copy that broke off, or a damaged disk, has cut. No state.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_DATABASE_EXTENT_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_DATABASE_EXTENT_H_

#include <cstdint>
#include <optional>
#include <string>

namespace gpubound {

// In bytes.
struct DatabaseExtent {
  uint64_t page = 0;
  uint64_t found = 0;
  uint64_t expected = 0;  // whole pages; what the log beside the file holds may be more
  bool has_log = false;   // in which a page may be that the file lacks

  bool IsCut() const { return found < expected; }
  // A page that is there in part would be read with zeros in place of its rest; of a file without
  // any, SQLite would remove the log.
  bool EndsInsidePage() const { return found == 0 || found % page != 0; }
  uint64_t WholePages() const { return found - found % page; }
};

// Absent where the file has no header, and is not too short for one beside a log that tells its
// page size.
std::optional<DatabaseExtent> ExtentOf(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_DATABASE_EXTENT_H_
