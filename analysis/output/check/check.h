// SPDX-License-Identifier: Apache-2.0
//
// Judges requirements on a report, and says so for people, for scripts and for CI. A requirement
// holds only where the numbers prove it: one that unknown GPU time leaves open is undecided, and so
// not passed. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_CHECK_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_CHECK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/output/check/requirement.h"
#include "analysis/report/report.h"

namespace gpubound {

enum class Outcome : uint8_t { kHolds, kFails, kUndecided };

struct CheckResult {
  std::string requirement;  // as it was written
  Outcome outcome = Outcome::kUndecided;
  std::string found;    // "41.37 %", of the process that decided where several were selected
  std::string allowed;  // "at least 40 %"
  std::string why;      // of an outcome that the numbers do not explain; may be empty
  std::string word;     // a name that the report lacks, and those that it has; may be empty
  std::vector<std::string> known;
};

// What only the report can tell of |requirement|: that its bound is none for the figure.
std::optional<RequirementMistake> MistakeIn(const Requirement& requirement, const Report& report);

// The requirement has no such mistake. |baseline| is not null where the requirement is about one.
// Where several processes are selected it has to hold for each. A run, or a baseline, of which no
// process was recorded decides nothing.
CheckResult Judge(const Requirement& requirement, const Report& report, const Report* baseline);

// True when every one holds.
bool AllHold(const std::vector<CheckResult>& results);

// "gpubound.check.v1", documented in docs/report.md.
std::string RenderCheckJson(const std::vector<CheckResult>& results,
                            const std::string& device_kind);

// JUnit's XML: a test suite named |run| with a case for each requirement; undecided ones are
// errors.
std::string RenderJUnit(const std::vector<CheckResult>& results, const std::string& run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_CHECK_H_
