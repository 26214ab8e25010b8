// SPDX-License-Identifier: Apache-2.0
//
// glob(3) as a vector.
#include "tools/launch/glob_paths.h"

#include <glob.h>

namespace gpubound {

std::vector<std::string> GlobPaths(const std::string& pattern) {
  std::vector<std::string> paths;
  glob_t found = {};
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0) {
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return paths;
}

}  // namespace gpubound
