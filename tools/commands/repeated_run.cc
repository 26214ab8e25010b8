// SPDX-License-Identifier: Apache-2.0
//
// Compares paths after links. No state.
#include "tools/commands/repeated_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <system_error>

#include "analysis/base/text_table.h"

namespace gpubound {

std::optional<std::string> FindRunGivenTwice(const std::string& owner,
                                             const std::vector<std::string>& runs) {
  std::map<std::filesystem::path, std::string> seen;
  for (const std::string& run : runs) {
    std::error_code ignored;  // what cannot be read is said when it is read
    const auto [first, is_new] = seen.emplace(std::filesystem::weakly_canonical(run, ignored), run);
    if (is_new || first->first.empty()) continue;
    const std::string as =
        first->second == run ? "" : " (the other time as '" + first->second + "')";
    return fmt::format("{} has the run '{}' twice{}; each run of a group counts once.", owner,
                       EscapeName(run), EscapeName(as));
  }
  return std::nullopt;
}

}  // namespace gpubound
