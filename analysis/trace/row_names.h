// SPDX-License-Identifier: Apache-2.0
//
// Names of rows for time that no scope owns. In parentheses, so that they cannot be taken for names
// that a program gave.
#ifndef GPUBOUND_ANALYSIS_TRACE_ROW_NAMES_H_
#define GPUBOUND_ANALYSIS_TRACE_ROW_NAMES_H_

namespace gpubound {

inline constexpr char kNoOperation[] = "(no operation)";
inline constexpr char kNoPhase[] = "(no phase)";

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_ROW_NAMES_H_
