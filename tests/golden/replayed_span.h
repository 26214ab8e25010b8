// SPDX-License-Identifier: Apache-2.0
//
// How long a scenario takes with a change, for tests of what-if.
#ifndef GPUBOUND_TESTS_GOLDEN_REPLAYED_SPAN_H_
#define GPUBOUND_TESTS_GOLDEN_REPLAYED_SPAN_H_

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "analysis/correction/span_ratio.h"
#include "analysis/replay/replay.h"
#include "analysis/replay/what_if.h"
#include "tests/golden/scenario.h"

namespace gpubound::golden {

// The scenario |text| with |change| ("operation=a:0.5") made; as it is where that is empty.
// Mistakes in either fail the test.
inline ReplayedRun ReplayedWith(const std::string& text, const std::string& change) {
  const Scenario scenario = ParseScenario(text);
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  ReplayOptions options;
  if (!change.empty()) {
    const Result<Scaling> scaling = ParseScaling(change);
    EXPECT_TRUE(scaling.ok());
    options.changes.scalings = {*scaling};
  }
  Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
  EXPECT_TRUE(replayed.ok());
  return std::move(*replayed);
}

// The span of its first process.
inline double MillisecondsWith(const std::string& text, const std::string& change) {
  const ReplayFacts facts = ReplayedWith(text, change).facts.at(0);
  return static_cast<double>(facts.span_end_ns - facts.span_begin_ns) / 1e6;
}

// What of the time of |text| is left with |change|, and the interval.
inline SpanRatio RatioWith(const std::string& text, const std::string& change) {
  return RatioOf(SpanOf(ReplayedWith(text, change), {}), SpanOf(ReplayedWith(text, ""), {}));
}

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_REPLAYED_SPAN_H_
