// SPDX-License-Identifier: Apache-2.0
//
// The name of a file without its folders. Pure.
#ifndef GPUBOUND_ANALYSIS_BASE_BASE_NAME_H_
#define GPUBOUND_ANALYSIS_BASE_BASE_NAME_H_

#include <string>

namespace gpubound {

// "b.py" of "/a/b.py".
inline std::string BaseName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_BASE_NAME_H_
