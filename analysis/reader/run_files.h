// SPDX-License-Identifier: Apache-2.0
//
// Finds and opens the files of a run, whose processes may be writing, or ending, at that very time:
//
//   a process:  commits to the database | frees pages of the mapping | ... | commits its end |
//               removes the mapping
//   the reader: lists | opens mappings | lists | opens databases
//
// So what a mapping does not hold any more is in the database that is opened after it, and whose
// mapping has gone has its end there. No state.
#ifndef GPUBOUND_ANALYSIS_READER_RUN_FILES_H_
#define GPUBOUND_ANALYSIS_READER_RUN_FILES_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/reader/process_files.h"
#include "analysis/segments/trace_file_name.h"

namespace gpubound {

struct RunFiles {
  std::vector<TraceFileName> names;  // of all files that are there
  std::vector<std::pair<TraceFileName, Error>> unreadable;
  GroupedFiles grouped;
  bool has_run_json = false;
  // Processes that could not be recorded, and why, as they say.
  std::vector<std::pair<ProcessIdentity, std::string>> unrecorded;
  bool has_silent_unrecorded = false;  // one at least could not even leave a file
};

// An error where |path| is no folder of a run. |meanwhile|: what happens between listing and
// opening, in tests. |hosts|: files of others are passed over, as if they were not there; empty: none.
Result<RunFiles> OpenRunFiles(const std::string& path, const std::function<void()>& meanwhile = {},
                              const std::set<std::string>& hosts = {});

// The hosts that have files in the folder of a run, as the names of the files have them. The same
// error.
Result<std::set<std::string>> HostsIn(const std::string& path);

// How a file of parts begins, which are made from runs (analysis/parts).
inline constexpr std::string_view kPartMagic = "GPBDPART";
bool BeginsAsPart(const std::string& path);

// The databases of the process |identity| of the run in |folder| as they are now; absent where none
// can be read.
std::optional<ProcessFiles> FilesOf(const std::string& folder, const ProcessIdentity& identity);

// The same, where it has closed its
// trace since |files| were opened: their mapping is gone. Absent where it has not.
std::optional<ProcessFiles> FilesIfClosedMeanwhile(const std::string& folder,
                                                   const ProcessIdentity& identity,
                                                   const ProcessFiles& files);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_RUN_FILES_H_
