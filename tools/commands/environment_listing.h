// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound env` prints: the variables that inject the profiler, for a shell to read or as
// JSON, and those that set it up, for a person to read. Pure.
#ifndef GPUBOUND_TOOLS_COMMANDS_ENVIRONMENT_LISTING_H_
#define GPUBOUND_TOOLS_COMMANDS_ENVIRONMENT_LISTING_H_

#include <string>
#include <vector>

#include "tools/console/console.h"
#include "tools/launch/run_environment.h"

namespace gpubound {

// Lines that a POSIX shell can eval: "export NAME='value'", and everything else in comments.
std::string RenderExports(const std::vector<Assignment>& assignments, const GetVariable& variable);

// {"format": "gpubound.env.v1", "set": {NAME: value}, "variables": [{"name", "default", "value" |
// null, "help"}]}
std::string RenderEnvironmentJson(const std::vector<Assignment>& assignments,
                                  const GetVariable& variable);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_ENVIRONMENT_LISTING_H_
