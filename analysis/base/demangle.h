// SPDX-License-Identifier: Apache-2.0
//
// Names of kernels and functions as people write them. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_DEMANGLE_H_
#define GPUBOUND_ANALYSIS_BASE_DEMANGLE_H_

#include <string>

namespace gpubound {

// |name| demangled where it is a mangled C++ name, else as it is.
std::string Demangled(const std::string& name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_DEMANGLE_H_
