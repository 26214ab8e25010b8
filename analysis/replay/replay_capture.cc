// SPDX-License-Identifier: Apache-2.0
//
// Capture into graphs: what the program did, and a what-if that makes one graph, or one kernel, of
// what an operation launches. One object, one caller.
#include <algorithm>

#include "analysis/replay/replay_process.h"

namespace gpubound {

// In an occurrence of a captured operation the first launch becomes that of the graph; the others
// take no time, and their work is the graph's. In one that is fused the same goes for kernels, which
// follow each other without a gap. False for a call that is not affected.
bool ProcessReplay::MergeLaunch(ReplayThread* thread, const ReplayThread::OpenCall& open) {
  // What came before the span stays as it was.
  const CallKind& kind = KindOf(open.call.label);
  if (open.call.start_ns < process_.span_begin_ns || !kind.capturable) return false;
  OpenScope* scope = nullptr;  // the outermost: what lies inside it is in its graph
  thread->scopes.ForEach([&](OpenScope* open_scope) {
    if (scope != nullptr || open_scope->operation == kNotOne) return;
    const bool fuses = kind.launches_kernel && scales_.fuses(open_scope->operation);
    if (fuses || scales_.captures(open_scope->operation)) scope = open_scope;
  });
  if (scope == nullptr) return false;
  if (scope->capture_launch == 0) {
    scope->capture_launch = open.call.correlation;
    ++facts_.captures;
  }
  if (scope->capture_launch == open.call.correlation) return false;
  if (scope->capture == GraphCapture::kEnded) {
    scope->capture = GraphCapture::kBroken;
    ++facts_.captures_broken;
  }
  LaunchEntry* const launch = launches_.Find(open.call.correlation);
  if (launch != nullptr && open.outermost) {
    launch->merged_into = scope->capture_launch;
    launch->fused = scales_.fuses(scope->operation);
  }
  if (open.charged) {
    double& owed = thread->owed.At(thread->cell).ns;
    owed = std::max(0.0, owed - costs_.AfterBegin(open.call.label, open.since_ns).ns);
  }
  thread->now = open.begun;
  thread->shown = open.shown_begun;
  thread->at_ns = open.call.end_ns;
  return true;
}

// A graph that was begun cannot go on behind a call that CUDA refuses to a stream that is captured.
void ProcessReplay::NoteEndOfCapture(ReplayThread* thread) {
  thread->scopes.ForEach([](OpenScope* scope) {
    const bool goes_on = scope->capture == GraphCapture::kGoesOn;
    if (scope->capture_launch != 0 && goes_on) scope->capture = GraphCapture::kEnded;
  });
}

// Of all threads: what one captures others may continue, as autograd's threads do, and which
// streams belong to it no record tells. So events that another thread records for itself meanwhile
// are missed, and fall back on what is likely.
void ProcessReplay::NoteStreamCapture(uint32_t index, const ApiCall& call, StreamCapture capture) {
  const bool done = call.result == 0;
  if (capture == StreamCapture::kBegins && done) capturing_threads_.insert(index);
  if (capture == StreamCapture::kEnds) capturing_threads_.erase(index);  // a failed one is over too
}

}  // namespace gpubound
