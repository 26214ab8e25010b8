// SPDX-License-Identifier: Apache-2.0
//
// Opens and closes books. One object, one caller.
#include "analysis/sweep/lane_books.h"

namespace gpubound {

LaneBooks::LaneBooks(const ProcessTimeline& timeline, bool python, int64_t begin_ns)
    : timeline_(timeline),
      rests_{RestIn(python ? Layer::kPython : Layer::kNative, begin_ns),
             RestIn(Layer::kWait, begin_ns)},  // as a thread's end is recorded
      lanes_(timeline.lanes()) {
  for (uint32_t lane = 0; lane < lanes_.size(); ++lane) {
    const bool has_begun = timeline.LaneDoing(lane).layer() != Layer::kWait;
    lanes_[lane].rest = has_begun ? 0 : 1;
  }
}

LaneBooks::Rest LaneBooks::RestIn(Layer layer, int64_t begin_ns) const {
  const Doing doing(kNotOne, layer, IdleCause::kUnknown, kNotOne);
  return {doing, CellBook(begin_ns, timeline_.StateOf(doing), CellBook::Devices::kTogether)};
}

void LaneBooks::OpenWindow(const GpuWindow& gpu) {
  for (Rest& rest : rests_) rest.book.OpenWindow(gpu);
  for (const uint32_t lane : open_) lanes_[lane].book->OpenWindow(gpu);
}

void LaneBooks::BookWindow(int64_t at_ns, const Interval& span) {
  CloseResting();
  for (const uint32_t lane : timeline_.awake_lanes()) {
    if (!lanes_[lane].open) Open(lane);
  }
  for (const uint32_t lane : open_) {
    CellBook& book = *lanes_[lane].book;
    book.SwitchTo(timeline_.LaneAtBegin(lane), at_ns);
    book.SwitchAll(timeline_.LaneChanges(lane), timeline_.phase(), span, timeline_.InLane());
  }
  for (Rest& rest : rests_) rest.book.SwitchTo(StateOf(rest), at_ns);
}

void LaneBooks::BookUntil(int64_t now_ns) {
  for (Rest& rest : rests_) rest.book.BookUntil(now_ns);
  for (const uint32_t lane : open_) lanes_[lane].book->BookUntil(now_ns);
}

void LaneBooks::Open(uint32_t lane) {
  Lane& opened = lanes_[lane];
  if (opened.book) {
    opened.book->Reopen(rests_[opened.rest].book);
  } else {
    opened.book.emplace(rests_[opened.rest].book);
  }
  opened.open = true;
  open_.push_back(lane);
}

// The rest in which a lane was when the last window ended, and is through this one.
std::optional<size_t> LaneBooks::RestOf(uint32_t lane) const {
  if (timeline_.IsLaneAwake(lane)) return std::nullopt;
  const Doing doing = timeline_.LaneDoing(lane).WithoutCause();
  for (size_t rest = 0; rest < rests_.size(); ++rest) {
    if (doing == rests_[rest].doing) return rest;
  }
  return std::nullopt;
}

void LaneBooks::CloseResting() {
  std::erase_if(open_, [this](uint32_t lane) {
    const std::optional<size_t> rest = RestOf(lane);
    if (!rest) return false;
    lanes_[lane].open = false;
    lanes_[lane].rest = *rest;
    lanes_[lane].book->Close(rests_[*rest].book);
    return true;
  });
}

CellBook LaneBooks::Whole(size_t lane) const {
  const Lane& of = lanes_[lane];
  const CellBook& rest = rests_[of.rest].book;
  if (!of.book) return rest;
  CellBook whole = *of.book;
  if (!of.open) whole.Reopen(rest);
  return whole;
}

void LaneBooks::Visit(StateArchive& archive) {
  for (Rest& rest : rests_) rest.book.Visit(archive, StateOf(rest));
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
