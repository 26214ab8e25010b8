// SPDX-License-Identifier: Apache-2.0
//
// The replayed times of recent API calls, found by correlation id when their device work begins.
// CUPTI counts ids up by one for each call, so the low bits of an id are its place: a newer call
// replaces one that is a whole table older. Where that one may still be looked for, the table grows.
// So its size follows how far the program runs ahead of the device, and not how long it runs: a
// thousand processes have a thousand tables. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_REPLAY_LAUNCH_TABLE_H_
#define GPUBOUND_ANALYSIS_REPLAY_LAUNCH_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "analysis/replay/replay_moment.h"
#include "analysis/trace/run.h"

namespace gpubound {

struct LaunchEntry {
  uint32_t correlation = 0;  // 0: empty
  uint32_t thread = 0;
  LabelId label{};
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  Moment begun;
  Moment ended;  // exists once the call has ended
  // The call's own work, as far as it has begun: the end that was recorded last.
  int64_t work_end_ns = INT64_MIN;
  Moment work_done;
  uint32_t works = 0;
  uint32_t operation = 0;    // under which it was called
  uint32_t merged_into = 0;  // correlation of the launch that a what-if puts in its place
  bool fused = false;        // that is one kernel, and its work the rest of it
};

class LaunchTable {
 public:
  static constexpr size_t kFirstSize = 256;
  // Launch queues hold about a thousand entries per stream; 160 bytes each.
  static constexpr size_t kLargestSize = size_t{1} << 17;

  LaunchTable() : entries_(kFirstSize) {}

  // Called in order of begin. Of nested calls with one id, a runtime function and the driver
  // function inside it, the outermost counts: null for the inner one. Valid until the next Add.
  // |is_needed| tells of an entry whether it may still be looked for.
  template <typename IsNeeded>
  LaunchEntry* Add(uint32_t thread, const ApiCall& call, const IsNeeded& is_needed) {
    if (call.correlation == 0) return nullptr;
    while (entries_.size() < kLargestSize && IsOther(At(call.correlation), call.correlation) &&
           is_needed(At(call.correlation))) {
      Grow();
    }
    LaunchEntry& entry = At(call.correlation);
    if (entry.correlation == call.correlation && entry.thread == thread &&
        entry.start_ns <= call.start_ns && call.end_ns <= entry.end_ns) {
      return nullptr;
    }
    entry = {};
    entry.correlation = call.correlation;
    entry.thread = thread;
    entry.label = call.label;
    entry.start_ns = call.start_ns;
    entry.end_ns = call.end_ns;
    return &entry;
  }

  size_t size() const { return entries_.size(); }

  // Null where no such call is remembered. Valid until the next Add.
  LaunchEntry* Find(uint32_t correlation) {
    if (correlation == 0) return nullptr;
    LaunchEntry& entry = At(correlation);
    return entry.correlation == correlation ? &entry : nullptr;
  }

 private:
  static bool IsOther(const LaunchEntry& entry, uint32_t correlation) {
    return entry.correlation != 0 && entry.correlation != correlation;
  }
  LaunchEntry& At(uint32_t correlation) { return entries_[correlation & (entries_.size() - 1)]; }

  void Grow() {
    std::vector<LaunchEntry> old = std::exchange(entries_, {});
    entries_.resize(old.size() * 2);
    for (const LaunchEntry& entry : old) {
      if (entry.correlation != 0) At(entry.correlation) = entry;
    }
  }

  std::vector<LaunchEntry> entries_;  // a power of two
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_LAUNCH_TABLE_H_
