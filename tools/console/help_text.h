// SPDX-License-Identifier: Apache-2.0
//
// Fits the prose of help and messages to the terminal that shows it. Pure.
#ifndef GPUBOUND_TOOLS_CONSOLE_HELP_TEXT_H_
#define GPUBOUND_TOOLS_CONSOLE_HELP_TEXT_H_

#include <string>
#include <string_view>

namespace gpubound {

// |text| in lines of at most |width| columns, where words let them. Lines flow on to the next one;
// a line that ends a sentence, is empty or begins with a space ends there.
std::string Reflowed(std::string_view text, int width);

// |text| with each line that is longer than |width| continued, two columns further in.
std::string Wrapped(std::string_view text, int width);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CONSOLE_HELP_TEXT_H_
