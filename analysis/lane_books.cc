// SPDX-License-Identifier: Apache-2.0
//
// Opens and closes books. One object, one caller.
#include "analysis/lane_books.h"

namespace gpubound {

LaneBooks::LaneBooks(const ProcessTimeline& timeline, bool python, int64_t begin_ns)
    : timeline_(timeline),
      quiet_(kNotOne, python ? Layer::kPython : Layer::kNative, IdleCause::kUnknown, kNotOne),
      quiet_book_(begin_ns, QuietState(), CellBook::Devices::kTogether),
      lanes_(timeline.lanes()) {}

void LaneBooks::OpenWindow(const GpuWindow& gpu) {
  quiet_book_.OpenWindow(gpu);
  for (const uint32_t lane : open_) lanes_[lane].book->OpenWindow(gpu);
}

void LaneBooks::BookWindow(int64_t at_ns, const Interval& span) {
  CloseQuiet();
  for (const uint32_t lane : timeline_.awake_lanes()) {
    if (!lanes_[lane].open) Open(lane);
  }
  for (const uint32_t lane : open_) {
    CellBook& book = *lanes_[lane].book;
    book.SwitchTo(timeline_.LaneAtBegin(lane), at_ns);
    book.SwitchAll(timeline_.LaneChanges(lane), timeline_.phase(), span, timeline_.InLane());
  }
  quiet_book_.SwitchTo(QuietState(), at_ns);
}

void LaneBooks::BookUntil(int64_t now_ns) {
  quiet_book_.BookUntil(now_ns);
  for (const uint32_t lane : open_) lanes_[lane].book->BookUntil(now_ns);
}

void LaneBooks::Open(uint32_t lane) {
  Lane& opened = lanes_[lane];
  if (opened.book) {
    opened.book->Reopen(quiet_book_);
  } else {
    opened.book.emplace(quiet_book_);
  }
  opened.open = true;
  open_.push_back(lane);
}

// Of lanes that were quiet when the last window ended, and are through this one.
void LaneBooks::CloseQuiet() {
  std::erase_if(open_, [this](uint32_t lane) {
    if (timeline_.IsLaneAwake(lane) || timeline_.LaneDoing(lane) != quiet_) return false;
    lanes_[lane].open = false;
    lanes_[lane].book->Close(quiet_book_);
    return true;
  });
}

CellBook LaneBooks::Whole(size_t lane) const {
  const Lane& of = lanes_[lane];
  if (!of.book) return quiet_book_;
  CellBook whole = *of.book;
  if (!of.open) whole.Reopen(quiet_book_);
  return whole;
}

void LaneBooks::Visit(StateArchive& archive) {
  quiet_book_.Visit(archive, QuietState());
  uint64_t count = lanes_.size();
  archive.All(count);
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    uint32_t thread = archive.reads() ? 0 : timeline_.lane_thread(i);
    archive.All(thread);
    const uint32_t lane = timeline_.LaneOf(thread);
    if (lane == kNotOne) return archive.Fail();
    if (archive.reads()) {
      if (!lanes_[lane].open) Open(lane);
      lanes_[lane].book->Visit(archive, timeline_.LaneAtBegin(lane));
    } else {
      Whole(lane).Visit(archive, timeline_.LaneAtBegin(lane));
    }
  }
}

}  // namespace gpubound
