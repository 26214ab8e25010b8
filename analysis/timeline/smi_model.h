// SPDX-License-Identifier: Apache-2.0
//
// What nvidia-smi would have shown: the share of sampling windows in which any kernel ran at all,
// which is why it reads near 100 % for a GPU that works a fraction of the time. An upper bound and
// labelled a model (SPEC section 2). Beside it the most that it may have been where work could have
// run unrecorded: a few unknown milliseconds may hide the only kernel of a window. One object, one
// caller.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_SMI_MODEL_H_
#define GPUBOUND_ANALYSIS_TIMELINE_SMI_MODEL_H_

#include <algorithm>
#include <cstdint>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/gpu_segments.h"

namespace gpubound {

inline constexpr int64_t kSmiWindowNs = 166'666'667;

// Windows from the begin of a span in which something was, the last one by its length.
class TouchedWindows {
 public:
  explicit TouchedWindows(const Interval& span) : span_(span), undecided_ns_(span.begin_ns) {}

  // In order of begin.
  void Add(const Interval& time) {
    if (time.end_ns > undecided_ns_) AddSlowPath(time);
  }
  // What ends here or before changes nothing any more.
  int64_t undecided_ns() const { return undecided_ns_; }

  // As of SmiModel.
  void Append(const TouchedWindows& later);
  void Visit(StateArchive& archive);
  TouchedWindows Of(const Interval& span) const;

  double Share() const;  // of the span, 0..1

 private:
  void AddSlowPath(const Interval& time);
  // By how much the decided windows reach beyond the span.
  int64_t BeyondSpan() const {
    return std::max<int64_t>(0, next_window_ * kSmiWindowNs - span_.length());
  }
  int64_t LengthOf(int64_t window) const {
    return std::min(span_.length(), (window + 1) * kSmiWindowNs) - window * kSmiWindowNs;
  }

  Interval span_;
  int64_t touched_ns_ = 0;
  int64_t first_window_ = 0;  // that was added to
  int64_t next_window_ = 0;   // windows before it are decided
  int64_t undecided_ns_;      // where it begins
};

class SmiModel {
 public:
  explicit SmiModel(const Interval& span) : known_(span), possible_(span) {}

  // Kernels and graphs, and times in which some may have run unrecorded, come in order of begin.
  void Add(const Interval& kernel) {
    if (kernel.end_ns > known_.undecided_ns()) AddSlowPath(kernel);
  }
  void AddUnknown(const Interval& time) { possible_.Add(time); }
  // All that |window|, which ends at |end_ns|, says of either.
  void Add(const GpuWindow& window, int64_t end_ns);
  // A kernel that ends here or before changes nothing any more.
  int64_t undecided_ns() const { return known_.undecided_ns(); }

  // Adds what |later| was told, a model of the same span; it was told of nothing that begins before
  // what this one was told of has ended.
  void Append(const SmiModel& later);

  // The span of the object that reads may end elsewhere, not before what was added.
  void Visit(StateArchive& archive) { archive.All(known_, possible_); }

  // The same model of a |span| that has the same begin and ends behind what was decided, but for
  // its last window.
  SmiModel Of(const Interval& span) const;

  // Share (0..1) of the span, in windows from its begin, that lies in windows in which some kernel
  // ran. The last window counts by its length.
  double Share() const { return known_.Share(); }
  // Of those too in which one may have run.
  double MostShare() const { return possible_.Share(); }

 private:
  void AddSlowPath(const Interval& kernel);

  TouchedWindows known_;
  TouchedWindows possible_;  // those of |known_| among them
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_SMI_MODEL_H_
