// SPDX-License-Identifier: Apache-2.0
//
// Puts one process together from its segments and, if it was killed, its live mapping. Everything
// that is damaged is skipped, counted in the process's ledger and named in |problems|. Pure but for
// reading the segments.
#ifndef GPUBOUND_ANALYSIS_READER_PROCESS_LOADER_H_
#define GPUBOUND_ANALYSIS_READER_PROCESS_LOADER_H_

#include <optional>
#include <string>
#include <vector>

#include "analysis/segments/live_salvage.h"
#include "analysis/segments/process_sums.h"
#include "analysis/segments/segment.h"
#include "analysis/trace/run.h"

namespace gpubound {

// |segments| are of one process, in ascending order; there may be none when there is a |live|.
// |sums|: of the time whose events may be gone, null where none are. Without a recorded end the
// span's end is left at the last event, marked as such.
ProcessTrace LoadProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, const ProcessSums* sums,
                         std::vector<std::string>* problems);

// The same without its events: they stay in the segments, which ProcessTrace::source then owns, and
// |segments| is empty. Where that cannot be (the process did not close its trace, records were
// lost, a chunk table is damaged) as LoadProcess.
ProcessTrace OpenProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                         const std::optional<LiveFile>& live, const ProcessSums* sums,
                         std::vector<std::string>* problems);

// The same for a process that still runs: its span is open-ended, and what its segments do not hold
// yet is left alone.
ProcessTrace OpenGrowingProcess(const ProcessIdentity& identity, std::vector<Segment>* segments,
                                const ProcessSums* sums, std::vector<std::string>* problems);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_PROCESS_LOADER_H_
