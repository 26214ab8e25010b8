// SPDX-License-Identifier: Apache-2.0
//
// The manual page of gpubound. Pure.
#ifndef GPUBOUND_TOOLS_COMMANDS_MAN_PAGE_H_
#define GPUBOUND_TOOLS_COMMANDS_MAN_PAGE_H_

#include <string>
#include <vector>

#include "tools/commands/command_tree.h"

namespace gpubound {

// In the man macros of troff, section 1.
std::string ManPage(const std::vector<DescribedCommand>& commands, const std::string& version);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_MAN_PAGE_H_
