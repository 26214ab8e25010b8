// SPDX-License-Identifier: Apache-2.0
//
// Counts touched windows in one pass. One object, one caller.
#include "analysis/timeline/smi_model.h"

#include <algorithm>

namespace gpubound {

void TouchedWindows::AddSlowPath(const Interval& time) {
  const Interval clipped = time.ClippedTo(span_);
  if (clipped.empty()) return;
  const int64_t first = std::max(next_window_, (clipped.begin_ns - span_.begin_ns) / kSmiWindowNs);
  const int64_t last = (clipped.end_ns - 1 - span_.begin_ns) / kSmiWindowNs;
  if (last < first) return;
  if (touched_ns_ == 0) first_window_ = first;
  const int64_t end_ns = std::min(span_.length(), (last + 1) * kSmiWindowNs);
  touched_ns_ += end_ns - first * kSmiWindowNs;
  next_window_ = last + 1;
  undecided_ns_ = span_.begin_ns + next_window_ * kSmiWindowNs;
}

void TouchedWindows::Append(const TouchedWindows& later) {
  if (later.touched_ns_ == 0) return;
  const bool overlap = later.first_window_ < next_window_;
  touched_ns_ += later.touched_ns_ - (overlap ? LengthOf(later.first_window_) : 0);
  next_window_ = later.next_window_;
  undecided_ns_ = later.undecided_ns_;
}

void TouchedWindows::Visit(StateArchive& archive) {
  int64_t whole_windows_ns = touched_ns_ + BeyondSpan();
  archive.All(whole_windows_ns, next_window_, undecided_ns_);
  touched_ns_ = whole_windows_ns - BeyondSpan();
}

TouchedWindows TouchedWindows::Of(const Interval& span) const {
  TouchedWindows of_span(span);
  of_span.next_window_ = next_window_;
  of_span.undecided_ns_ = undecided_ns_;
  of_span.touched_ns_ = touched_ns_ + BeyondSpan() - of_span.BeyondSpan();
  return of_span;
}

double TouchedWindows::Share() const {
  if (span_.empty()) return 0;
  return static_cast<double>(touched_ns_) / static_cast<double>(span_.length());
}

void SmiModel::AddSlowPath(const Interval& kernel) {
  known_.Add(kernel);
  possible_.Add(kernel);
}

void SmiModel::Add(const GpuWindow& window, int64_t end_ns) {
  constexpr GpuMix kKernels = kUnrecordedBit - 1 - (1u << kCopy);
  for (size_t i = 0; i + 1 < window.all.size(); ++i) {
    const GpuSegment& segment = window.all[i];
    const Interval time{segment.begin_ns, std::min(window.all[i + 1].begin_ns, end_ns)};
    if ((segment.mix & kKernels) != 0) {
      Add(time);
    } else if ((segment.mix & kUnrecordedBit) != 0) {
      AddUnknown(time);
    }
  }
}

void SmiModel::Append(const SmiModel& later) {
  known_.Append(later.known_);
  possible_.Append(later.possible_);
}

SmiModel SmiModel::Of(const Interval& span) const {
  SmiModel model(span);
  model.known_ = known_.Of(span);
  model.possible_ = possible_.Of(span);
  return model;
}

}  // namespace gpubound
