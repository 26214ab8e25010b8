// SPDX-License-Identifier: Apache-2.0
//
// What the launcher wrote about a run: run.json, format gpubound.run.v1. Pure but for reading the
// file.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_RUN_INFO_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_RUN_INFO_H_

#include <string>

#include "analysis/base/status.h"
#include "analysis/trace/run.h"

namespace gpubound {

// Its name in the run directory, and the format that it says it has (tools/launch/run_record.cc).
inline constexpr char kRunInfoFile[] = "run.json";
inline constexpr char kRunInfoFormat[] = "gpubound.run.v1";

// Reads |path|. Fields that are absent or of another type keep their defaults; an error is a file
// that cannot be read, is no JSON object or names another format.
Result<RunInfo> ReadRunInfo(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_RUN_INFO_H_
