// SPDX-License-Identifier: Apache-2.0
//
// Turns the intervals of one thread into the events that a recorder would have stored: begins and
// ends in the order of time. Foreign intervals need not nest; one that outlasts what it lies in is
// stored as a start/end range, whose end names it, so that an end never closes another interval.
//
//     a  |---------|               begin a, begin b, end b, range c, end a, end of range c
//     b     |--|
//     c          |-------|         outlasts a
//
// One object per thread, one caller.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_NESTING_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_NESTING_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/import/import_records.h"
#include "proto/event_model.h"

namespace gpubound {

// One event of a thread. `payload` counts only for kinds that have one.
struct NestedEvent {
  int64_t time_ns = 0;
  uint64_t payload = 0;
  LabelId label{};
  SlotKind kind = SlotKind::kMark;
};

class ThreadNesting {
 public:
  using Emit = std::function<void(const NestedEvent&)>;

  // |emit| gets the events in order. |next_range| numbers the ranges of a process.
  ThreadNesting(Emit emit, uint64_t* next_range);

  // Intervals come in the order of CpuInterval.
  void Add(const CpuInterval& interval);

  // Ends what is open. Call once, last.
  void Finish();

 private:
  struct Open {
    int64_t end_ns;
    uint64_t place;  // of the begin among all begins; the later one ends first
    uint64_t payload;
    LabelId label;
    SlotKind end_kind;
    // For a heap with what ends next on top.
    friend bool operator<(const Open& a, const Open& b) {
      return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.place < b.place;
    }
  };

  void EndUntil(int64_t time_ns);
  void EndNext();

  Emit emit_;
  uint64_t* next_range_;
  std::vector<Open> open_;  // a heap
  uint64_t places_ = 0;
  uint64_t iterations_open_ = 0;
  std::optional<int64_t>
      iterated_until_ns_;  // the end of the last iteration; none has ended: empty
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_NESTING_H_
