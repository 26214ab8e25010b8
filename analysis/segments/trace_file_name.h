// SPDX-License-Identifier: Apache-2.0
//
// What the name of a file of a run says: <host>.<pid>.<start>.<segment>.db or
// <host>.<pid>.<start>.live. Pure.
#ifndef GPUBOUND_ANALYSIS_SEGMENTS_TRACE_FILE_NAME_H_
#define GPUBOUND_ANALYSIS_SEGMENTS_TRACE_FILE_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/trace/run.h"

namespace gpubound {

struct TraceFileName {
  ProcessIdentity identity;
  uint32_t segment = 0;
  bool live = false;
};

// Absent for a name of another form.
std::optional<TraceFileName> ParseTraceFileName(const std::string& file_name);

// Of the file with which a process says that it could not be recorded:
// <host>.<pid>.<start>.unrecorded.
std::optional<ProcessIdentity> ParseUnrecordedName(const std::string& file_name);

// <host>.<pid>.<start>: how the names of all files of a process begin.
std::string TraceFileStem(const ProcessIdentity& identity);

// Whether a name that has |in_name| is right for |host|: the recorder writes '_' for what no name
// of a file should hold.
bool IsNameOfHost(const std::string& in_name, const std::string& host);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SEGMENTS_TRACE_FILE_NAME_H_
