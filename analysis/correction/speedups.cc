// SPDX-License-Identifier: Apache-2.0
//
// Asks the replay. One object; its questions on any threads.
#include "analysis/correction/speedups.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <utility>

#include "analysis/trace/row_names.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

// A part with less of the critical path than this cannot buy more, so nothing is asked about it.
constexpr double kMatters = 0.01;

bool IsAskable(const ReplayedSpan& as_is) { return as_is.process_ns > 0 && as_is.run_ns > 0; }

bool Matters(int64_t ns, const ReplayedSpan& as_is) {
  return static_cast<double>(ns) > kMatters * static_cast<double>(as_is.process_ns);
}

bool IsDevice(const CriticalPart& part) { return part.column.starts_with("gpu "); }

bool IsWait(const CriticalPart& part) {
  return part.column == LayerName(Layer::kWait) || part.column == LayerName(Layer::kCudaSync);
}

// CPU time on the critical path by operation; of no operation nothing can be made faster, and no
// faster operation ends what it waits for.
std::string LongestOperation(const std::vector<CriticalPart>& parts, const ReplayedSpan& as_is) {
  std::map<std::string, int64_t> times;
  for (const CriticalPart& part : parts) {
    if (part.operation == kNoOperation || IsDevice(part) || IsWait(part)) continue;
    times[part.operation] += part.ns;
  }
  const auto longest = std::max_element(
      times.begin(), times.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return longest == times.end() || !Matters(longest->second, as_is) ? "" : longest->first;
}

int64_t TimeInLayer(const std::vector<CriticalPart>& parts, const std::string& layer) {
  int64_t ns = 0;
  for (const CriticalPart& part : parts) ns += part.column == layer ? part.ns : 0;
  return ns;
}

ReportWhatIf PartOf(const std::string& operation, double speedup, const ReplayedSpan& changed,
                    const ReplayedSpan& as_is) {
  const SpanRatio ratio = RatioOf(changed, as_is);
  return {operation, speedup, ratio.part, ratio.low, ratio.high};
}

// Of the process that the path is of, which |ratio| says of the run.
ReportSpeedup SpeedupOf(const std::string& part, const SpanRatio& ratio,
                        const ReplayedSpan& changed, const ReplayedSpan& as_is) {
  const auto ns = [&](double off) {
    const double moved_ns = off * static_cast<double>(as_is.process_ns);
    return std::max<int64_t>(0, changed.process_ns + std::llround(moved_ns));
  };
  return {part, changed.process_ns, ns(ratio.low - ratio.part), ns(ratio.high - ratio.part)};
}

}  // namespace

Speedups::Speedups(const Run& run, const ReplayOptions& replay, LeadingProcess leading)
    : run_(run), replay_(replay), leading_(leading) {
  replay_.keep_events = false;
  replay_.critical_path_of.reset();
}

void Speedups::AskDevice() { questions_.push_back({ScaledPart::kDevice, "device", 0, {}}); }

void Speedups::AskPath(const ReplayedRun& base) {
  const ReplayedSpan as_is = SpanOf(base, leading_);
  if (!IsAskable(as_is)) return;
  const std::string operation = LongestOperation(base.parts, as_is);
  if (!operation.empty()) {
    questions_.push_back({ScaledPart::kOperation, operation, 0.5, {}});
    questions_.push_back({ScaledPart::kOperation, operation, 0, {}});
  }
  for (const char* layer : {"simulator", "python"}) {
    if (Matters(TimeInLayer(base.parts, layer), as_is)) {
      questions_.push_back({ScaledPart::kLayer, layer, 0, {}});
    }
  }
}

Status Speedups::Answer(size_t question) {
  Question& of = questions_[question];
  ReplayOptions replay = replay_;
  replay.changes.scalings = {{of.part, of.part == ScaledPart::kDevice ? "" : of.name, of.factor}};
  const Result<ReplayedRun> replayed = ReplayRun(run_, replay);
  if (!replayed.ok()) return replayed.error();
  of.answer = SpanOf(*replayed, leading_);
  return Ok{};
}

void Speedups::Put(const ReplayedRun& base, Report* report) const {
  const ReplayedSpan as_is = SpanOf(base, leading_);
  if (!IsAskable(as_is)) return;
  ReportRun& run = report->run;
  ReportCriticalPath& path = run.critical_path.emplace();
  path.wall_ns = as_is.process_ns;
  for (const CriticalPart& part : base.parts) {
    const ProcessIdentity& identity = run_.processes[part.process].identity;
    path.parts.push_back({identity.host, identity.pid, part.operation, part.column, part.ns});
  }
  for (const Question& question : questions_) {
    const ReplayedSpan& changed = *question.answer;
    const SpanRatio ratio = RatioOf(changed, as_is);
    if (SaysNothing(ratio)) continue;
    const bool is_operation = question.part == ScaledPart::kOperation;
    if (is_operation && question.factor != 0) {
      run.what_if = PartOf(question.name, 1 / question.factor, changed, as_is);
      continue;
    }
    if (is_operation) {
      constexpr double kInfinitely = std::numeric_limits<double>::infinity();
      run.what_if_free = PartOf(question.name, kInfinitely, changed, as_is);
    }
    if (question.part == ScaledPart::kDevice) {
      const double left = static_cast<double>(changed.run_ns) / static_cast<double>(as_is.run_ns);
      run.gpu_limited_share = std::clamp(1 - left, 0.0, 1.0);
    }
    const char* const kind = is_operation                          ? "operation "
                             : question.part == ScaledPart::kLayer ? "layer "
                                                                   : "";
    path.speedups.push_back(SpeedupOf(kind + question.name, ratio, changed, as_is));
  }
  std::stable_sort(
      path.speedups.begin(), path.speedups.end(),
      [](const ReportSpeedup& a, const ReportSpeedup& b) { return a.wall_ns < b.wall_ns; });
}

}  // namespace gpubound
