// SPDX-License-Identifier: Apache-2.0
//
// Entry point of the `gpubound` command. What it does is in commands.cc and cmd_*.cc. In a wheel it lies in a library
// under another name (engine_main.cc).
#include <exception>
#include <string>

#include "tools/commands/commands.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"

#ifdef GPUBOUND_IN_ENGINE
extern "C" int gpubound_command(int argc, char** argv);
int gpubound_command(int argc, char** argv) {
#else
int main(int argc, char** argv) {
#endif
  const gpubound::Arguments arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  try {
    return gpubound::Dispatch(arguments);
  } catch (const std::exception& exception) {
    // Out of memory, or a mistake of ours. `run` must not look like the program's own status.
    gpubound::PrintFailure(std::string("stopped by an internal error: ") + exception.what());
    const bool launcher = !arguments.empty() && arguments.front() == "run";
    return launcher ? gpubound::kExitLauncherFailed : gpubound::kExitUnreadable;
  }
}
