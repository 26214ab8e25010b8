// SPDX-License-Identifier: Apache-2.0
//
// The run directory as the command line sees it: how it is named, made, and found again.
#ifndef GPUBOUND_TOOLS_LAUNCH_RUN_DIRECTORY_H_
#define GPUBOUND_TOOLS_LAUNCH_RUN_DIRECTORY_H_

#include <sys/types.h>

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <string>
#include <string_view>

#include "analysis/base/status.h"

namespace gpubound {

inline constexpr char kRunSuffix[] = ".gpubound";

// NAME-YYYYmmdd-HHMMSS-PID.gpubound, NAME being the program's base name with everything replaced
// that a shell or a file system could stumble over. Local time.
std::string DefaultRunName(std::string_view program, std::time_t now, pid_t pid);

struct RunDirectory {
  std::string path;      // absolute
  bool created = false;  // by us, just now
};

// Makes |path|, absolute or relative to the current directory, with mode 0700, and the folders
// above it where they are missing. An existing one is taken when it is empty, and with |join| also
// when it holds a trace.
Result<RunDirectory> MakeRunDirectory(const std::string& path, bool join);

// The same for a launcher that is one of several of |job|, which has a name: one that another launcher
// of that job has made is taken, too, once that has noted the job there.
Result<RunDirectory> MakeRunDirectoryOfJob(const std::string& path, const std::string& job);
// In the current directory NAME-JOB.gpubound, for all ranks of the job; NAME-JOB-2.gpubound and so on
// where an earlier job was called the same.
Result<RunDirectory> MakeNamedRunDirectoryOfJob(std::string_view program, const std::string& job);

// Removes a directory that MakeRunDirectory created, if nothing was written into it.
void RemoveIfEmpty(const RunDirectory& directory);

// True when some process has written a trace below |path|.
bool HoldsTrace(const std::string& path);

// What the traces below |path| hold, about; without what a process keeps outside of them until it
// ends.
uint64_t TraceBytes(const std::string& path);

// The *.gpubound directory in |folder| that was changed last; of several the last by name.
Result<std::string> NewestRun(const std::filesystem::path& folder);

// |path|, or the newest run here where it is empty.
Result<std::string> RunOrNewest(const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_RUN_DIRECTORY_H_
