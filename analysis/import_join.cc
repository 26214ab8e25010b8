// SPDX-License-Identifier: Apache-2.0
//
// A merge of two sorted streams. One object, one thread.
#include "analysis/import_join.h"

namespace gpubound {
namespace {

// |calls| have the work's correlation id and are sorted by start.
uint32_t LauncherOf(const std::vector<LaunchCall>& calls, const ForeignWork& work) {
  if (calls.empty()) return kNoIndex;
  const LaunchCall* chosen = &calls.front();
  for (const LaunchCall& call : calls) {
    if (call.start_ns <= work.start_ns) chosen = &call;
  }
  return chosen->process;
}

}  // namespace

Status LaunchJoin::Join() {
  for (const Status& sorted : {calls_.Finish(), work_.Finish()}) {
    if (!sorted.ok()) return sorted;
  }
  std::vector<LaunchCall> calls;  // with one id
  LaunchCall next;
  Result<bool> more_calls = calls_.Next(&next);
  ByCorrelation item;
  Result<bool> more_work = work_.Next(&item);
  uint32_t correlation = 0;
  while (more_work.ok() && *more_work) {
    if (item.work.correlation != correlation) {
      correlation = item.work.correlation;
      calls.clear();
      for (; more_calls.ok() && *more_calls && next.correlation <= correlation;
           more_calls = calls_.Next(&next)) {
        if (next.correlation == correlation) calls.push_back(next);
      }
      if (!more_calls.ok()) return more_calls.error();
    }
    item.work.process = LauncherOf(calls, item.work);
    const Status added = resolved_.Add(item.work);
    if (!added.ok()) return added;
    more_work = work_.Next(&item);
  }
  return more_work.ok() ? Status(Ok{}) : Status(more_work.error());
}

Status LaunchJoin::Resolve(const std::function<Status(const ForeignWork&)>& emit) {
  for (const Status& done : {Join(), resolved_.Finish()}) {
    if (!done.ok()) return done;
  }
  ForeignWork work;
  Result<bool> more = resolved_.Next(&work);
  for (; more.ok() && *more; more = resolved_.Next(&work)) {
    const Status emitted = emit(work);
    if (!emitted.ok()) return emitted;
  }
  return more.ok() ? Status(Ok{}) : Status(more.error());
}

}  // namespace gpubound
