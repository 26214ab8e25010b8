// SPDX-License-Identifier: Apache-2.0
//
// Counts the scopes of each operation on a thread beside the reporting one, and the time during
// which at least one of them was open. What ScopeCounts does with room for every operation, this
// does with room for those that the thread opens: there may be thousands of threads. One object,
// one caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_LANE_SCOPES_H_
#define GPUBOUND_ANALYSIS_TIMELINE_LANE_SCOPES_H_

#include <algorithm>
#include <cstdint>
#include <map>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

class LaneScopes {
 public:
  struct Counts {
    uint64_t opened = 0;
    int64_t inclusive_wall_ns = 0;  // some scope of it was open, nested ones included
    uint64_t open = 0;
    int64_t since_ns = 0;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(opened, inclusive_wall_ns, open, since_ns);
    }
  };

  // |process| outlives the object.
  explicit LaneScopes(const ProcessTrace& process) : process_(&process) {}
  LaneScopes(const LaneScopes& other)
      : process_(other.process_), by_operation_(other.by_operation_) {}
  LaneScopes& operator=(const LaneScopes&) = delete;

  void Open(OperationIndex operation, int64_t now_ns) {
    Counts& counts = Of(operation);
    if (process_->Counts(now_ns, now_ns)) ++counts.opened;
    if (counts.open++ == 0) counts.since_ns = now_ns;
  }
  void Close(OperationIndex operation, int64_t now_ns) {
    Counts& counts = Of(operation);
    if (--counts.open == 0) AddTime(now_ns, &counts);
  }

  // As of the span's end.
  Counts Find(OperationIndex operation) const {
    const auto found = by_operation_.find(operation);
    if (found == by_operation_.end()) return {};
    Counts counts = found->second;
    if (counts.open != 0) AddTime(process_->span_end_ns, &counts);
    return counts;
  }

  void Visit(StateArchive& archive) {
    uint64_t count = by_operation_.size();
    archive.All(count);
    auto next = by_operation_.begin();
    for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
      OperationIndex operation = archive.reads() ? OperationIndex{} : next->first;
      archive.IndexBelow(archive.operations(), operation);
      archive.All(archive.reads() ? by_operation_[operation] : (next++)->second);
    }
  }

 private:
  // A thread opens the same operation over and over, or a few in turns.
  Counts& Of(OperationIndex operation) {
    if (last_ == nullptr || last_operation_ != operation) {
      last_ = &by_operation_[operation];
      last_operation_ = operation;
    }
    return *last_;
  }
  void AddTime(int64_t now_ns, Counts* counts) const {
    const Interval span{process_->span_begin_ns,
                        std::max(process_->span_begin_ns, process_->span_end_ns)};
    counts->inclusive_wall_ns += Interval{counts->since_ns, now_ns}.ClippedTo(span).length();
  }

  const ProcessTrace* process_;
  std::map<OperationIndex, Counts> by_operation_;
  Counts* last_ = nullptr;
  OperationIndex last_operation_{};
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_LANE_SCOPES_H_
