// SPDX-License-Identifier: Apache-2.0
//
// --operations, by which foreign ranges serve as operations: for every command that can have them.
#ifndef GPUBOUND_TOOLS_COMMANDS_OPERATIONS_OPTION_H_
#define GPUBOUND_TOOLS_COMMANDS_OPERATIONS_OPTION_H_

#include <string>
#include <vector>

#include "tools/commands/option_parser.h"

namespace gpubound {

// Adds the option to |parser|, which refuses what is neither nvtx:DOMAIN nor all: such a choice
// would select nothing without a word. |operations| outlives its Parse.
void AddOperationsOption(OptionParser* parser, std::vector<std::string>* operations);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_OPERATIONS_OPTION_H_
