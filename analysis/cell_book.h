// SPDX-License-Identifier: Apache-2.0
//
// Books time to cells. The GPU side runs clocks, the CPU side says whose time it is: when that
// changes, what the clocks have gained goes to the state that held until then. So a change on the
// GPU side costs one addition however many threads look on, and a change on the CPU side a few. One
// object, one caller.
#ifndef GPUBOUND_ANALYSIS_CELL_BOOK_H_
#define GPUBOUND_ANALYSIS_CELL_BOOK_H_

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/device_timeline.h"
#include "analysis/process_timeline.h"
#include "analysis/work_classes.h"

namespace gpubound {

// Time of a process by GPU state, over the span so far.
struct GpuClock {
  std::array<int64_t, kGpuStates> by_state{};
  int64_t sum_ns = 0;     // of all running work, concurrent work counted each
  FilledTime filled = 0;  // weighted by SM fill, mean over the devices that are busy
};

class CellBook {
 public:
  struct Row {
    CpuState state;        // peer is kNotOne
    bool waiting = false;  // the CPU waits for a known other process
    GpuClock time;
    std::vector<int64_t> busy_ns;     // by device
    std::vector<int64_t> unknown_ns;  // by device
    int64_t Wall() const {
      int64_t sum_ns = 0;
      for (const int64_t ns : time.by_state) sum_ns += ns;
      return sum_ns;
    }
  };

  // |clock| and |devices| outlive the object; |devices| may be null.
  CellBook(const GpuClock* clock, const std::vector<DeviceClock>* devices);

  // From |now_ns|, an instant in the span, on it is the time of |state|.
  void SwitchTo(const CpuState& state, int64_t now_ns);

  // Books what has passed until |now_ns|. Rows come in order of first use.
  const std::vector<Row>& RowsAt(int64_t now_ns);

 private:
  size_t Find(uint64_t key, const CpuState& state, bool waiting);
  void Grow();

  const GpuClock* clock_;
  const std::vector<DeviceClock>* devices_;
  std::vector<Row> rows_;
  std::vector<uint64_t> keys_;   // by row
  std::vector<uint32_t> slots_;  // open addressing: row + 1, 0 empty; a power of two
  size_t current_ = 0;
  bool any_ = false;
  GpuClock booked_;  // the clocks as of the last booking
  std::vector<int64_t> booked_busy_ns_;
  std::vector<int64_t> booked_unknown_ns_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CELL_BOOK_H_
