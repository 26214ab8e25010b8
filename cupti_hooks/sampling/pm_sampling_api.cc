// SPDX-License-Identifier: Apache-2.0
//
// One dlsym for each function.
#include "cupti_hooks/sampling/pm_sampling_api.h"

#include <dlfcn.h>

namespace gpubound {

#if GPUBOUND_HAVE_PM_SAMPLING

bool ResolvePmSamplingApi(void* library, const CuptiApi& cupti, PmSamplingApi* api,
                          std::string* why) {
  *api = {};
  api->cupti = cupti;
#define GPUBOUND_X(name)                                                                    \
  api->name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name));                   \
  if (api->name == nullptr) {                                                               \
    *why = cupti.path + " has no " #name " (CUDA 12.6 is the first that samples counters)"; \
    return false;                                                                           \
  }
  GPUBOUND_PM_SAMPLING_FUNCTIONS(GPUBOUND_X)
#undef GPUBOUND_X
  return true;
}

#endif

}  // namespace gpubound
