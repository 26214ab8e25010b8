// SPDX-License-Identifier: Apache-2.0
//
// Looks at the name first, and into the folder only for one that could be a run's. No state.
#include "analysis/output/export/run_file_name.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "analysis/base/folder_entries.h"
#include "analysis/calibration/calibration_file.h"
#include "analysis/segments/run_info.h"
#include "analysis/segments/run_sums.h"
#include "analysis/segments/trace_file_name.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

// Removes |ending| from |name| where it ends so.
bool TakeEnding(std::string_view ending, std::string* name) {
  if (!name->ends_with(ending)) return false;
  name->erase(name->size() - ending.size());
  return true;
}

// Of a process: its database, what SQLite has beside it, its mapping, its later
// iterations, or that it could not be recorded.
bool IsNameOfTrace(std::string name) {
  for (const char* beside : {"-wal", "-shm", "-journal"}) {
    if (TakeEnding(beside, &name)) break;
  }
  if (TakeEnding(".later", &name) || TakeEnding(".unrecorded", &name)) name += ".live";
  return ParseTraceFileName(name).has_value();
}

bool IsNameOfRun(std::string name) {
  TakeEnding(".new", &name);  // while it is written
  return name == kRunInfoFile || name == kSumsFile || name == kCalibrationFile ||
         IsNameOfTrace(name);
}

bool IsRun(const fs::path& folder) {
  return ReadRunInfo((folder / kRunInfoFile).string()).ok() ||
         std::ranges::any_of(EntriesOf(folder), [](const fs::directory_entry& entry) {
           return ParseTraceFileName(entry.path().filename().string()).has_value();
         });
}

}  // namespace

bool IsPlaceOfRun(const std::string& path) {
  const fs::path place(path);
  if (!IsNameOfRun(place.filename().string())) return false;
  return IsRun(place.has_parent_path() ? place.parent_path() : fs::path("."));
}

}  // namespace gpubound
