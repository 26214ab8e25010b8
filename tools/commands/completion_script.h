// SPDX-License-Identifier: Apache-2.0
//
// Scripts that let a shell complete the command line of gpubound. Pure.
#ifndef GPUBOUND_TOOLS_COMMANDS_COMPLETION_SCRIPT_H_
#define GPUBOUND_TOOLS_COMMANDS_COMPLETION_SCRIPT_H_

#include <string>
#include <vector>

#include "tools/commands/command_tree.h"

namespace gpubound {

std::string BashCompletion(const std::vector<DescribedCommand>& commands);
std::string ZshCompletion(const std::vector<DescribedCommand>& commands);
std::string FishCompletion(const std::vector<DescribedCommand>& commands);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_COMPLETION_SCRIPT_H_
