// SPDX-License-Identifier: Apache-2.0
//
// Names of kernels and functions as people write them. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_DEMANGLE_H_
#define GPUBOUND_ANALYSIS_BASE_DEMANGLE_H_

#include <string>
#include <string_view>

namespace gpubound {

// |name| demangled where it is a mangled C++ name, else as it is.
std::string Demangled(const std::string& name);

// What stands in a demangled |name| before template arguments and parameters, which name other
// kernels and types: the function itself is named there, perhaps in a namespace without a name.
std::string_view HeadOfName(std::string_view name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_DEMANGLE_H_
