// SPDX-License-Identifier: Apache-2.0
//
// Where the spans of processes begin of which nobody can read it any more. Pure.
#ifndef GPUBOUND_ANALYSIS_READER_UNKNOWN_BEGINS_H_
#define GPUBOUND_ANALYSIS_READER_UNKNOWN_BEGINS_H_

#include "analysis/trace/run.h"

namespace gpubound {

// Moves the span of each process whose begin is not known to where the process began by its
// identity, as far as the launcher's record or another process of its host tells what that is in
// trace time, and its first event does not contradict; GPU time before that event is unknown. Of
// one with events it begins with the first of these otherwise. One without any has no length
// before somebody says when it ended, and lies within the run.
void PlaceUnknownBegins(Run* run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_UNKNOWN_BEGINS_H_
