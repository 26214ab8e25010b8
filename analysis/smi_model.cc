// SPDX-License-Identifier: Apache-2.0
//
// Counts touched windows in one pass. One object, one caller.
#include "analysis/smi_model.h"

#include <algorithm>

namespace gpubound {

void SmiModel::AddSlowPath(const Interval& kernel) {
  const Interval clipped = kernel.ClippedTo(span_);
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

void SmiModel::Append(const SmiModel& later) {
  if (later.touched_ns_ == 0) return;
  const bool overlap = later.first_window_ < next_window_;
  touched_ns_ += later.touched_ns_ - (overlap ? LengthOf(later.first_window_) : 0);
  next_window_ = later.next_window_;
  undecided_ns_ = later.undecided_ns_;
}

void SmiModel::Visit(StateArchive& archive) {
  int64_t whole_windows_ns = touched_ns_ + BeyondSpan();
  archive.All(whole_windows_ns, next_window_, undecided_ns_);
  touched_ns_ = whole_windows_ns - BeyondSpan();
}

SmiModel SmiModel::Of(const Interval& span) const {
  SmiModel model(span);
  model.next_window_ = next_window_;
  model.undecided_ns_ = undecided_ns_;
  model.touched_ns_ = touched_ns_ + BeyondSpan() - model.BeyondSpan();
  return model;
}

double SmiModel::Share() const {
  if (span_.empty()) return 0;
  return static_cast<double>(touched_ns_) / static_cast<double>(span_.length());
}

}  // namespace gpubound
