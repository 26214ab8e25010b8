// SPDX-License-Identifier: Apache-2.0
//
// Asks the replay. No state.
#include "analysis/speedups.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "analysis/corrected_report.h"
#include "analysis/span_ratio.h"

namespace gpubound {
namespace {

// A part with less of the critical path than this cannot buy more, so nothing is asked about it.
constexpr double kMatters = 0.01;

class Questions {
 public:
  Questions(const Run& run, const ReplayOptions& replay, const ReplayedRun& base)
      : run_(run),
        base_(base),
        leading_(*replay.critical_path_of),
        as_is_(SpanOf(base, leading_)),
        replay_(replay) {
    replay_.keep_events = false;
    replay_.critical_path_of.reset();
  }

  const ReplayedSpan& as_is() const { return as_is_; }

  Result<ReplayedSpan> With(ScaledPart part, const std::string& name, double factor) {
    replay_.changes.scalings = {{part, name, factor}};
    const Result<ReplayedRun> replayed = ReplayRun(run_, replay_);
    if (!replayed.ok()) return replayed.error();
    return SpanOf(*replayed, leading_);
  }

  ReportWhatIf PartOf(const std::string& operation, double speedup,
                      const ReplayedSpan& changed) const {
    const SpanRatio ratio = RatioOf(changed, as_is_);
    return {operation, speedup, ratio.part, ratio.low, ratio.high};
  }

  // CPU time on the critical path by operation; of no operation nothing can be made faster.
  std::string LongestOperation() const {
    std::map<std::string, int64_t> times;
    for (const CriticalPart& part : base_.parts) {
      if (part.operation != kNoOperation && !IsDevice(part)) times[part.operation] += part.ns;
    }
    const auto longest =
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return longest == times.end() || !Matters(longest->second) ? "" : longest->first;
  }
  bool LayerMatters(const std::string& layer) const {
    int64_t ns = 0;
    for (const CriticalPart& part : base_.parts) ns += part.column == layer ? part.ns : 0;
    return Matters(ns);
  }

 private:
  static bool IsDevice(const CriticalPart& part) { return part.column.starts_with("gpu "); }
  bool Matters(int64_t ns) const {
    return static_cast<double>(ns) > kMatters * static_cast<double>(as_is_.process_ns);
  }

  const Run& run_;
  const ReplayedRun& base_;
  const size_t leading_;
  const ReplayedSpan as_is_;
  ReplayOptions replay_;
};

// What |operation| would bring, twice and infinitely fast.
Status AskOperation(const std::string& operation, Questions* questions, ReportRun* run) {
  const Result<ReplayedSpan> twice = questions->With(ScaledPart::kOperation, operation, 0.5);
  if (!twice.ok()) return twice.error();
  run->what_if = questions->PartOf(operation, 2, *twice);
  const Result<ReplayedSpan> free = questions->With(ScaledPart::kOperation, operation, 0);
  if (!free.ok()) return free.error();
  run->what_if_free = questions->PartOf(operation, std::numeric_limits<double>::infinity(), *free);
  run->critical_path->speedups.push_back({"operation " + operation, free->process_ns});
  return Ok{};
}

Status AskLayer(const std::string& layer, Questions* questions, ReportRun* run) {
  if (!questions->LayerMatters(layer)) return Ok{};
  const Result<ReplayedSpan> free = questions->With(ScaledPart::kLayer, layer, 0);
  if (!free.ok()) return free.error();
  run->critical_path->speedups.push_back({"layer " + layer, free->process_ns});
  return Ok{};
}

Status AskDevice(Questions* questions, ReportRun* run) {
  const Result<ReplayedSpan> free = questions->With(ScaledPart::kDevice, "", 0);
  if (!free.ok()) return free.error();
  run->critical_path->speedups.push_back({"device", free->process_ns});
  const double left =
      static_cast<double>(free->run_ns) / static_cast<double>(questions->as_is().run_ns);
  run->gpu_limited_share = std::clamp(1 - left, 0.0, 1.0);
  return Ok{};
}

}  // namespace

Status AddSpeedups(const Run& run, const ReplayedRun& base, const ReplayOptions& replay, bool ask,
                   Report* report) {
  Questions questions(run, replay, base);
  if (questions.as_is().process_ns <= 0 || questions.as_is().run_ns <= 0) return Ok{};
  ReportCriticalPath& path = report->run.critical_path.emplace();
  path.wall_ns = questions.as_is().process_ns;
  for (const CriticalPart& part : base.parts) {
    path.parts.push_back(
        {run.processes[part.process].identity.pid, part.operation, part.column, part.ns});
  }
  if (!ask) return Ok{};
  if (report->run.devices_used != 0) {
    const Status asked = AskDevice(&questions, &report->run);
    if (!asked.ok()) return asked;
  }
  const std::string operation = questions.LongestOperation();
  if (!operation.empty()) {
    const Status asked = AskOperation(operation, &questions, &report->run);
    if (!asked.ok()) return asked;
  }
  for (const char* layer : {"simulator", "python"}) {
    const Status asked = AskLayer(layer, &questions, &report->run);
    if (!asked.ok()) return asked;
  }
  std::stable_sort(
      path.speedups.begin(), path.speedups.end(),
      [](const ReportSpeedup& a, const ReportSpeedup& b) { return a.wall_ns < b.wall_ns; });
  return Ok{};
}

}  // namespace gpubound
