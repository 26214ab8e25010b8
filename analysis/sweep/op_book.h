// SPDX-License-Identifier: Apache-2.0
//
// Device work by the operator that launched it, where the trace tells: how often, how long, and of
// how many calls of the operator. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_OP_BOOK_H_
#define GPUBOUND_ANALYSIS_SWEEP_OP_BOOK_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/gpu_work.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Work of one name that one operator launched on inputs of one shape. Times as in KernelTime.
struct OpTime {
  Op op;
  std::string name;  // of the work
  WorkClass work_class = kCompute;
  uint64_t count = 0;
  uint64_t calls = 0;  // of the operator: those whose first work this is
  int64_t sum_ns = 0;
};

class OpBook {
 public:
  OpBook(const ProcessTrace& process, const Interval& span);  // |process| outlives the object

  void Add(const GpuItem& item) {
    if (Raw(item.work) >= place_of_.size() || item.other_end) return;
    const Place place = place_of_[Raw(item.work)];
    if (place.row == kNoRow || !process_.Counts(item.begin_ns, item.end_ns)) return;
    OpTime& row = rows_[place.row];
    ++row.count;
    row.calls += place.begins ? 1 : 0;
    row.sum_ns += Interval{item.begin_ns, item.end_ns}.ClippedTo(span_).length();
  }

  // What was added. The object that reads is new.
  void Visit(StateArchive& archive);

  // What was added, in any order. Call once, last.
  std::vector<OpTime> Take();

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;
  struct Place {
    uint32_t row = kNoRow;
    bool begins = false;
  };
  using Key = std::tuple<Op, std::string, WorkClass>;

  uint32_t RowOf(const Op& op, const std::string& name, WorkClass work_class);

  const ProcessTrace& process_;
  const Interval span_;
  std::vector<OpTime> rows_;
  std::map<Key, uint32_t> row_of_;
  std::vector<Place> place_of_;  // by WorkId; empty where no operator is known
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_OP_BOOK_H_
