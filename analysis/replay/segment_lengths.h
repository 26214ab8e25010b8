// SPDX-License-Identifier: Apache-2.0
//
// How long the time between two kinds of events usually is, to tell how much of one occurrence is
// noise of the profiler. A recorded length is the program's own plus a cost of which mean and
// variance are known. Where lengths differ by no more than the cost does, their differences are the
// cost's, and the usual length says more of the program than this one; where they differ by much
// more, this one says all. The usual length is a running mean, so that sums stay what they are.
// A length that no cost explains (a checkpoint, an evaluation, the last step of all) is what the
// program did then: it is returned as it is, and says nothing of what is usual.
//
// Fixed size; kinds that share a place are told apart by nothing. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_REPLAY_SEGMENT_LENGTHS_H_
#define GPUBOUND_ANALYSIS_REPLAY_SEGMENT_LENGTHS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpubound {

class SegmentLengths {
 public:
  // The likely length, cost included, of a segment of |kind| that was recorded with |length| and
  // holds a cost with |variance|.
  double Likely(uint64_t kind, double length, double variance) {
    if (segments_.empty()) segments_.resize(kSegments);
    Segment& segment = segments_[(kind * kMix) >> kShift];
    if (IsForeign(&segment, length, variance)) return length;
    const double weight = std::max(1.0 / ++segment.count, kSlowest);
    const double difference = length - segment.mean;
    // What was usual before this one.
    const double own_variance = std::max(0.0, segment.variance - variance);
    const double trust =
        segment.count > kFew && segment.variance > 0 ? own_variance / segment.variance : 1;
    segment.count = std::min(segment.count, kManyCounts);
    segment.mean += weight * difference;
    segment.variance = (1 - weight) * (segment.variance + weight * difference * difference);
    const double likely = segment.mean + trust * (length - segment.mean) + weight * segment.owed;
    segment.owed += length - likely;
    return likely;
  }

 private:
  struct Segment {
    double mean = 0;
    double variance = 0;
    double count = 0;
    double owed = 0;  // recorded in all, less what was returned
    int foreign = 0;  // lengths in a row that are of another kind
  };

  // Whether no cost explains how |length| differs from the usual one. When several in a row do so,
  // the usual one has changed, or the first was the odd one: it is learnt anew.
  static bool IsForeign(Segment* segment, double length, double variance) {
    const double difference = length - segment->mean;
    if (segment->count == 0 || difference * difference <= kNoise * kNoise * variance) {
      segment->foreign = 0;
      return false;
    }
    if (++segment->foreign < kNewHabit) return true;
    *segment = {.owed = segment->owed};
    return false;
  }

  static constexpr size_t kSegments = 1024;
  static constexpr int kShift = 54;
  static constexpr uint64_t kMix = 0x9e3779b97f4a7c15;  // spreads kinds over places
  static constexpr double kSlowest = 1.0 / 256;         // weight of the newest
  static constexpr double kFew = 16;
  static constexpr double kManyCounts = 1e6;
  static constexpr double kNoise = 10;  // standard deviations of a cost, under a heavy tail too
  static constexpr int kNewHabit = 4;
  std::vector<Segment> segments_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_SEGMENT_LENGTHS_H_
