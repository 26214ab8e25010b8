// SPDX-License-Identifier: Apache-2.0
//
// Clusters times. One object, one thread.
#include "analysis/import/import_times.h"

#include <algorithm>
#include <limits>

namespace gpubound {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDay = 86'400 * kSecond;
// What lies so close together is one.
constexpr int64_t kClose = kSecond / 1000;

// Of fewer events none is taken for an exception.
constexpr uint64_t kFewest = 10;

int64_t Distance(int64_t from_ns, int64_t to_ns) {
  int64_t distance = 0;
  return __builtin_sub_overflow(to_ns, from_ns, &distance) ? INT64_MAX : distance;
}

}  // namespace

void ForeignTimes::See(int64_t start_ns, int64_t end_ns) {
  // Nothing that a profiler watches takes a day without an event inside: of what seems to, the end
  // counts where others are.
  if (Distance(start_ns, end_ns) >= kDay) {
    pending_.push_back({end_ns, end_ns, 0});
    end_ns = start_ns;
  }
  if (start_ns >= current_.begin_ns && Distance(current_.end_ns, start_ns) <= kClose) {
    current_.end_ns = std::max(current_.end_ns, end_ns);
    ++current_.events;
  } else {
    pending_.push_back(current_);
    current_ = {start_ns, end_ns, 1};
  }
  if (pending_.size() >= kMostPending) Settle();
}

void ForeignTimes::Settle() {
  pending_.push_back(current_);
  current_ = {INT64_MAX, INT64_MIN, 0};
  clusters_.insert(clusters_.end(), pending_.begin(), pending_.end());
  pending_.clear();
  std::erase_if(clusters_, [](const Cluster& c) { return c.begin_ns > c.end_ns; });
  std::sort(clusters_.begin(), clusters_.end(),
            [](const Cluster& a, const Cluster& b) { return a.begin_ns < b.begin_ns; });
  size_t kept = 0;
  for (const Cluster& next : clusters_) {
    if (kept > 0 && Distance(clusters_[kept - 1].end_ns, next.begin_ns) <= kClose) {
      Cluster& before = clusters_[kept - 1];
      before.end_ns = std::max(before.end_ns, next.end_ns);
      before.events += next.events;
    } else {
      clusters_[kept++] = next;
    }
  }
  clusters_.resize(kept);
  if (clusters_.size() > kMostClusters) Coarsen();
}

// Leaves the widest gaps.
void ForeignTimes::Coarsen() {
  std::vector<int64_t> gaps;
  for (size_t i = 1; i < clusters_.size(); ++i) {
    gaps.push_back(Distance(clusters_[i - 1].end_ns, clusters_[i].begin_ns));
  }
  const auto least = gaps.end() - static_cast<ptrdiff_t>(kMostClusters / 2);
  std::nth_element(gaps.begin(), least, gaps.end());
  size_t kept = 0;
  for (size_t i = 0; i < clusters_.size(); ++i) {
    if (kept > 0 && Distance(clusters_[kept - 1].end_ns, clusters_[i].begin_ns) <= *least) {
      clusters_[kept - 1].end_ns = clusters_[i].end_ns;
      clusters_[kept - 1].events += clusters_[i].events;
    } else {
      clusters_[kept++] = clusters_[i];
    }
  }
  clusters_.resize(kept);
}

// Takes in what is nearest, as long as it is near.
ForeignTimes::Extent ForeignTimes::Grow(size_t from, int64_t least_ns, double times,
                                        uint64_t* inside) const {
  size_t first = from;
  size_t last = from;
  *inside = clusters_[from].events;
  while (true) {
    const int64_t begin_ns = clusters_[first].begin_ns;
    const int64_t end_ns = clusters_[last].end_ns;
    const int64_t before = first > 0 ? Distance(clusters_[first - 1].end_ns, begin_ns) : INT64_MAX;
    const int64_t after =
        last + 1 < clusters_.size() ? Distance(end_ns, clusters_[last + 1].begin_ns) : INT64_MAX;
    const int64_t next = std::min(before, after);
    const double far = std::max(static_cast<double>(least_ns),
                                times * static_cast<double>(Distance(begin_ns, end_ns)));
    const bool none = first == 0 && last + 1 == clusters_.size();
    if (none || static_cast<double>(next) >= far) {
      return {begin_ns, end_ns, none ? 0 : next};
    }
    *inside += before <= after ? clusters_[--first].events : clusters_[++last].events;
  }
}

// From wherever that gives the most events.
ForeignTimes::Extent ForeignTimes::Largest(int64_t least_ns, double times, uint64_t* inside) const {
  // A time that was lost is 0 more often than anything else.
  const bool has_nothing = clusters_.front().begin_ns == 0 && clusters_.front().end_ns < kSecond &&
                           clusters_.back().end_ns > kDay;
  Extent largest;
  for (size_t i = has_nothing ? 1 : 0; i < clusters_.size(); ++i) {
    if (clusters_[i].begin_ns >= largest.first_ns && clusters_[i].end_ns <= largest.last_ns) {
      continue;
    }
    uint64_t events = 0;
    const Extent extent = Grow(i, least_ns, times, &events);
    if (!largest.empty() && events < *inside) continue;
    largest = extent;
    *inside = events;
  }
  return largest;
}

ForeignTimes::Extent ForeignTimes::Decide() {
  Settle();
  if (clusters_.empty()) return {};
  uint64_t all = 0;
  for (const Cluster& cluster : clusters_) all += cluster.events;
  const Extent whole{clusters_.front().begin_ns, clusters_.back().end_ns, 0};
  if (all < kFewest || clusters_.size() == 1) return whole;
  uint64_t inside = 0;
  const Extent near = Largest(kSecond, 1000, &inside);
  if (all - inside <= std::max<uint64_t>(2, all / 50)) return near;
  const Extent wide = Largest(kDay, 1e6, &inside);
  const bool lost = clusters_.front().begin_ns == 0 && wide.first_ns > 0;
  return inside * 2 >= all || lost ? wide : whole;
}

}  // namespace gpubound
