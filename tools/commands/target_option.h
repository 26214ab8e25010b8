// SPDX-License-Identifier: Apache-2.0
//
// --target, a result that the training is to reach: for every command that says when it did.
#ifndef GPUBOUND_TOOLS_COMMANDS_TARGET_OPTION_H_
#define GPUBOUND_TOOLS_COMMANDS_TARGET_OPTION_H_

#include <string>
#include <vector>

#include "analysis/report/target.h"
#include "tools/commands/option_parser.h"

namespace gpubound {

// Adds the option to |parser|, which refuses what is no target. |texts| outlives its Parse.
void AddTargetOption(OptionParser* parser, std::vector<std::string>* texts);

// What Parse left in them.
std::vector<Target> TargetsOf(const std::vector<std::string>& texts);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_TARGET_OPTION_H_
