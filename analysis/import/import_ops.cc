// SPDX-License-Identifier: Apache-2.0
//
// A stack for each thread, then a merge of two sorted streams.
#include "analysis/import/import_ops.h"

#include <algorithm>

namespace gpubound {

void OpenOps::CloseUntil(int64_t start_ns) {
  while (!open_.empty() && open_.back().end_ns <= start_ns) open_.pop_back();
}

void OpenOps::Open(int64_t start_ns, int64_t end_ns, uint32_t op) {
  CloseUntil(start_ns);
  open_.push_back({end_ns, ++instances_, op});
}

bool OpenOps::IsWithin(int64_t start_ns, OpLaunch* launch) {
  CloseUntil(start_ns);
  if (open_.empty()) return false;
  launch->instance = open_.back().instance;
  launch->op = open_.back().op;
  return true;
}

bool LaunchedOps::Add(uint64_t instance) {
  if (!known_.insert(instance).second) return false;
  if (ring_.size() < kMost) {
    ring_.push_back(instance);
    return true;
  }
  known_.erase(ring_[next_]);
  ring_[next_] = instance;
  next_ = (next_ + 1) % kMost;
  return true;
}

// Those of earlier ids launched nothing that is there.
Status OpJoin::TakeLaunchesOf(const ForeignWork& work) {
  const auto id = std::tie(work.process, work.correlation);
  of_id_.clear();
  while (has_next_ && std::tie(next_.process, next_.correlation) <= id) {
    if (std::tie(next_.process, next_.correlation) == id) of_id_.push_back(next_);
    const Result<bool> more = launches_.Next(&next_);
    if (!more.ok()) return more.error();
    has_next_ = *more;
  }
  return Ok{};
}

// Ids come again in a long trace: the launch is the last that began before the work, or the first
// where clocks differ.
Status OpJoin::Join(ForeignNames* names) {
  for (const Status& sorted : {launches_.Finish(), work_.Finish()}) {
    if (!sorted.ok()) return sorted;
  }
  Result<bool> more = launches_.Next(&next_);
  if (!more.ok()) return more.error();
  has_next_ = *more;
  ByLaunch item;
  const ForeignWork& work = item.work;
  uint32_t process = kNoIndex;
  uint32_t correlation = 0;
  for (more = work_.Next(&item); more.ok() && *more; more = work_.Next(&item)) {
    if (std::tie(work.process, work.correlation) != std::tie(process, correlation)) {
      const Status taken = TakeLaunchesOf(work);
      if (!taken.ok()) return taken;
      std::tie(process, correlation) = std::tie(work.process, work.correlation);
    }
    if (!of_id_.empty() && correlation != 0) {
      auto launch =
          std::upper_bound(of_id_.begin(), of_id_.end(), work.start_ns,
                           [](int64_t ns, const OpLaunch& one) { return ns < one.start_ns; });
      if (launch != of_id_.begin()) --launch;
      const bool begins = launched_.Add(launch->instance);
      item.work.work = Raw(names->WorkOfOp(static_cast<WorkId>(work.work), launch->op, begins));
    }
    const Status added = joined_.Add(work);
    if (!added.ok()) return added;
  }
  return more.ok() ? Status(Ok{}) : Status(more.error());
}

Status OpJoin::Resolve(ForeignNames* names, const std::function<Status(const ForeignWork&)>& emit) {
  for (const Status& done : {Join(names), joined_.Finish()}) {
    if (!done.ok()) return done;
  }
  ForeignWork work;
  Result<bool> more = joined_.Next(&work);
  for (; more.ok() && *more; more = joined_.Next(&work)) {
    const Status emitted = emit(work);
    if (!emitted.ok()) return emitted;
  }
  return more.ok() ? Status(Ok{}) : Status(more.error());
}

}  // namespace gpubound
