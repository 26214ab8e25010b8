// SPDX-License-Identifier: Apache-2.0
//
// What a run is called, and what its program said of it: gpubound.metadata({...}), from the notes
// of its trace. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_RUN_METADATA_H_
#define GPUBOUND_ANALYSIS_TRACE_RUN_METADATA_H_

#include <map>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

// By key; of several processes and calls the last one that said a key counts. Strings are without
// quotes, other values are as JSON writes them.
std::map<std::string, std::string> MetadataOf(const Run& run);
bool IsMetadata(const Note& note);

// The last part of its path.
std::string NameOf(const Run& run);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_RUN_METADATA_H_
