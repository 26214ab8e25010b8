// SPDX-License-Identifier: Apache-2.0
//
// What of one segment cannot be read, gathered while it is read, and the one note that says so:
// what took a part of a file is one damage, however many tables and chunks it met. Plain values.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_SEGMENT_DAMAGE_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_SEGMENT_DAMAGE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/segments/database_extent.h"
#include "analysis/trace/run.h"
#include "proto/chunk_row.h"

namespace gpubound {

struct SegmentDamage {
  struct Table {
    std::string name;
    std::string why;
  };
  std::vector<Table> tables;             // read in part only
  std::optional<DatabaseExtent> extent;  // of the file
  bool never_written = false;  // its first transaction, which makes the tables, is not there
  uint64_t chunks = 0;         // listed, with a body that cannot be read
  uint64_t events = 0;         // in them

  bool Has(const std::string& table) const;
  // Without some rows it is not known what ran on which device, or when that is unknown.
  bool HidesDeviceWork() const;
  // A log may hold what its file lacks: then it counts as cut once something was missed.
  bool IsCut() const;
  bool Any() const { return IsCut() || never_written || !tables.empty() || chunks != 0; }
};

// Of a segment with any damage; one line. |known_lost|: events of its process that are known to be
// lost, which gaps between others tell too.
std::string NoteOn(const std::string& path, const SegmentDamage& damage, uint64_t known_lost);

// Counts any damage of a segment of |process|, but for the events in it.
void CountDamage(const SegmentDamage& damage, ProcessTrace* process);

// On a chunk whose body was read and is not what it should be; |why|.
std::string NoteOnChunk(const std::string& path, int64_t id, const ChunkRow& row,
                        const std::string& why);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_SEGMENT_DAMAGE_H_
