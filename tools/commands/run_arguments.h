// SPDX-License-Identifier: Apache-2.0
//
// The command line of `gpubound run`: our options, then somebody else's command, of which nothing
// may be taken for ours.
#ifndef GPUBOUND_TOOLS_COMMANDS_RUN_ARGUMENTS_H_
#define GPUBOUND_TOOLS_COMMANDS_RUN_ARGUMENTS_H_

#include <optional>
#include <string>

#include "analysis/compact/retention.h"
#include "tools/commands/commands.h"

namespace gpubound {

struct RunArguments {
  std::string output;                  // -o; empty: choose
  std::string graphs;                  // --graphs; empty: $GPUBOUND_GRAPHS or its default
  std::string counters;                // --counters; empty: $GPUBOUND_COUNTERS or none
  std::string stacks;                  // --stacks; empty: $GPUBOUND_STACKS or 100
  std::string steps;                   // --steps; empty: $GPUBOUND_STEPS or all
  std::optional<int64_t> duration_ns;  // --duration; absent: until each process ends
  // Of a long run: what is kept of it; absent: everything.
  std::optional<Retention> retention;
  bool quiet = false;
  bool no_calibrate = false;
  Arguments command;  // never empty
};

// Reads |words|: options, then `--` and the command, or the command at once. Returns an exit status
// when that is all there is to do (help, wrong use; said already).
std::optional<int> ParseRunArguments(const Arguments& words, RunArguments* arguments);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_RUN_ARGUMENTS_H_
