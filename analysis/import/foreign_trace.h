// SPDX-License-Identifier: Apache-2.0
//
// A foreign trace as the importers fill it: names in memory, events in sorters that spill to disk,
// so that memory does not grow with the number of events. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_FOREIGN_TRACE_H_
#define GPUBOUND_ANALYSIS_IMPORT_FOREIGN_TRACE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/import/external_sorter.h"
#include "analysis/import/foreign_gap.h"
#include "analysis/import/import_hints.h"
#include "analysis/import/import_names.h"
#include "analysis/import/import_records.h"
#include "analysis/import/import_times.h"
#include "analysis/import/import_untimed.h"

namespace gpubound {

// When a process's device work could have run unrecorded, as the trace itself says.
struct ForeignUnknown {
  uint32_t process = kNoIndex;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  std::string reason;
};

struct ForeignTrace {
  // Temporary files go to |folder|.
  explicit ForeignTrace(const std::string& folder) : cpu(folder), work(folder), syncs(folder) {}

  // Whether the times can be those of an event: what ends before it starts, or lies farther from
  // zero than any clock gets, is counted in `malformed` and is not to be added. To be asked before
  // anything is named for the event: a process comes to be by what it did.
  bool Takes(int64_t start_ns, int64_t end_ns);

  // `order` is filled in here. What is not taken is left out. Work of which no end is known counts
  // as no time, and so does what begins and ends at 0, until DecideOnTimes().
  Status Add(CpuInterval interval);
  Status Add(ForeignWork item);
  Status Add(ForeignSync sync);
  // After the copy |added|, which is |info| and |name|: the device at its other end, which is busy
  // with it as long. The copy and its bytes are counted once.
  Status AddOtherEnd(const ForeignWork& added, WorkInfo info, std::string_view name,
                     uint32_t device, uint32_t context);

  // Something begins there that is to be closed with the trace. Before DecideOnTimes().
  void SeeBegin(int64_t start_ns) { See(start_ns, start_ns); }

  // What has no time has begin and end 0 in its record; where 0 lies within the time of everything
  // else it may be one, and of events of threads also where it is no farther away than that is
  // long. What lies far outside of all else (import_times.h) has no time either.
  // Decides on both, when all has been added but what is to be closed with the trace.
  void DecideOnTimes();
  // Afterwards: whether times are those of the trace.
  bool IsInside(int64_t start_ns, int64_t end_ns) const {
    return start_ns >= first_ns && end_ns <= last_ns;
  }
  bool HasTime(const CpuInterval& interval) const {
    const bool is_nothing = interval.start_ns == 0 && interval.end_ns == 0;
    return is_nothing ? zero_is_an_events_time : IsInside(interval.start_ns, interval.end_ns);
  }

  // From the first start to the last end of everything that counts as time; empty before the first
  // Add.
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  int64_t last_ns = std::numeric_limits<int64_t>::min();
  // Of the nearest event that lies far outside; 0 where none does.
  int64_t outlier_distance_ns = 0;

  ForeignNames names;
  ExternalSorter<CpuInterval> cpu;
  ExternalSorter<ForeignWork> work;
  ExternalSorter<ForeignSync> syncs;

  std::string host = "imported";
  std::string source;           // what wrote it, for `meta`
  int64_t realtime_ns = 0;      // CLOCK_REALTIME at time 0 of the trace; 0 where it is not known
  bool begins_at_zero = false;  // a session's time does: then 0 is not the time of work
  bool zero_is_a_time = false;  // of work; see DecideOnTimes()
  bool zero_is_an_events_time = false;  // of a thread's
  UntimedWork untimed;
  bool python = true;  // a gap between the events of a thread is Python
  // The reporting thread is the one with the most time under operations, else with the most
  // events; otherwise it is chosen as for a recorded trace.
  bool busiest_reports = true;
  uint64_t malformed = 0;    // events that were skipped since they, or their time, cannot be read
  uint64_t never_ended = 0;  // scopes without an end, closed with the trace
  uint64_t never_begun = 0;  // ends of nothing that is open
  uint64_t other_ends = 0;   // of copies that ended: work that is not one more piece
  uint64_t unended = 0;      // work, other ends too, of which no end is known
  std::string cut_short;     // where and why the file ends before its end; empty where it does not
  bool cut_behind_events = false;  // no event is missing all the same
  std::vector<ForeignGap> gaps;    // what else is missing
  std::vector<ForeignUnknown> unknown;
  // Where there is no work: the categories of most events that were left out; may be empty.
  std::string ignored;
  // Of another tool, where it is known; for a trace that holds nothing of use.
  const ToolHint* other_tool = nullptr;

 private:
  void See(int64_t start_ns, int64_t end_ns);
  void NoteStep(const CpuInterval& iteration);
  void NoteThread(const CpuInterval& interval);
  uint64_t order_ = 0;
  bool has_zero_times_ = false;   // of work
  bool has_zero_events_ = false;  // of threads
  bool decided_ = false;
  ForeignTimes times_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_FOREIGN_TRACE_H_
