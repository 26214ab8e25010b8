// SPDX-License-Identifier: Apache-2.0
//
// Costs by label. No state beyond the object.
#include "analysis/replay/replay_costs.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>

#include "analysis/base/estimate.h"
#include "analysis/trace/own_work.h"
#include "proto/sync_calls.h"

namespace gpubound {
namespace {

// Kinds as CUPTI names them, letters only.
constexpr std::string_view kOwnKinds[] = {
    "CUPTIBUFFERFLUSH", "BUFFERFLUSH", "CUPTIINSTRUMENTATION",  "INSTRUMENTATION",
    "CUPTIRESOURCE",    "RESOURCE",    "ACTIVITYBUFFERREQUEST", "UVMACTIVITYINIT",
};

// Which cost model entry a scope pays. Scopes in a Python process are opened from Python, but for
// foreign ranges, which native code opens, and layers, which a hooked call switches. So are
// instants.
CostKind KindOfScope(const Label& label, bool python) {
  if (label.kind == LabelKind::kAnnotation || !python) return CostKind::kNativeScope;
  return label.kind == LabelKind::kLayer ? CostKind::kInterceptedCall : CostKind::kPythonScope;
}

// The 2.5 % quantile of a lognormal distribution, which times of code resemble: never negative,
// with a long tail.
double LeastOf(double mean, double variance) {
  if (mean <= 0) return 0;
  const double log_variance = std::log1p(variance / (mean * mean));
  return mean * std::exp(-log_variance / 2 - kNormal975 * std::sqrt(log_variance));
}

// The part |ns| of one occurrence, with |share| of what is uncertain about it.
Spent PartOf(const Cost& cost, double ns, double share) {
  const double variance = cost.variance_ns2 * share;
  const double error = cost.standard_error_ns * share;
  return {ns, variance, error, LeastOf(ns, variance), std::hypot(error, cost.row_error_ns * share)};
}

Spent WholeOf(const Cost& cost) { return PartOf(cost, cost.total_ns(), 1); }

// What is uncertain is shared out by size. A noisy measurement may come out at zero or below; it is
// as uncertain all the same.
double ShareInside(const Cost& cost) {
  const double inside = std::abs(cost.inside_ns);
  const double both = inside + std::abs(cost.outside_ns);
  return both > 0 ? inside / both : 0.5;
}

Spent InsideOf(const Cost& cost) { return PartOf(cost, cost.inside_ns, ShareInside(cost)); }

Spent OutsideOf(const Cost& cost) { return PartOf(cost, cost.outside_ns, 1 - ShareInside(cost)); }

// Behind other work nothing is cheaper than usual, whatever a noisy calibration says.
const Cost& Dearer(const Cost& usual, const Cost& late) {
  return late.samples != 0 && late.total_ns() > usual.total_ns() ? late : usual;
}

// |part| of the usual cost, and what |late| is more than that.
Spent WithExtra(const Spent& part, const Cost& usual, const Cost& late) {
  const double extra_ns = late.total_ns() - usual.total_ns();
  if (late.samples == 0 || extra_ns <= 0) return part;
  const double ns = part.ns + extra_ns;
  const double variance = part.variance + std::max(0.0, late.variance_ns2 - usual.variance_ns2);
  const double error = std::hypot(part.error, late.standard_error_ns);
  return {ns, variance, error, LeastOf(ns, variance),
          std::hypot(part.row_error, late.standard_error_ns, late.row_error_ns)};
}

}  // namespace

bool IsProfilersOverhead(std::string_view kind) {
  std::string letters;
  for (const char c : kind) {
    if (c >= 'a' && c <= 'z') letters.push_back(static_cast<char>(c - 32));
    if (c >= 'A' && c <= 'Z') letters.push_back(c);
  }
  return std::find(std::begin(kOwnKinds), std::end(kOwnKinds), letters) != std::end(kOwnKinds);
}

ReplayCosts::ReplayCosts(const ProcessTrace& process, const CostModel& model)
    : labels_(process.labels.size()) {
  for (const Cost& cost : model.kinds) removes_ |= cost.samples != 0;
  removes_ |= !model.api.empty();
  const bool by_interpreter = process.python && model.python_instant.samples != 0;
  const Cost& instant = by_interpreter ? model.python_instant : model.Of(CostKind::kInstant);
  instant_ = WholeOf(instant);
  for (size_t id = 0; id < labels_.size(); ++id) {
    const Label& label = process.labels[id];
    ByLabel& costs = labels_[id];
    costs.own_overhead = IsOwnWork(label);
    switch (label.kind) {
      case LabelKind::kOperation:
      case LabelKind::kAnnotation:
      case LabelKind::kLayer: {
        const CostKind kind = KindOfScope(label, process.python);
        const Cost& cost = model.Of(kind);
        const Cost& late = model.AfterOtherWork(kind);
        costs.begin = InsideOf(cost);
        costs.end = OutsideOf(cost);
        costs.late_begin = WithExtra(costs.begin, cost, late);
        costs.late_end = WithExtra(costs.end, cost, late);
        break;
      }
      case LabelKind::kApi: {
        const std::string function(StripApiVersion(label.text));
        const Cost& cost = model.OfApi(function);
        // What native programs do between two calls is not known, and mostly less than calibration
        // does there.
        const bool behind_work = process.python || model.knows_calls_behind_work;
        const Cost& late = behind_work ? Dearer(cost, model.OfApiAfterOtherWork(function)) : cost;
        costs.begin = InsideOf(cost);
        costs.end = OutsideOf(cost);
        costs.late_begin = InsideOf(late);
        costs.late_end = OutsideOf(late);
        costs.late_from_ns = kOtherWorkBeforeCallNs;
        break;
      }
      case LabelKind::kOverhead:
        costs.own_overhead = IsProfilersOverhead(label.text);
        break;
      case LabelKind::kNone:
      case LabelKind::kPhase:
      case LabelKind::kCounter:
        break;
    }
    costs.has_late = costs.late_begin.ns != costs.begin.ns || costs.late_end.ns != costs.end.ns;
  }
}

}  // namespace gpubound
