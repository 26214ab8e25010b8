// SPDX-License-Identifier: Apache-2.0
//
// Ranks, pads and joins. No state.
#include "analysis/output/page/detail_window.h"

#include <algorithm>
#include <utility>

namespace gpubound {
namespace {

constexpr size_t kGaps = 10;
constexpr size_t kIterations = 6;

// Scopes, calls and work of the run, roughly: a launch is a call and a piece of work.
uint64_t RoughEvents(const Report& report) {
  uint64_t events = 1;
  for (const ReportProcess& process : report.processes) {
    for (const ReportKernel& kernel : process.kernels) events += 2 * kernel.count;
    for (const ReportOperation& row : process.operations) {
      events += row.count;
      for (const auto& [name, count] : row.transitions) events += count / 2;
    }
  }
  return events;
}

template <typename Row>
struct Placed {
  const Row* row;
  int64_t begin_ns;
};

// The longest |most| of them over all processes.
template <typename Row>
std::vector<Placed<Row>> Longest(std::vector<Placed<Row>> rows, size_t most) {
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.row->ns > b.row->ns; });
  if (rows.size() > most) rows.resize(most);
  return rows;
}

// Joins what meets; the reasons of the parts are those of the whole.
std::vector<DetailWindow> Joined(std::vector<DetailWindow> windows, const Interval& span) {
  for (DetailWindow& window : windows) window.time = window.time.ClippedTo(span);
  std::erase_if(windows, [](const DetailWindow& window) { return window.time.empty(); });
  std::stable_sort(windows.begin(), windows.end(),
                   [](const auto& a, const auto& b) { return a.time.begin_ns < b.time.begin_ns; });
  std::vector<DetailWindow> joined;
  for (DetailWindow& window : windows) {
    if (!joined.empty() && window.time.begin_ns <= joined.back().time.end_ns) {
      DetailWindow& last = joined.back();
      last.time.end_ns = std::max(last.time.end_ns, window.time.end_ns);
      if (last.why.find(window.why) == std::string::npos) last.why += ", " + window.why;
    } else {
      joined.push_back(std::move(window));
    }
  }
  return joined;
}

// What of |windows| lies outside of |thinned|.
std::vector<DetailWindow> Without(const std::vector<Interval>& thinned,
                                  const std::vector<DetailWindow>& windows) {
  std::vector<DetailWindow> left;
  for (DetailWindow window : windows) {
    const auto add = [&](int64_t end_ns) {
      const Interval time{window.time.begin_ns, end_ns};
      if (!time.empty()) left.push_back({time, window.why});
    };
    for (const Interval& gone : thinned) {
      add(std::min(gone.begin_ns, window.time.end_ns));
      window.time.begin_ns = std::max(window.time.begin_ns, gone.end_ns);
    }
    add(window.time.end_ns);
  }
  return left;
}

}  // namespace

std::vector<DetailWindow> ChooseWindows(const Report& report, const std::vector<int64_t>& offset_ns,
                                        int64_t span_ns, const std::vector<Interval>& thinned,
                                        uint64_t events_per_window) {
  const double rate =
      static_cast<double>(RoughEvents(report)) / static_cast<double>(std::max<int64_t>(span_ns, 1));
  const int64_t width = std::max<int64_t>(
      1, static_cast<int64_t>(std::min(static_cast<double>(span_ns),
                                       static_cast<double>(events_per_window) / rate)));
  std::vector<Placed<ReportGap>> gaps;
  std::vector<Placed<ReportIteration>> iterations;
  for (size_t p = 0; p < report.processes.size(); ++p) {
    const ReportProcess& process = report.processes[p];
    for (const ReportGap& gap : process.gaps) {
      gaps.push_back({&gap, gap.begin_ns + offset_ns[p]});
    }
    if (!process.iterations) continue;
    for (const ReportIteration& iteration : process.iterations->slowest) {
      iterations.push_back({&iteration, iteration.begin_ns + offset_ns[p]});
    }
  }
  std::vector<DetailWindow> windows;
  windows.push_back({{0, width / 2}, "begin of the run"});
  windows.push_back({{span_ns / 2 - width / 2, span_ns / 2 + width / 2}, "middle of the run"});
  const int64_t half = width / 2;
  for (const auto& [gap, begin_ns] : Longest(std::move(gaps), kGaps)) {
    const int64_t end_ns = begin_ns + gap->ns;
    if (gap->ns <= width) {
      windows.push_back({{begin_ns - half, end_ns + half}, "idle gap"});
    } else {  // its middle is more of the same
      windows.push_back({{begin_ns - half, begin_ns + half}, "idle gap"});
      windows.push_back({{end_ns - half, end_ns + half}, "idle gap"});
    }
  }
  for (const auto& [iteration, begin_ns] : Longest(std::move(iterations), kIterations)) {
    const int64_t end_ns = begin_ns + std::min(iteration->ns, 2 * width);
    windows.push_back({{begin_ns - half / 4, end_ns + half / 4},
                       "slow iteration " + std::to_string(iteration->number)});
  }
  if (!thinned.empty()) {
    const int64_t begin_ns = thinned.back().end_ns;
    const int64_t middle_ns = begin_ns + (span_ns - begin_ns) / 2;
    windows.push_back({{begin_ns, begin_ns + half}, "begin of the newest detail"});
    windows.push_back({{middle_ns - half, middle_ns + half}, "middle of the newest detail"});
  }
  return Without(thinned, Joined(std::move(windows), {0, span_ns}));
}

}  // namespace gpubound
