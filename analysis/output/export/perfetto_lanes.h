// SPDX-License-Identifier: Apache-2.0
//
// Finds a track for each slice, so that the slices of one track nest. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PERFETTO_LANES_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PERFETTO_LANES_H_

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "analysis/output/export/perfetto_packets.h"

namespace gpubound {

class PerfettoLanes {
 public:
  // |add| makes another track.
  explicit PerfettoLanes(std::function<PerfettoTrack()> add) : add_(std::move(add)) {}

  // Slices come by begin. The track on which one from |begin_ns| to |end_ns| lies free or inside
  // of what is open there.
  PerfettoTrack Take(int64_t begin_ns, int64_t end_ns) {
    for (Lane& lane : lanes_) {
      while (!lane.open_until.empty() && lane.open_until.back() <= begin_ns) {
        lane.open_until.pop_back();
      }
      if (!lane.open_until.empty() && lane.open_until.back() < end_ns) continue;
      lane.open_until.push_back(end_ns);
      return lane.track;
    }
    lanes_.push_back({add_(), {end_ns}});
    return lanes_.back().track;
  }

 private:
  struct Lane {
    PerfettoTrack track;
    std::vector<int64_t> open_until;  // outermost first
  };
  std::function<PerfettoTrack()> add_;
  std::vector<Lane> lanes_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PERFETTO_LANES_H_
