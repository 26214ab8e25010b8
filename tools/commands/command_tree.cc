// SPDX-License-Identifier: Apache-2.0
//
// Asks each command for its options. No state.
#include "tools/commands/command_tree.h"

#include "tools/commands/commands.h"

namespace gpubound {

std::vector<DescribedCommand> DescribeCommands() {
  std::vector<DescribedCommand> described;
  for (const Command& command : AllCommands()) {
    described.push_back(
        {command.name, command.summary, OptionParser::Describing([&command] { command.run({}); })});
  }
  return described;
}

}  // namespace gpubound
