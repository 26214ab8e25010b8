// SPDX-License-Identifier: Apache-2.0
//
// Reads when the iterations ended that came behind the end of a process's recording
// (proto/later_format.h). No state.
#ifndef GPUBOUND_ANALYSIS_READER_LATER_ITERATIONS_H_
#define GPUBOUND_ANALYSIS_READER_LATER_ITERATIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/segments/trace_file_name.h"
#include "proto/later_format.h"

namespace gpubound {

// The path of such a file beside the others, in |folder|, of the process whose files are named so.
std::string LaterPath(const std::string& folder, const TraceFileName& name);

// Those that ended behind |after_ns|, by time, none twice; none where there is no file at |path|.
// What is wrong with it is a sentence in |problems|.
std::vector<LaterIteration> ReadLaterIterations(const std::string& path, int64_t after_ns,
                                                std::vector<std::string>* problems);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_LATER_ITERATIONS_H_
