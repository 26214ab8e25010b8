// SPDX-License-Identifier: Apache-2.0
//
// Few pieces of work run at a time, and those that end last are looked at. One object, one caller.
#include "analysis/replay/slot_line.h"

#include <algorithm>

namespace gpubound {
namespace {

// Of work that is over before the last that was placed begins, so many pieces are kept. Before
// their ends no slot counts as free.
constexpr size_t kKept = 32;

}  // namespace

SlotLine::Slot SlotLine::Take(uint32_t slots, const Moment& ready, double hand_over) const {
  if (slots == 0) return {ready, ready.at};
  const Moment& first_try = Later(ready, forgotten_);
  Slot slot{first_try, first_try.at};
  while (true) {
    uint32_t running = 0;
    const Held* first = nullptr;  // to end
    for (size_t i = held_.size(); i > 0 && held_[i - 1].end.at > slot.from; --i) {
      if (held_[i - 1].from > slot.from) continue;
      ++running;
      first = &held_[i - 1];
    }
    if (running < slots) return slot;
    slot = {first->end.After(hand_over), first->end.at};
  }
}

void SlotLine::Hold(uint32_t slots, double from, const Moment& end) {
  if (slots != 0 && from < last_from_) {
    PutOff(slots, from, end);
  } else {
    Insert({from, end});
  }
  if (held_.size() >= most_held_) Forget();
}

void SlotLine::Insert(const Held& held) {
  last_from_ = std::max(last_from_, held.from);
  held_.push_back(held);
  size_t place = held_.size() - 1;
  for (; place > 0 && held_[place - 1].end.at > held.end.at; --place) {
    held_[place] = held_[place - 1];
  }
  held_[place] = held;
}

// What begins later is placed again, in the order in which it began.
void SlotLine::PutOff(uint32_t slots, double from, const Moment& end) {
  put_off_.clear();
  for (const Held& held : held_) {
    if (held.from > from) put_off_.push_back(held);
  }
  held_.EraseIf([from](const Held& held) { return held.from > from; });
  Insert({from, end});
  std::stable_sort(put_off_.begin(), put_off_.end(),
                   [](const Held& a, const Held& b) { return a.from < b.from; });
  for (const Held& held : put_off_) {
    const double moved = Take(slots, Moment{held.from}, 0).from;
    Insert({moved, held.end.After(moved - held.from)});
  }
}

void SlotLine::Forget() {
  const auto over = static_cast<size_t>(
      std::partition_point(held_.begin(), held_.end(),
                           [this](const Held& held) { return held.end.at <= last_from_; }) -
      held_.begin());
  const size_t forgotten = over - std::min(over, kKept);
  if (forgotten != 0) forgotten_ = Later(forgotten_, held_[forgotten - 1].end);
  held_.AddUntil(std::copy(held_.begin() + forgotten, held_.end(), held_.begin()));
  most_held_ = std::max(most_held_, 2 * held_.size());
}

}  // namespace gpubound
