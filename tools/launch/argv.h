// SPDX-License-Identifier: Apache-2.0
#ifndef GPUBOUND_TOOLS_LAUNCH_ARGV_H_
#define GPUBOUND_TOOLS_LAUNCH_ARGV_H_

#include <string>
#include <vector>

namespace gpubound {

// |words| as exec and posix_spawn take arguments and environments: null behind the last. They lie
// in |words|, and nobody changes them.
inline std::vector<char*> ArgvOf(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_ARGV_H_
