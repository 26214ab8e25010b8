// SPDX-License-Identifier: Apache-2.0
//
// A stack of scopes that hands each on when it closes. No state beyond the object.
#include "analysis/output/page/scope_track.h"

#include <algorithm>

namespace gpubound {

ScopeTrack::ScopeTrack(const ProcessTrace& process, const ThreadTrace& thread, const Names& names,
                       int64_t to_run_ns, ShareBand* band, EventKeeper* keeper)
    : names_(names),
      to_run_ns_(to_run_ns),
      band_(band),
      keeper_(keeper),
      band_ns_(process.span_begin_ns),
      last_ns_(thread.began_ns == kOpenEnded ? process.span_begin_ns : thread.began_ns) {
  for (const Label& label : process.labels) {
    const bool may_be = label.kind == LabelKind::kOperation || label.kind == LabelKind::kAnnotation;
    operation_.push_back(may_be && names.operations.contains(label.text));
    wait_.push_back(label.layer == Layer::kWait);
  }
}

bool ScopeTrack::IsOperation(LabelId label) const {
  return Raw(label) < operation_.size() && operation_[Raw(label)];
}

uint32_t ScopeTrack::NameOf(LabelId label) const {
  return Raw(label) < names_.of_label->size() ? (*names_.of_label)[Raw(label)] : 0;
}

uint32_t ScopeTrack::Owner() const {
  const auto operation =
      std::find_if(open_.rbegin(), open_.rend(), [](const Open& open) { return open.operation; });
  return NameOf(operation != open_.rend() ? operation->label : open_.back().label);
}

void ScopeTrack::MoveBand(int64_t time_ns) {
  if (!open_.empty()) band_->Add(band_ns_ + to_run_ns_, time_ns + to_run_ns_, Owner());
  band_ns_ = std::max(band_ns_, time_ns);
}

void ScopeTrack::Push(LabelId label, int64_t time_ns, bool is_range, uint64_t range) {
  MoveBand(time_ns);
  open_.push_back({label, time_ns, range, is_range, IsOperation(label), false});
  if (Raw(label) < wait_.size() && wait_[Raw(label)]) names_.waits->insert(NameOf(label));
}

void ScopeTrack::Close(size_t index, int64_t time_ns, bool end_cut) {
  MoveBand(time_ns);
  const Open& open = open_[index];
  keeper_->Add({open.begin_ns + to_run_ns_, time_ns + to_run_ns_, NameOf(open.label),
                static_cast<uint32_t>(index), open.begin_cut, end_cut});
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
}

void ScopeTrack::CloseLast(const ThreadEvent& event, bool is_range) {
  for (size_t i = open_.size(); i-- > 0;) {
    const Open& open = open_[i];
    if (open.is_range != is_range) continue;
    if (is_range ? open.range != event.payload : open.label != event.label) continue;
    Close(i, event.time_ns, false);
    return;
  }
}

void ScopeTrack::CloseForeignUntil(int64_t time_ns) {
  for (; next_foreign_end_ < foreign_ends_.size() &&
         foreign_ends_[next_foreign_end_].time_ns <= time_ns;
       ++next_foreign_end_) {
    const ForeignEnd& end = foreign_ends_[next_foreign_end_];
    ThreadEvent event;
    event.time_ns = std::max(end.time_ns, band_ns_);
    event.payload = end.range;
    CloseLast(event, true);
  }
}

void ScopeTrack::Take(const ThreadBatch& batch) {
  if (batch.resync || batch.thinned) {
    while (!open_.empty()) Close(open_.size() - 1, last_ns_, true);
    const int64_t time_ns = batch.events.front().time_ns;
    if (batch.thinned) NoteThinned(time_ns);
    for (const LabelId label : batch.open) {
      Push(label, time_ns, false, 0);
      open_.back().begin_cut = true;
    }
  }
  for (const ThreadEvent& event : batch.events) {
    CloseForeignUntil(event.time_ns);
    last_ns_ = event.time_ns;
    switch (event.kind) {
      case SlotKind::kBegin:
        Push(event.label, event.time_ns, false, 0);
        break;
      case SlotKind::kEnd:
        CloseLast(event, false);
        break;
      case SlotKind::kRangeStart:
        Push(event.label, event.time_ns, true, event.payload);
        break;
      case SlotKind::kRangeEnd:
        CloseLast(event, true);
        break;
      default:
        break;
    }
  }
}

void ScopeTrack::NoteThinned(int64_t until_ns) {
  const Interval thinned{last_ns_ + to_run_ns_, until_ns + to_run_ns_};
  if (!thinned.empty()) thinned_.push_back(thinned);
}

void ScopeTrack::Finish(int64_t end_ns, bool tail_is_missing) {
  CloseForeignUntil(end_ns);
  if (tail_is_missing) NoteThinned(end_ns);
  if (tail_is_missing) end_ns = last_ns_;
  while (!open_.empty()) Close(open_.size() - 1, std::max(end_ns, open_.back().begin_ns), true);
}

}  // namespace gpubound
