// SPDX-License-Identifier: Apache-2.0
//
// What holds the slots of a device's resource, on one time line: how many pieces of work run when,
// and so when what is ready gets a slot. Work is placed in any order. Where it finds a slot free
// before work that was placed earlier, it takes it, as a device would have served it first:
//
//   two slots   aaaaaaa    ddddd        aaaaaaa    ddddd
//               bbbb   eeeeeee     ->   bbbbcccccc     eeeeeee     c, placed last, was ready there
//
// Work that is in its way is put off. Its times were told already and stay as they were told; those
// of what comes behind it are right. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_SLOT_LINE_H_
#define GPUBOUND_ANALYSIS_REPLAY_SLOT_LINE_H_

#include <cstddef>
#include <cstdint>
#include <limits>

#include "analysis/base/plain_list.h"
#include "analysis/replay/replay_moment.h"

namespace gpubound {

class SlotLine {
 public:
  struct Slot {
    Moment start;     // of the work
    double from = 0;  // its slot is its own: from when it was free for it
  };

  // For what is ready at |ready| where |slots| pieces of work may run at a time, 0: any number. At
  // once if fewer run then, else |hand_over| (>= 0) after the first end that leaves a slot free.
  Slot Take(uint32_t slots, const Moment& ready, double hand_over) const;

  // Places work.
  void Hold(uint32_t slots, double from, const Moment& end);

 private:
  struct Held {
    double from;
    Moment end;
  };
  void Insert(const Held& held);
  void PutOff(uint32_t slots, double from, const Moment& end);
  void Forget();

  PlainList<Held> held_;     // by end
  PlainList<Held> put_off_;  // while others are placed
  Moment forgotten_;         // the last end of what is no longer in |held_|
  size_t most_held_ = 64;
  double last_from_ = -std::numeric_limits<double>::infinity();
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_SLOT_LINE_H_
