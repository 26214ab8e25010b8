// SPDX-License-Identifier: Apache-2.0
//
// Goes through several lists of waits together, from one begin or end to the next. Memory and the
// time of a step depend on the number of lists alone. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_WAIT_MERGE_H_
#define GPUBOUND_ANALYSIS_PROCESSES_WAIT_MERGE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "analysis/processes/process_waits.h"

namespace gpubound {

class WaitMerge {
 public:
  struct Edge {
    size_t list = 0;
    const TimeUnder* wait = nullptr;
    bool ends = false;
  };

  // |times|: ascending and disjoint; they outlive the object.
  void Add(const std::vector<TimeUnder>& times) {
    cursors_.push_back({times.data(), times.data() + times.size()});
    Queue(cursors_.size() - 1);
  }

  bool done() const { return queue_.empty(); }
  // Unless done.
  int64_t next_ns() const { return queue_.top().first; }
  // The next edge. Of a list, a wait ends before the next one begins.
  Edge Next() {
    const size_t list = queue_.top().second;
    queue_.pop();
    Cursor& cursor = cursors_[list];
    const Edge edge{list, cursor.next, cursor.open};
    if (cursor.open) ++cursor.next;
    cursor.open = !cursor.open;
    Queue(list);
    return edge;
  }

 private:
  struct Cursor {
    const TimeUnder* next;
    const TimeUnder* end;
    bool open = false;
  };

  void Queue(size_t list) {
    const Cursor& cursor = cursors_[list];
    if (cursor.next == cursor.end) return;
    queue_.emplace(cursor.open ? cursor.next->time.end_ns : cursor.next->time.begin_ns, list);
  }

  std::vector<Cursor> cursors_;
  using Item = std::pair<int64_t, size_t>;  // the next edge's time, list
  std::priority_queue<Item, std::vector<Item>, std::greater<>> queue_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_WAIT_MERGE_H_
