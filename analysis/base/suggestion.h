// SPDX-License-Identifier: Apache-2.0
//
// What somebody meant who mistyped a command or an option. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_SUGGESTION_H_
#define GPUBOUND_ANALYSIS_BASE_SUGGESTION_H_

#include <span>
#include <string>
#include <string_view>

namespace gpubound {

// Fewest insertions, deletions, replacements and swaps of neighbours that turn |a| into |b|.
size_t EditDistance(std::string_view a, std::string_view b);

// The one of |names| closest to |typed|: one that it abbreviates, else one that is not further away
// than a third of its letters (at least one). Empty when there is none.
std::string ClosestName(std::string_view typed, std::span<const std::string> names);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_SUGGESTION_H_
