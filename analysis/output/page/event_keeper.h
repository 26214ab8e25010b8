// SPDX-License-Identifier: Apache-2.0
//
// Which single events of a timeline track are kept: all of them as long as the whole run's fit, and
// beside them those that reach into a detail window, so that when the run turns out to be too long
// its windows are there without a second pass. One object a track; the plan is shared by the tracks
// of a run. One caller.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_PAGE_EVENT_KEEPER_H_
#define GPUBOUND_ANALYSIS_OUTPUT_PAGE_EVENT_KEEPER_H_

#include <cstdint>
#include <vector>

#include "analysis/output/page/detail_window.h"

namespace gpubound {

struct KeptEvent {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  uint32_t name = 0;
  uint32_t depth = 0;
  bool begin_cut = false;  // began earlier, where events are missing
  bool end_cut = false;    // its end was not recorded
  uint32_t link = 0;       // a call and the work that it launched have the same; 0: none
};

// What the tracks of a run share.
class DetailPlan {
 public:
  // All events are kept until there are more than |most|; in a window at most |track_most| of a
  // track, and then the window ends where the first one was left out.
  DetailPlan(std::vector<DetailWindow> windows, uint64_t most, uint32_t track_most)
      : windows_(std::move(windows)), left_(most), track_most_(track_most) {
    for (const DetailWindow& window : windows_) ends_ns_.push_back(window.time.end_ns);
  }

  bool whole() const { return whole_; }  // every event so far is kept
  void Spend() { left_ > 0 ? void(--left_) : void(whole_ = false); }
  uint32_t track_most() const { return track_most_; }
  const std::vector<DetailWindow>& windows() const { return windows_; }
  void EndWindow(size_t window, int64_t time_ns) {
    ends_ns_[window] = std::min(ends_ns_[window], time_ns);
  }
  // The windows in which every event of every track was kept.
  std::vector<DetailWindow> Kept() const;

 private:
  std::vector<DetailWindow> windows_;
  std::vector<int64_t> ends_ns_;
  uint64_t left_;
  uint32_t track_most_;
  bool whole_ = true;
};

class EventKeeper {
 public:
  explicit EventKeeper(DetailPlan* plan) : plan_(plan), in_window_(plan->windows().size()) {}

  // In any order; the order of ends is that of a stack of scopes.
  void Add(const KeptEvent& event);
  uint64_t seen() const { return seen_; }
  // Those kept, by begin, outer before inner. Once every track of the plan has seen its events.
  std::vector<KeptEvent> Take();

 private:
  bool FitsWindow(const KeptEvent& event);

  DetailPlan* plan_;
  uint64_t seen_ = 0;
  std::vector<KeptEvent> all_;
  std::vector<KeptEvent> windowed_;
  std::vector<uint32_t> in_window_;  // number kept, by window
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_PAGE_EVENT_KEEPER_H_
