// SPDX-License-Identifier: Apache-2.0
//
// Names of C++ are longer than lines. Pure.
#ifndef GPUBOUND_ANALYSIS_SHORT_NAME_H_
#define GPUBOUND_ANALYSIS_SHORT_NAME_H_

#include <string>

namespace gpubound {

inline constexpr int kNameInSentence = 40;  // columns that a name in a sentence takes at most

// |name| (escaped) in at most |width| columns. What goes first are the arguments of a function,
// then the middle of those of a template, which leave what it is and what it is made for; then the
// middle of the name.
std::string ShortName(const std::string& name, int width, bool unicode);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SHORT_NAME_H_
