// SPDX-License-Identifier: Apache-2.0
//
// Counts the scopes of each operation on the reporting thread, and the time during which at least
// one of them was open. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_SCOPE_COUNTS_H_
#define GPUBOUND_ANALYSIS_TIMELINE_SCOPE_COUNTS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/timeline/cpu_state.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"
#include "proto/event_model.h"

namespace gpubound {

// What an operation counts beside time.
struct OperationCounts {
  uint64_t opened = 0;            // scopes on the reporting thread
  int64_t inclusive_wall_ns = 0;  // some scope of it was open there, nested ones included
  std::array<std::array<uint64_t, kLayerCount>, kLayerCount> transitions{};  // [from][to]
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(opened, inclusive_wall_ns, transitions);
  }
};

// Of all threads: what their scopes leave in doubt.
struct DoubtfulScopes {
  uint64_t adopted = 0;     // LedgerCounter::adopted_scopes
  uint64_t unbalanced = 0;  // closed without being open
  uint64_t open_at_end = 0;
};

class ScopeCounts {
 public:
  // |process| outlives the object.
  ScopeCounts(const ProcessTrace& process, size_t operations)
      : process_(process),
        span_{process.span_begin_ns, std::max(process.span_begin_ns, process.span_end_ns)},
        counts_(operations),
        open_(operations),
        since_ns_(operations) {}

  // One that closes and one that opens at one instant make up one time without a break, in
  // whichever order they come.
  void Open(OperationIndex operation, int64_t now_ns) {
    if (process_.Counts(now_ns, now_ns)) ++counts_[operation].opened;
    if (open_[operation]++ == 0) since_ns_[operation] = now_ns;
  }
  void Close(OperationIndex operation, int64_t now_ns) {
    if (--open_[operation] == 0) AddTime(operation, now_ns);
  }

  // Whether it counts.
  bool AddTransition(OperationIndex operation, Layer from, Layer to, int64_t now_ns) {
    if (!process_.Counts(now_ns, now_ns)) return false;
    ++counts_[operation].transitions[static_cast<size_t>(from)][static_cast<size_t>(to)];
    return true;
  }

  // Operations that became known since are added.
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.Grown(counts_);
    archive.Grown(open_);
    archive.Grown(since_ns_);
  }

  // Closes what is still open at the span's end. Call once, last.
  std::vector<OperationCounts> Finish() {
    for (OperationIndex operation = 0; operation < open_.size(); ++operation) {
      if (open_[operation] != 0) AddTime(operation, span_.end_ns);
    }
    return std::move(counts_);
  }

 private:
  void AddTime(OperationIndex operation, int64_t now_ns) {
    counts_[operation].inclusive_wall_ns +=
        Interval{since_ns_[operation], now_ns}.ClippedTo(span_).length();
  }

  const ProcessTrace& process_;
  const Interval span_;
  std::vector<OperationCounts> counts_;
  std::vector<uint64_t> open_;
  std::vector<int64_t> since_ns_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_SCOPE_COUNTS_H_
