// SPDX-License-Identifier: Apache-2.0
//
// The books of the lanes of a process. A lane in which nothing happens gets the time of a quiet
// lane; so one book is kept for all of those, and a lane's own book is opened when its thread
// begins and closed while the thread does nothing or has ended:
//
//   quiet     |--------------------------------------------|
//   lane 1    |.....|---own book---|.......................|   ... as the quiet book goes on
//   lane 2    |..............|---own book---|....|--own----|
//
// So a window costs what happens in it, however many lanes there were or will be. One object, one
// caller.
#ifndef GPUBOUND_ANALYSIS_LANE_BOOKS_H_
#define GPUBOUND_ANALYSIS_LANE_BOOKS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/cell_book.h"
#include "analysis/doing.h"
#include "analysis/gpu_segments.h"
#include "analysis/interval.h"
#include "analysis/process_timeline.h"
#include "analysis/state_archive.h"

namespace gpubound {

class LaneBooks {
 public:
  // |timeline| outlives the object; it is new.
  LaneBooks(const ProcessTimeline& timeline, bool python, int64_t begin_ns);

  // The GPU side of a window, then what the timeline says of it from |at_ns| on, its begin within
  // |span|, then the time until a time of the window.
  void OpenWindow(const GpuWindow& gpu);
  void BookWindow(int64_t at_ns, const Interval& span);
  void BookUntil(int64_t now_ns);

  // What holds between two windows. By thread: one that has become a lane since did nothing before.
  void Visit(StateArchive& archive);

  // What was booked of a lane.
  std::vector<CellBook::Row> Rows(size_t lane) const { return Whole(lane).Rows(); }

 private:
  struct Lane {
    bool open = false;
    // While it is closed, less what the quiet book held when it was; none: never open.
    std::optional<CellBook> book;
  };
  CpuState QuietState() const { return timeline_.StateOf(quiet_); }
  CellBook Whole(size_t lane) const;
  void Open(uint32_t lane);
  void CloseQuiet();

  const ProcessTimeline& timeline_;
  const Doing quiet_;
  CellBook quiet_book_;
  std::vector<Lane> lanes_;
  std::vector<uint32_t> open_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_LANE_BOOKS_H_
