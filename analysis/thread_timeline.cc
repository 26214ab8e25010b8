// SPDX-License-Identifier: Apache-2.0
//
// Steps through one thread's events. One object, one caller.
#include "analysis/thread_timeline.h"

#include <algorithm>

namespace gpubound {

void ThreadStep::Clear() {
  calls_begun.clear();
  opened.clear();
  closed.clear();
  phases.clear();
  transitions.clear();
}

ThreadTimeline::ThreadTimeline(ThreadTimelineInput input) : in_(std::move(input)) { Refresh(); }

int64_t ThreadTimeline::NextTime() const {
  int64_t next_ns = calls_end_ns_;
  const ThreadTrace& thread = *in_.thread;
  if (next_event_ < thread.events.size()) {
    next_ns = std::min(next_ns, thread.events[next_event_].time_ns);
  }
  if (next_call_ < thread.calls.size()) {
    next_ns = std::min(next_ns, thread.calls[next_call_].start_ns);
  }
  if (next_foreign_ < in_.foreign_ends.size()) {
    next_ns = std::min(next_ns, in_.foreign_ends[next_foreign_].time_ns);
  }
  if (next_window_ < in_.sync_windows->size()) {
    const Interval& window = (*in_.sync_windows)[next_window_];
    next_ns = std::min(next_ns, in_window_ ? window.end_ns : window.begin_ns);
  }
  return next_ns;
}

void ThreadTimeline::Advance(ThreadStep* step) {
  step->Clear();
  const int64_t now_ns = NextTime();
  // A call that begins and ends at this instant needs a second round.
  while (NextTime() == now_ns) {
    EndCalls(now_ns);
    MoveWindow(now_ns);
    Refresh();
    ApplyEvents(now_ns, step);
    BeginCalls(now_ns, step);
    Refresh();
  }
}

void ThreadTimeline::EndCalls(int64_t now_ns) {
  if (calls_end_ns_ > now_ns) return;
  std::erase_if(open_calls_, [now_ns](const OpenCall& call) { return call.end_ns <= now_ns; });
  calls_end_ns_ = kOpenEnded;
  for (const OpenCall& call : open_calls_) calls_end_ns_ = std::min(calls_end_ns_, call.end_ns);
  Refresh();
}

void ThreadTimeline::MoveWindow(int64_t now_ns) {
  const std::vector<Interval>& windows = *in_.sync_windows;
  if (in_window_ && windows[next_window_].end_ns <= now_ns) {
    in_window_ = false;
    ++next_window_;
  }
  if (!in_window_ && next_window_ < windows.size() && windows[next_window_].begin_ns <= now_ns) {
    in_window_ = true;
  }
}

void ThreadTimeline::ApplyEvents(int64_t now_ns, ThreadStep* step) {
  const ThreadTrace& thread = *in_.thread;
  while (next_event_ < thread.events.size() && thread.events[next_event_].time_ns <= now_ns) {
    if (next_reset_ < thread.resets.size() &&
        thread.resets[next_reset_].event_index <= next_event_) {
      ApplyReset(thread.resets[next_reset_++].open, step);
    }
    ApplyEvent(thread.events[next_event_++], step);
  }
  while (next_foreign_ < in_.foreign_ends.size() &&
         in_.foreign_ends[next_foreign_].time_ns <= now_ns) {
    CloseRange(in_.foreign_ends[next_foreign_++].range, step);
  }
}

void ThreadTimeline::ApplyEvent(const ThreadEvent& event, ThreadStep* step) {
  switch (event.kind) {
    case SlotKind::kBegin:
      Push(event.label, 0, false, step);
      break;
    case SlotKind::kEnd:
      if (!CloseScope(event.label, step)) ++unbalanced_;
      break;
    case SlotKind::kRangeStart:
      Push(event.label, event.payload, true, step);
      break;
    case SlotKind::kRangeEnd:
      CloseRange(event.payload, step);  // else another thread's range; see foreign_ends there
      break;
    case SlotKind::kPhase:
      if (in_.roles->Of(event.label).phase != kNotOne) {
        step->phases.push_back(in_.roles->Of(event.label).phase);
      }
      break;
    case SlotKind::kStep:
    case SlotKind::kCounter:
    case SlotKind::kMark:
    case SlotKind::kAdopt:  // a begin follows
    case SlotKind::kHandOver:
    case SlotKind::kPause:
    case SlotKind::kResume:
    case SlotKind::kUnbalanced:
      break;
  }
}

void ThreadTimeline::ApplyReset(const std::vector<LabelId>& open, ThreadStep* step) {
  // What is open on both sides of the gap is taken to have stayed open: closing and reopening it
  // would count scopes that nobody opened.
  size_t common = 0;
  while (common < open.size() && common < open_.size() && open_[common].label == open[common]) {
    ++common;
  }
  while (open_.size() > common) Erase(open_.size() - 1, step);
  for (size_t i = common; i < open.size(); ++i) Push(open[i], 0, false, step);
}

void ThreadTimeline::BeginCalls(int64_t now_ns, ThreadStep* step) {
  const std::vector<ApiCall>& calls = in_.thread->calls;
  while (next_call_ < calls.size() && calls[next_call_].start_ns <= now_ns) {
    Refresh();
    const ApiCall& call = calls[next_call_];
    if (in_.roles->Of(call.label).call_is_scope) {
      step->calls_begun.push_back(static_cast<uint32_t>(next_call_++));
      continue;
    }
    const Layer from = layer_;
    const bool sync = in_.roles->Of(call.label).api_class == ApiClass::kSync;
    open_calls_.push_back({call.end_ns, sync});
    calls_end_ns_ = std::min(calls_end_ns_, call.end_ns);
    Refresh();
    if (layer_ > from) step->transitions.push_back({operation_, from, layer_});
    step->calls_begun.push_back(static_cast<uint32_t>(next_call_++));
  }
}

void ThreadTimeline::Push(LabelId label, uint64_t range, bool is_range, ThreadStep* step) {
  const LabelRole& role = in_.roles->Of(label);
  const Layer from = layer_;
  open_.push_back({label, range, is_range, role.operation, role.layer, role.call_is_scope});
  if (role.operation != kNotOne) step->opened.push_back(role.operation);
  Refresh();
  if (role.layer != Layer::kUnset && layer_ > from) {
    step->transitions.push_back({operation_, from, layer_});
  }
}

bool ThreadTimeline::CloseScope(LabelId label, ThreadStep* step) {
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].is_range || open_[i].label != label) continue;
    Erase(i, step);
    return true;
  }
  return false;
}

bool ThreadTimeline::CloseRange(uint64_t range, ThreadStep* step) {
  for (size_t i = open_.size(); i-- > 0;) {
    if (!open_[i].is_range || open_[i].range != range) continue;
    Erase(i, step);
    return true;
  }
  return false;
}

void ThreadTimeline::Erase(size_t index, ThreadStep* step) {
  if (open_[index].operation != kNotOne) step->closed.push_back(open_[index].operation);
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
  Refresh();
}

void ThreadTimeline::Refresh() {
  operation_ = kNotOne;
  layer_ = in_.base_layer;
  bool layer_found = false;
  for (size_t i = open_.size(); i-- > 0 && (operation_ == kNotOne || !layer_found);) {
    if (operation_ == kNotOne) operation_ = open_[i].operation;
    if (!layer_found && open_[i].layer != Layer::kUnset) {
      layer_ = in_window_ && open_[i].is_call ? Layer::kCudaSync : open_[i].layer;
      layer_found = true;
    }
  }
  if (open_calls_.empty()) return;
  const bool waits = in_window_ || std::any_of(open_calls_.begin(), open_calls_.end(),
                                               [](const OpenCall& call) { return call.sync; });
  layer_ = waits ? Layer::kCudaSync : Layer::kCudaApi;
}

}  // namespace gpubound
