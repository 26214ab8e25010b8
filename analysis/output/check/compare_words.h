// SPDX-License-Identifier: Apache-2.0
//
// Words and figures that all outputs of a comparison share. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_WORDS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_WORDS_H_

#include <string>

#include "analysis/output/check/compare.h"
#include "analysis/output/text/rates.h"

namespace gpubound {

// The row that says how fast the groups are.
const ComparedRow* SpeedRow(const GroupComparison& comparison);

// "1,000 env steps": of how much work times are.
std::string WorkUnitText(const GroupComparison& comparison);

// "Iteration, median", or the name of an operation or cause.
std::string RowTitle(const ComparedRow& row);

// "14.1 ms", "41 %", "11.2k /s"; "-" where the group has none, and bounds are said.
std::string ValueText(const ComparedRow& row, const ComparedValue& value);

// "+41 %": of the first group's value; of shares in points. "new" and "gone" where one has none.
std::string ChangeText(const ComparedRow& row, const ComparedValue& value);

// "+38 % to +44 %"; empty without an interval.
std::string IntervalText(const ComparedRow& row, const ComparedValue& value);

// What was resampled, or what that would take.
std::string ResamplingSentence(const GroupComparison& comparison, size_t group);

enum class Direction : uint8_t { kNone, kBetter, kWorse, kNeither };

// Of a significant difference. Less time is better for the same work, and more work a second; so is
// a busier GPU where nobody knows the work. How the GPU's own time changes is neither, nor is a
// longer iteration that may do more.
Direction DirectionOf(const GroupComparison& comparison, const ComparedRow& row,
                      const ComparedValue& value);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_COMPARE_WORDS_H_
