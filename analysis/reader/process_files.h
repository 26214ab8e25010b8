// SPDX-License-Identifier: Apache-2.0
//
// Groups the files of a run by the process that wrote them. What is in a file says whose it is, and
// its name should say the same: where it does not, the file was renamed, or copied over the one
// that had the name. Values in, values out.
#ifndef GPUBOUND_ANALYSIS_READER_PROCESS_FILES_H_
#define GPUBOUND_ANALYSIS_READER_PROCESS_FILES_H_

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "analysis/segments/live_salvage.h"
#include "analysis/segments/segment.h"

namespace gpubound {

// The files of one process.
struct ProcessFiles {
  std::vector<Segment> segments;  // by number, none twice
  std::optional<LiveFile> live;
  std::string live_path;  // where one was, also before it had begun
};

struct GroupedFiles {
  std::map<ProcessIdentity, ProcessFiles> processes;
  std::vector<std::string> misnamed;  // a note on each
  // Whose files the misnamed ones should be, as far as no file that has their names is theirs; and
  // those of them whose file was certainly overwritten, since what took its place is there twice.
  std::set<ProcessIdentity> not_there;
  std::set<ProcessIdentity> overwritten;
};

// A misnamed segment is that of whom it says, unless the latter's own is there too.
GroupedFiles GroupByProcess(std::vector<Segment> segments);

// Adds |live|, of the file at |path| with the |name|, if that is right: it is no other process's.
void AddLive(const std::string& path, const TraceFileName& name, LiveFile live,
             GroupedFiles* files);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_PROCESS_FILES_H_
