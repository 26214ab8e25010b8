// SPDX-License-Identifier: Apache-2.0
//
// The ratio estimator of survey sampling: iterations are drawn, of each two lengths are known.
// Source: W. G. Cochran, Sampling Techniques, third edition, section 2.11.
#include "analysis/correction/span_ratio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/base/estimate.h"
#include "analysis/processes/run_frame.h"

namespace gpubound {
namespace {

double VarianceOf(const CostNoise& noise) { return noise.variance + noise.error * noise.error; }

double LengthOf(const std::vector<double>& steps_ns) {
  return steps_ns.size() < 2 ? 0 : steps_ns.back() - steps_ns.front();
}

// Part of a replayed span: how long it takes, and the waits in it.
struct Part {
  const ReplayedSpan& of;
  double ns = 0;
  const UnknownWaits& waits;
};

// |share|: of |as_is|, in iterations.
SpanRatio RatioOf(const Part& changed, const Part& as_is, double share) {
  SpanRatio ratio;
  ratio.part = changed.ns / as_is.ns;
  // Both spans are uncertain, as if about different costs.
  const double costs = std::hypot(std::sqrt(VarianceOf(changed.of.noise)),
                                  ratio.part * std::sqrt(VarianceOf(as_is.of.noise))) /
                       as_is.ns;
  const double replay = std::hypot(kReplayErrorOfMoved * (1 - ratio.part), kReplayErrorOfLength);
  uint64_t degrees = 0;
  const double sampling = share * SamplingError(changed.of.steps_ns, as_is.of.steps_ns, &degrees);
  const double half =
      std::hypot(kNormal975 * std::hypot(costs, replay),
                 degrees == 0 ? 0 : StudentQuantile(static_cast<double>(degrees)) * sampling);
  const auto more = [&as_is](double changed_ns, double as_is_ns) {
    return std::max(0.0, changed_ns - as_is_ns) / as_is.ns;
  };
  const double sooner = more(changed.waits.waits_sooner_ns, as_is.waits.waits_sooner_ns);
  const double later = more(changed.waits.waits_later_ns, as_is.waits.waits_later_ns);
  ratio.low = std::max(0.0, ratio.part - half - sooner);
  ratio.high = ratio.part + half + later;
  return ratio;
}

}  // namespace

ReplayedSpan SpanOf(const ReplayedRun& replayed, LeadingProcess leading) {
  const Run& run = replayed.run;
  const ReplayFacts& facts = replayed.facts[leading.index];
  ReplayedSpan span;
  span.process_ns = facts.span_end_ns - facts.span_begin_ns;
  const RunFrame frame = FrameOf(run);
  span.run_ns = leading.is_the_run ? span.process_ns : frame.span.length();
  const size_t last = leading.is_the_run ? leading.index : frame.last;
  if (last < replayed.facts.size()) {
    const ReplayFacts& of = replayed.facts[last];
    span.noise = of.span;
    span.waits = of;
  }
  span.steps_ns = facts.steps.times();
  span.iterations = facts.steps.iterations();
  span.iteration_waits = facts.iteration_waits;
  return span;
}

double SamplingError(const std::vector<double>& changed_steps_ns,
                     const std::vector<double>& as_is_steps_ns, uint64_t* degrees) {
  *degrees = 0;
  const size_t steps = as_is_steps_ns.size();
  if (changed_steps_ns.size() != steps || steps < kFewIterations + 1) return 0;
  const double changed = changed_steps_ns.back() - changed_steps_ns.front();
  const double as_is = as_is_steps_ns.back() - as_is_steps_ns.front();
  if (as_is <= 0) return 0;
  const double ratio = changed / as_is;
  double squares = 0;
  for (size_t i = 1; i < steps; ++i) {
    const double off = changed_steps_ns[i] - changed_steps_ns[i - 1] -
                       ratio * (as_is_steps_ns[i] - as_is_steps_ns[i - 1]);
    squares += off * off;
  }
  const auto count = static_cast<double>(steps - 1);
  *degrees = steps - 2;
  return std::sqrt(squares * count / (count - 1)) / as_is;
}

SpanRatio RatioOf(const ReplayedSpan& changed, const ReplayedSpan& as_is) {
  if (as_is.run_ns <= 0) return {};
  const auto whole = static_cast<double>(as_is.run_ns);
  return RatioOf({changed, static_cast<double>(changed.run_ns), changed.waits},
                 {as_is, whole, as_is.waits}, std::min(1.0, LengthOf(as_is.steps_ns) / whole));
}

SpanRatio IterationRatioOf(const ReplayedSpan& changed, const ReplayedSpan& as_is) {
  const double whole = LengthOf(as_is.steps_ns);
  if (whole <= 0) return {.part = 0};
  return RatioOf({changed, LengthOf(changed.steps_ns), changed.iteration_waits},
                 {as_is, whole, as_is.iteration_waits}, 1);
}

int64_t MeanIterationOf(const ReplayedSpan& span) {
  if (span.iterations == 0) return 0;
  return std::llround(LengthOf(span.steps_ns) / static_cast<double>(span.iterations));
}

}  // namespace gpubound
