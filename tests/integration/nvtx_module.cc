// SPDX-License-Identifier: Apache-2.0
//
// A module with NVTX in it, to be unloaded.
#include <nvtx3/nvToolsExt.h>

extern "C" __attribute__((visibility("default"))) void OpenAndCloseARange() {
  nvtxRangePushA("range of a module");
  nvtxRangePop();
}
