// SPDX-License-Identifier: Apache-2.0
//
// The books of the lanes of a process. Lanes in which nothing happens get the same time; so one
// book is kept for all whose threads are in no scope, and one for all whose threads have not begun
// or have ended. A lane's own book is opened when its thread does something, and closed while the
// thread rests in either:
//
//   in no scope  |--------------------------------------------|
//   not there    |--------------------------------------------|
//   lane 1       |xxxxx|---own book---|xxxxxxxxxxxxxxxxxxxxxxx|   ... as the first book goes on,
//   lane 2       |xxxxxxxxxxxxxx|---own book---|....|--own----|   xxx as the second
//
// So a window costs what happens in it, however many lanes there were or will be. One object, one
// caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_LANE_BOOKS_H_
#define GPUBOUND_ANALYSIS_SWEEP_LANE_BOOKS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/sweep/cell_book.h"
#include "analysis/timeline/doing.h"
#include "analysis/timeline/gpu_segments.h"
#include "analysis/timeline/process_timeline.h"

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

  // What holds between two windows. By thread: one that has become a lane since was not there.
  void Visit(StateArchive& archive);

  // Lanes with a book that is kept now.
  size_t open() const { return open_.size(); }

  // What was booked of a lane.
  std::vector<CellBook::Row> Rows(size_t lane) const { return Whole(lane).Rows(); }

 private:
  // What many lanes do, and the time of one that never did anything else.
  struct Rest {
    Doing doing;
    CellBook book;
  };
  struct Lane {
    bool open = false;
    size_t rest = 1;  // while it is closed
    // While it is closed, less what the rest's book held when it was; none: never open.
    std::optional<CellBook> book;
  };
  Rest RestIn(Layer layer, int64_t begin_ns) const;
  CpuState StateOf(const Rest& rest) const { return timeline_.StateOf(rest.doing); }
  std::optional<size_t> RestOf(uint32_t lane) const;
  CellBook Whole(size_t lane) const;
  void Open(uint32_t lane);
  void CloseResting();

  const ProcessTimeline& timeline_;
  std::array<Rest, 2> rests_;
  std::vector<Lane> lanes_;
  std::vector<uint32_t> open_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_LANE_BOOKS_H_
