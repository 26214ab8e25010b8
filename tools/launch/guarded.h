// SPDX-License-Identifier: Apache-2.0
#ifndef GPUBOUND_TOOLS_LAUNCH_GUARDED_H_
#define GPUBOUND_TOOLS_LAUNCH_GUARDED_H_

#include <exception>

#include "analysis/base/status.h"
#include "tools/console/console.h"

namespace gpubound {

// |exception| as an error of |doing| something to |object|.
inline Error InternalError(const char* doing, const std::string& object,
                           const std::exception& exception) {
  return {doing, object, std::string("an internal error: ") + exception.what(), "", ""};
}

// Does |act|. What it throws (no memory, or a mistake of ours) is said and ends nothing.
template <typename Act>
void Guarded(const char* doing, const std::string& object, const Act& act) {
  try {
    act();
  } catch (const std::exception& exception) {
    PrintError(InternalError(doing, object, exception));
  }
}

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_GUARDED_H_
