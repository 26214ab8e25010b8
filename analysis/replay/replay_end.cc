// SPDX-License-Identifier: Apache-2.0
//
// Where a replayed process ends. One object, one caller.
#include <algorithm>
#include <utility>

#include "analysis/replay/replay_process.h"

namespace gpubound {

// |span_end_ns|: of the recording; all that happens before it has been replayed.
Moment ProcessReplay::EndAt(int64_t span_end_ns) {
  const ReplayThread* last = nullptr;
  Moment end = begin_;
  for (const std::unique_ptr<ReplayThread>& of : threads_) {
    ReplayThread& thread = *of;
    if (!thread.started) continue;
    EndStep(&thread);
    end = Later(end, thread.Done());
    if (last == nullptr || thread.at_ns > last->at_ns) last = &thread;
  }
  if (last != nullptr) last_cell_ = last->cell;
  const DoneWork& work = device_.AllDone(span_end_ns);
  const bool ends_with_work = work.done.exists() && work.end_ns == span_end_ns &&
                              (last == nullptr || last->at_ns < span_end_ns);
  if (ends_with_work) {
    // As an imported trace does; nothing says that a thread went on behind its last event.
  } else if (last == nullptr) {
    end = begin_.After(static_cast<double>(span_end_ns - process_.BegunNs()));
  } else if (last->at_ns <= span_end_ns) {
    end = Later(end, last->guessed ? LeadAt(span_end_ns) : last->At(span_end_ns));
  } else if (last->guessed && LastEvent() <= span_end_ns) {
    end = LeadAt(span_end_ns);
  } else {
    end = last->now.After(static_cast<double>(span_end_ns - last->at_ns));
  }
  // A faster program still wants the work done that was done when it ended, whether it waits or
  // not.
  const bool outlasted = scales_.scales_cpu() && work.end_ns <= span_end_ns;
  if (work.done.exists() && (ends_with_work || outlasted)) end = Later(end, work.done);
  return end;
}

// When an iteration ends that ended at |time_ns|, its thread being at |shown|: of a faster program, too,
// not before what was done then is done. Else it would only leave more work to be done later.
double ProcessReplay::SteppedAt(double shown, int64_t time_ns) {
  if (!scales_.scales_cpu()) return shown;
  return std::max(shown, device_.AllDone(time_ns).done.at);  // minus infinity where nothing was
}

ReplayFacts ProcessReplay::Finish() {
  const Moment end =
      ended_ ? *ended_ : EndAt(std::max(process_.span_begin_ns, process_.span_end_ns));
  facts_.span_begin_ns = process_.before_span_ns == 0 ? Retimed(begin_.at) : process_.span_begin_ns;
  facts_.span_end_ns = std::max(facts_.span_begin_ns, Retimed(end.at));
  facts_.span = {end.variance, end.error};
  if (in_.path != nullptr) {
    facts_.last_step = EndOfStep(end, last_cell_.value_or(NoCell())).step;
  }
  for (UnknownInterval& unknown : facts_.unknown) {
    if (unknown.end_ns >= process_.span_end_ns) unknown.end_ns = kOpenEnded;
  }
  if (in_.output != nullptr) in_.output->Finish();
  return std::move(facts_);
}

}  // namespace gpubound
