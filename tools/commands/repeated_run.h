// SPDX-License-Identifier: Apache-2.0
//
// Finds a run that the command line names twice among repeats, which would make a group look surer
// than it is. No state.
#ifndef GPUBOUND_TOOLS_COMMANDS_REPEATED_RUN_H_
#define GPUBOUND_TOOLS_COMMANDS_REPEATED_RUN_H_

#include <optional>
#include <string>
#include <vector>

namespace gpubound {

// A complaint where two of |runs| are one directory, however it is written. |owner| (escaped) is
// who has them: "group 'A'".
std::optional<std::string> FindRunGivenTwice(const std::string& owner,
                                             const std::vector<std::string>& runs);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_REPEATED_RUN_H_
