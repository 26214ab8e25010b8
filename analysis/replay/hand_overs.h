// SPDX-License-Identifier: Apache-2.0
//
// What threads of a process have handed over in a replay, by token. Any number of threads may take
// a token up, so nothing says when it is done with, and the latest offers are kept: what is taken
// up after more than so many others, as from a very long queue, has no known origin. One object,
// one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_HAND_OVERS_H_
#define GPUBOUND_ANALYSIS_REPLAY_HAND_OVERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "analysis/replay/replay_moment.h"
#include "analysis/replay/typical_delay.h"
#include "proto/wake_tokens.h"

namespace gpubound {

class HandOvers {
 public:
  static constexpr size_t kMost = 16'384;
  struct Offer {
    int64_t time_ns;
    Moment at;
    double slept = 0;  // of who offers it, as ReplayThread has it
  };

  void Add(uint64_t token, const Offer& offer) {
    offers_.insert_or_assign(token, Kept{offer, ++added_});
    order_.push_back(token);
    if (order_.size() <= kMost) return;
    const auto oldest = offers_.find(order_.front());
    order_.pop_front();
    if (oldest->second.number + kMost == added_) offers_.erase(oldest);
  }
  // Null for a token that was not offered, or long ago.
  const Offer* Find(uint64_t token) const {
    const auto found = offers_.find(token);
    return found == offers_.end() ? nullptr : &found->second.offer;
  }
  size_t size() const { return offers_.size(); }

 private:
  struct Kept {
    Offer offer;
    uint64_t number;  // of the offers so far, from 1
  };

  std::unordered_map<uint64_t, Kept> offers_;
  std::deque<uint64_t> order_;  // tokens of the latest offers, the oldest first
  uint64_t added_ = 0;
};

// How late after what let them go on threads usually do, by token: of times it is later, timers are
// coarse.
class UsualWakeUps {
 public:
  TypicalDelay& Of(uint64_t token) { return IsTime(token) ? of_times_ : of_threads_; }

 private:
  TypicalDelay of_threads_;
  TypicalDelay of_times_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_HAND_OVERS_H_
