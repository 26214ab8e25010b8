// SPDX-License-Identifier: Apache-2.0
//
// How long a scenario takes with a change, for tests of what-if.
#ifndef GPUBOUND_TESTS_GOLDEN_REPLAYED_SPAN_H_
#define GPUBOUND_TESTS_GOLDEN_REPLAYED_SPAN_H_

#include <gtest/gtest.h>

#include <string>

#include "analysis/replay.h"
#include "analysis/what_if.h"
#include "tests/golden/scenario.h"

namespace gpubound::golden {

// The span of the first process of the scenario |text| when |change| ("operation=a:0.5") is made.
// Mistakes in either fail the test.
inline double MillisecondsWith(const std::string& text, const std::string& change) {
  const Scenario scenario = ParseScenario(text);
  EXPECT_TRUE(scenario.mistakes.empty()) << scenario.mistakes.front();
  const Result<Scaling> scaling = ParseScaling(change);
  EXPECT_TRUE(scaling.ok());
  ReplayOptions options;
  options.changes.scalings = {*scaling};
  const Result<ReplayedRun> replayed = ReplayRun(scenario.run, options);
  EXPECT_TRUE(replayed.ok());
  const ReplayFacts& facts = (*replayed).facts.at(0);
  return static_cast<double>(facts.span_end_ns - facts.span_begin_ns) / 1e6;
}

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_REPLAYED_SPAN_H_
