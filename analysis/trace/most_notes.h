// SPDX-License-Identifier: Apache-2.0
//
// How many notes of one kind a report has at most: one a process or a thread may be thousands. No
// state.
#ifndef GPUBOUND_ANALYSIS_TRACE_MOST_NOTES_H_
#define GPUBOUND_ANALYSIS_TRACE_MOST_NOTES_H_

#include <cstddef>

namespace gpubound {

inline constexpr size_t kMostNotes = 20;

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_MOST_NOTES_H_
