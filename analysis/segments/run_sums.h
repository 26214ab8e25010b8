// SPDX-License-Identifier: Apache-2.0
//
// The sums of a run on disk: one file in its directory, replaced as a whole (docs/long_runs.md).
//
//   "GPBDSUMS"  version (4)  checksum (4)  raw size (8)  zstd stream of RunSums::Visit()
//
// Numbers are little endian; the checksum is the CRC-32C of all that follows it. Pure but for I/O.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_RUN_SUMS_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_RUN_SUMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/base/status.h"
#include "analysis/segments/process_sums.h"

namespace gpubound {

inline constexpr char kSumsFile[] = "sums.gpubound";

// For those who see the events of such a run.
inline constexpr char kDetailIsLess[] =
    "the run was compacted: its older events are gone, and what is shown of events is what was "
    "kept. Figures (`operation`, `breakdown`, `kernel`, ...) are of the whole run.";

// Raised with every change of what an object writes into an archive.
inline constexpr uint32_t kSumsVersion = 21;

struct RunSums {
  int64_t until_ns = INT64_MIN;         // of every process
  std::vector<std::string> operations;  // as BreakdownOptions::operations
  std::vector<ProcessSums> processes;   // of all, by identity; empty for those that began later
  std::string devices;                  // what SumDevices() wrote
  std::vector<Interval> kept;           // before |until_ns|, whose detail stays

  // Null: of that process nothing was summed.
  const ProcessSums* Of(const ProcessIdentity& identity) const;
  void Visit(StateArchive& archive);
};

// Null where |folder| holds none. An error where they cannot be read: without them figures would be
// those of a part of the run.
Result<std::shared_ptr<const RunSums>> ReadRunSums(const std::string& folder);

// Durable when it returns; before that the old ones are in place.
Status WriteRunSums(const std::string& folder, RunSums* sums);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_RUN_SUMS_H_
