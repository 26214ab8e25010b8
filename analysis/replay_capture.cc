// SPDX-License-Identifier: Apache-2.0
//
// A what-if that makes one graph of what an operation launches. One object, one caller.
#include <algorithm>

#include "analysis/replay_process.h"

namespace gpubound {

// In an occurrence of a captured operation the first launch becomes that of the graph; the others
// take no time, and their work is the graph's. False for a call that is not affected.
bool ProcessReplay::MergeIntoGraph(ReplayThread* thread, const ReplayThread::OpenCall& open) {
  if (!KindOf(open.call.label).capturable) return false;
  for (size_t i = thread->scopes.size(); i-- > 0;) {
    ReplayThread::OpenScope& scope = thread->scopes[i];
    const OperationIndex operation = roles_.Of(scope.label).operation;
    if (operation == kNotOne) continue;
    if (!scales_.captures(operation)) return false;
    if (scope.capture_launch == 0) {
      scope.capture_launch = open.call.correlation;
      ++facts_.captures;
    }
    if (scope.capture_launch == open.call.correlation) return false;
    if (scope.capture == ReplayThread::Capture::kEnded) {
      scope.capture = ReplayThread::Capture::kBroken;
      ++facts_.captures_broken;
    }
    LaunchEntry* const launch = launches_.Find(open.call.correlation);
    if (launch != nullptr && open.outermost) launch->merged_into = scope.capture_launch;
    double& owed = thread->owed[thread->cell];
    owed = std::max(0.0, owed - costs_.AfterBegin(open.call.label).ns);
    thread->now = open.begun;
    thread->shown = open.shown_begun;
    thread->at_ns = open.call.end_ns;
    return true;
  }
  return false;
}

// A graph that was begun cannot go on behind a call that CUDA refuses to a stream that is captured.
void ProcessReplay::NoteEndOfCapture(ReplayThread* thread) {
  for (ReplayThread::OpenScope& scope : thread->scopes) {
    const bool goes_on = scope.capture == ReplayThread::Capture::kGoesOn;
    if (scope.capture_launch != 0 && goes_on) scope.capture = ReplayThread::Capture::kEnded;
  }
}

}  // namespace gpubound
