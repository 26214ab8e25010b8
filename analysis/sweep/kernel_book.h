// SPDX-License-Identifier: Apache-2.0
//
// Device work by name, for each operation that caused it: how often, how long, how much of the
// device it could fill. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_KERNEL_BOOK_H_
#define GPUBOUND_ANALYSIS_SWEEP_KERNEL_BOOK_H_

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/plain_list.h"
#include "analysis/base/state_archive.h"
#include "analysis/sweep/length_counts.h"
#include "analysis/timeline/gpu_segments.h"
#include "analysis/timeline/gpu_work.h"
#include "analysis/trace/known_graphs.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Work of one name and class. Lengths are clipped to the span, concurrent work counted each.
struct KernelTime {
  OperationIndex operation = kNoOperationIndex;  // whose API calls launched it
  std::string name;
  WorkClass work_class = kCompute;
  LengthCounts lengths;
  FilledTime filled = 0;
  bool fill_known = true;  // else some was taken as filling the device
  bool is_graph = false;   // graphs that were recorded as a whole
  uint32_t graph = 0;      // then: KnownGraph::graph of what they run; 0 not known
};

class KernelBook {
 public:
  KernelBook(const ProcessTrace& process, const Interval& span);  // |process| outlives the object

  void Add(const GpuItem& item, OperationIndex operation) {
    if (item.other_end || !process_.Counts(item.begin_ns, item.end_ns)) return;
    const int64_t length_ns = Interval{item.begin_ns, item.end_ns}.ClippedTo(span_).length();
    if (length_ns > kLongestWaiting) return AddLong(item, operation, length_ns);
    waiting_.push_back(
        {static_cast<uint32_t>(length_ns), item.fill, item.fill_known, KindOf(item), operation});
    if (waiting_.size() == kMostWaiting) BookWaiting();
  }

  // What was added. The object that reads is new.
  void Visit(StateArchive& archive);

  // What was added, by operation and name. Call once, last.
  std::vector<KernelTime> Take();

 private:
  struct Kind {
    std::string name;
    WorkClass work_class;
    bool is_graph = false;
    uint32_t graph = 0;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  struct Account {
    OperationIndex operation;
    uint32_t kind;
    LengthCounts lengths;
    bool fill_known = true;
  };
  // Kernels of hundreds of names come in turns, so that the account of each is not in the cache
  // when its turn comes. So work waits until there is much, is summed up in one go, and lengths are
  // booked account by account.
  struct Waiting {
    uint32_t length_ns;
    Fill fill : 31;
    bool fill_known : 1;
    uint32_t kind;
    OperationIndex operation;
  };
  static_assert(sizeof(Waiting) == 16 && kFillOne < 1u << 31);
  // The account of a kind that was asked for last: work of one name mostly has one operation.
  struct Newest {
    OperationIndex operation = UINT32_MAX;  // none
    uint32_t place = 0;
  };
  static constexpr size_t kMostWaiting = 32'768;
  static constexpr int64_t kLongestWaiting = UINT32_MAX;  // others are booked at once

  uint32_t KindOf(const GpuItem& item) {
    if (item.is_graph) return KindOfGraph(item);
    return Raw(item.work) < kind_of_.size() ? kind_of_[Raw(item.work)] : unnamed_;
  }
  uint32_t KindOfGraph(const GpuItem& item);
  uint32_t PlaceOf(uint32_t kind, OperationIndex operation) {
    if (kind < newest_.size() && newest_[kind].operation == operation) return newest_[kind].place;
    return FindAccount(kind, operation);
  }
  uint32_t NumberOf(const Kind& kind);
  uint32_t FindAccount(uint32_t kind, OperationIndex operation);
  void AddLong(const GpuItem& item, OperationIndex operation, int64_t length_ns);
  void AddFilled(uint32_t place, Fill fill, bool fill_known, int64_t length_ns) {
    filled_[place] += FilledTime{fill} * static_cast<uint64_t>(length_ns);
    if (!fill_known) accounts_[place].fill_known = false;
  }
  void BookWaiting();
  std::vector<uint32_t> SumWaiting();
  void BookLengths(std::span<const uint32_t> ends);

  const ProcessTrace& process_;
  const Interval span_;
  const KnownGraphs graphs_;
  std::vector<Kind> kinds_;
  std::vector<uint32_t> kind_of_;  // by WorkId
  uint32_t unnamed_ = 0;           // kind of ids that have no row
  std::unordered_map<uint32_t, uint32_t> kind_of_graph_;
  // In |accounts_|, by operation and kind. Of those that there are: programs that number their
  // operations ("episode 17") have so many that a table of all pairs would take gigabytes.
  std::unordered_map<uint64_t, uint32_t> places_;
  std::vector<Newest> newest_;  // by kind
  std::vector<Account> accounts_;
  std::vector<FilledTime> filled_;  // by account, side by side for the cache
  PlainList<Waiting> waiting_;
  std::vector<uint32_t> place_of_waiting_;  // scratch, like the next one
  std::vector<uint32_t> by_account_;        // lengths
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_KERNEL_BOOK_H_
