// SPDX-License-Identifier: Apache-2.0
//
// Keeps what fits. No state beyond the objects.
#include "analysis/output/page/event_keeper.h"

#include <algorithm>
#include <utility>

namespace gpubound {

std::vector<DetailWindow> DetailPlan::Kept() const {
  std::vector<DetailWindow> kept;
  for (size_t i = 0; i < windows_.size(); ++i) {
    DetailWindow window = windows_[i];
    window.time.end_ns = ends_ns_[i];
    if (!window.time.empty()) kept.push_back(std::move(window));
  }
  return kept;
}

void EventKeeper::Add(const KeptEvent& event) {
  ++seen_;
  plan_->Spend();
  if (plan_->whole()) {
    all_.push_back(event);
  } else if (!all_.empty()) {
    all_ = {};
  }
  if (FitsWindow(event)) windowed_.push_back(event);
}

bool EventKeeper::FitsWindow(const KeptEvent& event) {
  const std::vector<DetailWindow>& windows = plan_->windows();
  auto window = std::upper_bound(
      windows.begin(), windows.end(), event.begin_ns,
      [](int64_t time_ns, const DetailWindow& w) { return time_ns < w.time.end_ns; });
  bool fits = false;
  for (; window != windows.end() && window->time.begin_ns <= event.end_ns; ++window) {
    const auto index = static_cast<size_t>(window - windows.begin());
    // What is longer than half the window says what the others are within, and there are few.
    const bool frame = event.end_ns - event.begin_ns > window->time.length() / 2;
    if (frame || in_window_[index] < plan_->track_most()) {
      ++in_window_[index];
      fits = true;
    } else {
      plan_->EndWindow(index, event.begin_ns);
    }
  }
  return fits;
}

std::vector<KeptEvent> EventKeeper::Take() {
  std::vector<KeptEvent> events = std::move(plan_->whole() ? all_ : windowed_);
  all_ = {};
  windowed_ = {};
  std::stable_sort(events.begin(), events.end(), [](const KeptEvent& a, const KeptEvent& b) {
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.depth < b.depth;
  });
  return events;
}

}  // namespace gpubound
