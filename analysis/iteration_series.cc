// SPDX-License-Identifier: Apache-2.0
//
// Sorts, cuts, groups. No state.
#include "analysis/iteration_series.h"

#include <algorithm>

#include "analysis/run.h"
#include "proto/event_model.h"

namespace gpubound {

std::vector<IterationPoint> IterationSeries(std::vector<StepTime> steps, int64_t begin_ns,
                                            size_t most) {
  std::stable_sort(steps.begin(), steps.end(),
                   [](const StepTime& a, const StepTime& b) { return a.time_ns < b.time_ns; });
  size_t first = 0;
  const auto begins = [](const StepTime& step) { return step.number == kIterationsBegin; };
  while (first < steps.size() &&
         (begin_ns == kOpenEnded || begins(steps[first]) || steps[first].time_ns <= begin_ns)) {
    begin_ns = steps[first++].time_ns;
  }
  // Those of other threads, which come to iterate later.
  steps.erase(
      std::remove_if(steps.begin() + static_cast<std::ptrdiff_t>(first), steps.end(), begins),
      steps.end());
  const size_t count = steps.size() - first;
  const size_t group = count == 0 ? 1 : (count - 1) / std::max<size_t>(most, 1) + 1;
  std::vector<IterationPoint> points;
  for (size_t i = first; i < steps.size(); ++i) {
    const int64_t length_ns = steps[i].time_ns - begin_ns;
    if ((i - first) % group == 0) {
      points.push_back({steps[i].number, 0, {begin_ns, begin_ns}, length_ns, length_ns, 0});
    }
    IterationPoint& point = points.back();
    ++point.count;
    point.time.end_ns = steps[i].time_ns;
    point.shortest_ns = std::min(point.shortest_ns, length_ns);
    point.longest_ns = std::max(point.longest_ns, length_ns);
    begin_ns = steps[i].time_ns;
  }
  return points;
}

void SeriesBusy::Add(const Interval& busy, size_t* next) const {
  while (*next < points_->size() && (*points_)[*next].time.end_ns <= busy.begin_ns) ++*next;
  for (size_t i = *next; i < points_->size(); ++i) {
    IterationPoint& point = (*points_)[i];
    if (point.time.begin_ns >= busy.end_ns) break;
    point.busy_ns += busy.ClippedTo(point.time).length();
  }
}

}  // namespace gpubound
