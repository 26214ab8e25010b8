// SPDX-License-Identifier: Apache-2.0
//
// What the recorder wrote of itself under GPUBOUND_LOG=debug (libprofiler/debug_log.h). Reads files.
#ifndef GPUBOUND_TOOLS_COMMANDS_RECORDER_LOGS_H_
#define GPUBOUND_TOOLS_COMMANDS_RECORDER_LOGS_H_

#include <string>

namespace gpubound {

// The log files of the run directory |run|, each under its name; empty where there is none. Every
// name and line is escaped.
std::string RenderRecorderLogs(const std::string& run);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_RECORDER_LOGS_H_
