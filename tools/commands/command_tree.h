// SPDX-License-Identifier: Apache-2.0
//
// Every command with its options, taken from the parsers that the commands themselves use: the one
// source of help, completion and manual. Pure.
#ifndef GPUBOUND_TOOLS_COMMANDS_COMMAND_TREE_H_
#define GPUBOUND_TOOLS_COMMANDS_COMMAND_TREE_H_

#include <string>
#include <vector>

#include "tools/commands/option_parser.h"

namespace gpubound {

struct DescribedCommand {
  std::string name;     // "report"
  std::string summary;  // one line
  CommandDescription description;
};

// In the order in which the help lists them.
std::vector<DescribedCommand> DescribeCommands();

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_COMMAND_TREE_H_
