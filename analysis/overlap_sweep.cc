// SPDX-License-Identifier: Apache-2.0
//
// The sweep. All state is that of one instant; time that passes is booked when it has passed. One
// object, one caller.
#include "analysis/overlap_sweep.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <unordered_map>

namespace gpubound {
namespace {

// Fill times nanoseconds: 2^30 times a span of years does not fit into 64 bits.
__extension__ typedef unsigned __int128 FilledTime;

// The device work that runs at one instant.
class RunningWork {
 public:
  explicit RunningWork(uint32_t devices) : devices_(devices) {}

  int64_t FirstEnd() const { return heap_.empty() ? kOpenEnded : heap_.front().end_ns; }

  void Begin(const GpuItem& item) {
    heap_.push_back(item);
    std::push_heap(heap_.begin(), heap_.end(), EndsLater);
    classes_.Enter(item.work_class);
    Device& device = devices_[item.device];
    if (device.running++ == 0) ++busy_devices_;
    fill_of_devices_ -= std::min<uint64_t>(device.fill, kFillOne);
    device.fill += item.fill;
    fill_of_devices_ += std::min<uint64_t>(device.fill, kFillOne);
  }

  void EndUntil(int64_t now_ns) {
    while (FirstEnd() <= now_ns) {
      std::pop_heap(heap_.begin(), heap_.end(), EndsLater);
      const GpuItem item = heap_.back();
      heap_.pop_back();
      classes_.Leave(item.work_class);
      Device& device = devices_[item.device];
      if (--device.running == 0) --busy_devices_;
      fill_of_devices_ -= std::min<uint64_t>(device.fill, kFillOne);
      device.fill -= item.fill;
      fill_of_devices_ += std::min<uint64_t>(device.fill, kFillOne);
    }
  }

  uint32_t classes() const { return classes_.mask(); }
  int64_t count() const { return static_cast<int64_t>(heap_.size()); }
  uint64_t fill() const { return busy_devices_ == 0 ? 0 : fill_of_devices_ / busy_devices_; }

 private:
  struct Device {
    int64_t running = 0;
    uint64_t fill = 0;
  };
  static bool EndsLater(const GpuItem& a, const GpuItem& b) { return a.end_ns > b.end_ns; }

  std::vector<GpuItem> heap_;  // by end, earliest first
  ActiveSet classes_;
  std::vector<Device> devices_;
  uint64_t busy_devices_ = 0;
  uint64_t fill_of_devices_ = 0;
};

// Sums of time by CPU state and GPU state. The CPU state changes rarely against how often time is
// booked, so looking it up is apart from booking.
class CellTable {
 public:
  void SetCpuState(const CpuSegment& state) {
    const uint64_t key = uint64_t{state.phase} << 32 | uint64_t{state.operation} << 4 |
                         static_cast<uint64_t>(state.layer);
    const auto [entry, added] = index_.try_emplace(key, rows_.size());
    if (added) rows_.push_back({state, {}});
    current_ = entry->second;
  }
  void Book(GpuState gpu, int64_t ns) { rows_[current_].ns[gpu] += ns; }
  OperationIndex operation() const { return rows_[current_].state.operation; }

  std::vector<Cell> Cells() const {
    std::vector<Cell> cells;
    for (const Row& row : rows_) {
      for (GpuState gpu = 0; gpu < kGpuStates; ++gpu) {
        if (row.ns[gpu] == 0) continue;
        cells.push_back({row.state.phase, row.state.operation, row.state.layer, gpu, row.ns[gpu]});
      }
    }
    std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
      return std::tie(a.phase, a.operation, a.layer, a.gpu) <
             std::tie(b.phase, b.operation, b.layer, b.gpu);
    });
    return cells;
  }

 private:
  struct Row {
    CpuSegment state;
    std::array<int64_t, kGpuStates> ns;
  };
  std::unordered_map<uint64_t, size_t> index_;
  std::vector<Row> rows_;
  size_t current_ = 0;
};

class Sweep {
 public:
  explicit Sweep(const SweepInput& input)
      : in_(input),
        now_ns_(input.span.begin_ns),
        running_(input.devices),
        by_operation_(input.operations),
        filled_(input.operations) {}

  SweepResult Run() {
    if (in_.span.empty()) return Finish();
    PullSegment();
    AdoptSegment();
    while (now_ns_ < in_.span.end_ns) {
      Move(now_ns_);
      const int64_t next_ns = std::min(NextEdge(), in_.span.end_ns);
      Book(next_ns - now_ns_);
      now_ns_ = next_ns;
    }
    return Finish();
  }

 private:
  void PullSegment() {
    if (!in_.next_segment(&segment_)) segment_.begin_ns = kOpenEnded;
  }
  void AdoptSegment() {
    cells_.SetCpuState(segment_);
    PullSegment();
  }

  // Brings every stream to the state that holds from |now_ns| on.
  void Move(int64_t now_ns) {
    while (segment_.begin_ns <= now_ns) AdoptSegment();
    const std::vector<GpuItem>& work = *in_.work;
    for (; next_work_ < work.size() && work[next_work_].begin_ns <= now_ns; ++next_work_) {
      if (work[next_work_].end_ns > now_ns) running_.Begin(work[next_work_]);
    }
    running_.EndUntil(now_ns);
    const std::vector<Interval>& unknown = *in_.unknown;
    while (next_unknown_ < unknown.size() && unknown[next_unknown_].end_ns <= now_ns) {
      ++next_unknown_;
    }
    unknown_ = next_unknown_ < unknown.size() && unknown[next_unknown_].begin_ns <= now_ns;
  }

  int64_t NextEdge() const {
    int64_t next_ns = std::min(segment_.begin_ns, running_.FirstEnd());
    if (next_work_ < in_.work->size()) {
      next_ns = std::min(next_ns, (*in_.work)[next_work_].begin_ns);
    }
    if (next_unknown_ < in_.unknown->size()) {
      const Interval& edge = (*in_.unknown)[next_unknown_];
      next_ns = std::min(next_ns, unknown_ ? edge.end_ns : edge.begin_ns);
    }
    return next_ns;
  }

  void Book(int64_t ns) {
    GpuState gpu = running_.classes();
    if (gpu == kGpuIdle && unknown_) gpu = kGpuUnknown;
    cells_.Book(gpu, ns);
    by_operation_[cells_.operation()].sum_ns += running_.count() * ns;
    filled_[cells_.operation()] +=
        static_cast<FilledTime>(running_.fill()) * static_cast<uint64_t>(ns);
  }

  SweepResult Finish() {
    for (size_t operation = 0; operation < by_operation_.size(); ++operation) {
      by_operation_[operation].sm_filled_ns = static_cast<int64_t>(filled_[operation] / kFillOne);
    }
    return {cells_.Cells(), std::move(by_operation_)};
  }

  const SweepInput& in_;
  int64_t now_ns_;
  CpuSegment segment_;  // the one to come
  size_t next_work_ = 0;
  size_t next_unknown_ = 0;
  bool unknown_ = false;
  RunningWork running_;
  CellTable cells_;
  std::vector<OperationGpuTime> by_operation_;
  std::vector<FilledTime> filled_;
};

}  // namespace

SweepResult SweepOverlap(const SweepInput& input) { return Sweep(input).Run(); }

}  // namespace gpubound
