// SPDX-License-Identifier: Apache-2.0
//
// `gpubound env`: the variables to set by hand where Slurm, Ray or torchrun starts the program.
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <system_error>

#include "tools/commands/commands.h"
#include "tools/commands/environment_listing.h"
#include "tools/commands/option_parser.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/library_files.h"
#include "tools/launch/run_directory.h"
#include "tools/launch/run_environment.h"

namespace gpubound {
namespace {

constexpr CommandHelp kEnvHelp = {
    "gpubound env", "[OPTIONS]",
    "Prints the variables that make a program, and everything it starts, part of a run, for where\n"
    "`gpubound run` cannot start it itself; and every setting that the profiler reads.",
    "Exit status: 0, or 3 if the libraries are not found.\n",
    "  eval \"$(gpubound env -o /shared/run1.gpubound)\" && srun python train.py\n"};

// GPUBOUND_RUN is made absolute: the program may be started in another folder, on another host.
std::string ChooseRun(const std::string& output) {
  const char* set = EnvironmentVariable("GPUBOUND_RUN");
  std::string run = output;
  if (run.empty() && set != nullptr) run = set;
  if (run.empty()) run = DefaultRunName("run", std::time(nullptr), getpid());
  std::error_code error;
  const std::string absolute = std::filesystem::absolute(run, error).lexically_normal().string();
  return error ? run : absolute;
}

}  // namespace

int PrintEnvironment(const Arguments& words) {
  std::string output;
  bool json = false;
  OptionParser parser(kEnvHelp);
  parser
      .AddOption("-o,--output", &output,
                 "Run directory to name (default: $GPUBOUND_RUN, else run-TIME-PID.gpubound here); "
                 "it is made when something is recorded")
      .Check(NewFolder())
      .Value("DIR");
  parser.AddFlag("--json", &json, "JSON, format gpubound.env.v1");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;

  const Result<LibraryFiles> libraries = FindOurLibraryFiles();
  if (!libraries.ok()) {
    PrintError(libraries.error());
    return kExitUnreadable;
  }
  const std::vector<Assignment> assignments =
      RunAssignments(*libraries, ChooseRun(output), EnvironmentVariable);
  return WriteStdout(json ? RenderEnvironmentJson(assignments, EnvironmentVariable)
                          : RenderExports(assignments, EnvironmentVariable));
}

}  // namespace gpubound
