// SPDX-License-Identifier: Apache-2.0
//
// Which names in a run directory are those of the run's own files, so that nothing else is written
// over them. No state.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_RUN_FILE_NAME_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_RUN_FILE_NAME_H_

#include <string>

namespace gpubound {

// Whether |path| is a place in the directory of a run that belongs to the run itself, with a file
// or without: its processes' traces, what the launcher and a compaction wrote, its calibration.
bool IsPlaceOfRun(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_RUN_FILE_NAME_H_
