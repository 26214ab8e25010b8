// SPDX-License-Identifier: Apache-2.0
//
// The commands of `gpubound`, one cmd_NAME.cc each. A new command is a file, a declaration here and
// a line of the table in commands.cc; help, suggestions and dispatch follow from the table.
//
// Single-threaded, like everything in tools/ that does not say otherwise.
#ifndef GPUBOUND_TOOLS_COMMANDS_COMMANDS_H_
#define GPUBOUND_TOOLS_COMMANDS_COMMANDS_H_

#include <span>
#include <string>
#include <vector>

namespace gpubound {

using Arguments = std::vector<std::string>;

struct Command {
  const char* name;
  const char* arguments;  // as the help shows them
  const char* summary;    // one line
  int (*run)(const Arguments& arguments);
};

// In the order in which the help lists them.
std::span<const Command> AllCommands();

// Runs `gpubound ARGUMENTS...` and returns its exit status.
int Dispatch(const Arguments& arguments);

int RunProgram(const Arguments& arguments);
int PrintReport(const Arguments& arguments);
int CompareRuns(const Arguments& arguments);
int WatchRun(const Arguments& arguments);
int DumpStacks(const Arguments& arguments);
int CheckRun(const Arguments& arguments);
int ImagineChanges(const Arguments& arguments);
int ImportRun(const Arguments& arguments);
int Calibrate(const Arguments& arguments);
int Verify(const Arguments& arguments);
int ExportRun(const Arguments& arguments);
int QueryRun(const Arguments& arguments);
int CompactStoredRun(const Arguments& arguments);
int MakePartOfRun(const Arguments& arguments);
int MergePartsOfRun(const Arguments& arguments);
int RunDoctor(const Arguments& arguments);
int PrintCompletion(const Arguments& arguments);
int PrintManual(const Arguments& arguments);
int PrintEnvironment(const Arguments& arguments);
int PrintHelp(const Arguments& arguments);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_COMMANDS_H_
