// SPDX-License-Identifier: Apache-2.0
//
// A few stretches at a time. One object, one caller.
#include "analysis/timeline/blocked_time.h"

#include <algorithm>

#include "analysis/trace/run.h"

namespace gpubound {

int64_t BlockedTime::NextTime() const {
  int64_t next_ns = kOpenEnded;
  if (blocked_.empty()) return next_ns;
  for (const auto* list : {&blocked_, &busy_}) {
    for (const Interval& time : *list) {
      next_ns = std::min(next_ns, time.begin_ns >= now_ns_ ? time.begin_ns : time.end_ns);
    }
  }
  return next_ns;
}

std::span<const Interval> BlockedTime::Open(int64_t begin_ns, int64_t end_ns) {
  found_.clear();
  now_ns_ = end_ns;
  const Interval window{begin_ns, end_ns};
  if (!blocked_.empty()) {
    std::sort(busy_.begin(), busy_.end(),
              [](const Interval& a, const Interval& b) { return a.begin_ns < b.begin_ns; });
  }
  for (const Interval& blocked : blocked_) {
    Interval rest = blocked.ClippedTo(window);
    for (const Interval& busy : busy_) {
      if (rest.empty() || busy.begin_ns >= rest.end_ns) break;
      if (busy.begin_ns > rest.begin_ns) found_.push_back({rest.begin_ns, busy.begin_ns});
      rest.begin_ns = std::max(rest.begin_ns, busy.end_ns);
    }
    if (!rest.empty()) found_.push_back(rest);
  }
  // What ends with the window has the next one begin there.
  const auto is_over = [end_ns](const Interval& time) { return time.end_ns < end_ns; };
  std::erase_if(blocked_, is_over);
  std::erase_if(busy_, is_over);
  return found_;
}

void BlockedTime::Visit(StateArchive& archive) { archive.All(blocked_, busy_, now_ns_); }

}  // namespace gpubound
