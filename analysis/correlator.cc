// SPDX-License-Identifier: Apache-2.0
//
// Correlation ids are 32 bit and wrap: at a million calls a second, after more than an hour. So an
// id names a call only together with a time: the call is the last one with that id that began
// before the work did, and not longer ago than an id lives. No state.
#include "analysis/correlator.h"

#include <algorithm>

namespace gpubound {
namespace {

// Work may seem to begin a little before its call does: the two are stamped by different clocks
// that CUPTI aligns. Far above that error, far below the time in which ids wrap.
constexpr int64_t kClockSlackNs = 10'000'000;

// Work waits in the launch queue at most so long. Less than the fastest wrap of ids (2^32 calls at
// two million a second), so a call that was lost is never replaced by its successor's namesake.
constexpr int64_t kLongestQueueNs = int64_t{30} * 60 * 1'000'000'000;

struct Candidate {
  uint32_t correlation;
  int64_t start_ns;
  CallRef call;
};

bool ByCorrelationThenStart(const Candidate& a, const Candidate& b) {
  if (a.correlation != b.correlation) return a.correlation < b.correlation;
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  if (a.call.thread != b.call.thread) return a.call.thread < b.call.thread;
  return a.call.call < b.call.call;
}

class CallIndex {
 public:
  explicit CallIndex(const ProcessTrace& process) : process_(process) {
    size_t total = 0;
    for (const ThreadTrace& thread : process.threads) total += thread.calls.size();
    candidates_.reserve(total);
    for (uint32_t t = 0; t < process.threads.size(); ++t) {
      const std::vector<ApiCall>& calls = process.threads[t].calls;
      for (uint32_t c = 0; c < calls.size(); ++c) {
        if (calls[c].correlation == 0) continue;
        candidates_.push_back({calls[c].correlation, calls[c].start_ns, {t, c}});
      }
    }
    std::sort(candidates_.begin(), candidates_.end(), ByCorrelationThenStart);
  }

  CallRef Find(const DeviceWork& work) const {
    if (work.correlation == 0) return {};
    const Candidate latest{work.correlation, work.start_ns + kClockSlackNs, {kNotOne, kNotOne}};
    auto next =
        std::upper_bound(candidates_.begin(), candidates_.end(), latest, ByCorrelationThenStart);
    if (next == candidates_.begin()) return {};
    auto found = std::prev(next);
    if (found->correlation != work.correlation ||
        found->start_ns < work.start_ns - kLongestQueueNs) {
      return {};
    }
    // Climb to the outermost call: the runtime function contains the driver function.
    while (found != candidates_.begin()) {
      const auto outer = std::prev(found);
      if (outer->correlation != found->correlation || !Contains(outer->call, found->call)) break;
      found = outer;
    }
    return found->call;
  }

 private:
  const ApiCall& CallOf(CallRef ref) const { return process_.threads[ref.thread].calls[ref.call]; }
  bool Contains(CallRef outer, CallRef inner) const {
    return outer.thread == inner.thread && CallOf(outer).start_ns <= CallOf(inner).start_ns &&
           CallOf(inner).end_ns <= CallOf(outer).end_ns;
  }

  const ProcessTrace& process_;
  std::vector<Candidate> candidates_;
};

}  // namespace

Correlation Correlate(const ProcessTrace& process, const LabelRoles& roles) {
  Correlation result;
  result.sync_windows.resize(process.threads.size());
  result.cause.reserve(process.device_work.size());

  const CallIndex index(process);
  for (const DeviceWork& work : process.device_work) {
    const CallRef cause = index.Find(work);
    result.cause.push_back(cause);
    if (!cause.valid()) {
      ++result.work_without_launch;
      continue;
    }
    const ApiCall& call = process.threads[cause.thread].calls[cause.call];
    if (roles.Of(call.label).api_class != ApiClass::kAsyncCopy) continue;
    // An asynchronous copy of pageable memory does not return before the copy is done.
    const Interval own_copy =
        Interval{work.start_ns, work.end_ns}.ClippedTo({call.start_ns, call.end_ns});
    if (!own_copy.empty()) result.sync_windows[cause.thread].push_back(own_copy);
  }

  for (size_t t = 0; t < process.threads.size(); ++t) {
    for (const Overhead& overhead : process.threads[t].overheads) {
      if (!roles.Of(overhead.label).command_buffer_full) continue;
      result.sync_windows[t].push_back({overhead.start_ns, overhead.end_ns});
    }
    result.sync_windows[t] = Union(std::move(result.sync_windows[t]));
  }
  return result;
}

}  // namespace gpubound
