// SPDX-License-Identifier: Apache-2.0
//
// What threads of a process have handed over in a replay, by token. Any number of threads may take
// a token up, so nothing says when it is done with; but it only tells something of a thread that
// has done nothing since, hence the latest ones are enough: where more than so many wait to be
// taken up, the threads that do are busy with others. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_HAND_OVERS_H_
#define GPUBOUND_ANALYSIS_HAND_OVERS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_map>

#include "analysis/replay_moment.h"

namespace gpubound {

class HandOvers {
 public:
  static constexpr size_t kMost = 4096;
  struct Offer {
    int64_t time_ns;
    Moment at;
  };

  void Add(uint64_t token, const Offer& offer) {
    if (!offers_.insert_or_assign(token, offer).second) return;
    order_.push_back(token);
    if (order_.size() <= kMost) return;
    offers_.erase(order_.front());
    order_.pop_front();
  }
  // Null for a token that was not offered, or long ago.
  const Offer* Find(uint64_t token) const {
    const auto found = offers_.find(token);
    return found == offers_.end() ? nullptr : &found->second;
  }
  size_t size() const { return offers_.size(); }

 private:
  std::unordered_map<uint64_t, Offer> offers_;
  std::deque<uint64_t> order_;  // tokens, the oldest first
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_HAND_OVERS_H_
