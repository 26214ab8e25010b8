// SPDX-License-Identifier: Apache-2.0
//
// Names as people read them: those of C++ are longer than lines, others are nothing at all. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_SHORT_NAME_H_
#define GPUBOUND_ANALYSIS_BASE_SHORT_NAME_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace gpubound {

inline constexpr int kNameInSentence = 40;  // columns that a name in a sentence takes at most

// |name| of an operation, a phase, a kernel, ... for people: escaped, and where there is nothing to
// see in it, so that it can be told from nothing at all: "(empty name)", or blanks in quotes.
std::string ShownName(std::string_view name);

// |name| (escaped) in at most |width| columns. What goes first are the arguments of a function,
// then the middle of those of a template, which leave what it is and what it is made for; then the
// middle of the name.
std::string ShortName(const std::string& name, int width, bool unicode);

// The function that a demangled |name| is of, alone: "elementwise_kernel" of
// "void at::native::elementwise_kernel<4, ...>(int, ...)".
std::string BareName(const std::string& name);

inline constexpr size_t kMostListedNames = 8;

// "train, inference and 12 more": the first of |names|, each as in a sentence.
std::string ListedNames(const std::vector<std::string>& names);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_SHORT_NAME_H_
