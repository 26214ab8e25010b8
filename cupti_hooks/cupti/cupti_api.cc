// SPDX-License-Identifier: Apache-2.0
//
// Fills the table of cupti_api.h. Called once, by the thread that starts the source.
#include "cupti_hooks/cupti/cupti_api.h"

#include <dlfcn.h>

#include <string_view>

namespace gpubound {
namespace {

template <typename Function>
bool Resolve(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// The first version that is called |path|; 0 when the name does not tell. What is read of records
// and called of functions is right for every later one too.
uint32_t FirstVersionOf(std::string_view path) {
  if (path.ends_with(".so.12")) return kCuptiFirst12;
  if (path.ends_with(".so.13")) return kCuptiFirst13;
  return 0;
}

}  // namespace

bool ResolveCuptiApi(void* library, CuptiApi* api, std::string* why) {
#define GPUBOUND_X(name)                      \
  if (!Resolve(library, #name, &api->name)) { \
    *why = "it has no function " #name;       \
    return false;                             \
  }
  GPUBOUND_CUPTI_REQUIRED(GPUBOUND_X)
#undef GPUBOUND_X
#define GPUBOUND_X(name) Resolve(library, #name, &api->name);
  GPUBOUND_CUPTI_OPTIONAL(GPUBOUND_X)
  GPUBOUND_X(cuptiGetGraphExecId)
  GPUBOUND_X(cuptiActivityEnableRuntimeApi)
  GPUBOUND_X(cuptiSubscribe_v2)
#undef GPUBOUND_X
#define GPUBOUND_X(name) Resolve(library, #name, &api->per_subscriber.name);
  GPUBOUND_X(cuptiActivityRegisterCallbacks_v2)
  GPUBOUND_X(cuptiActivityEnable_v2)
  GPUBOUND_X(cuptiActivityDisable_v2)
  GPUBOUND_X(cuptiActivitySetAttribute_v2)
  GPUBOUND_X(cuptiActivityGetAttribute_v2)
  GPUBOUND_X(cuptiActivityGetNextRecord_v2)
  GPUBOUND_X(cuptiActivityGetNumDroppedRecords_v2)
  GPUBOUND_X(cuptiGetTimestamp_v2)
  GPUBOUND_X(cuptiActivityEnableRuntimeApi_v2)
#undef GPUBOUND_X
  api->simulated_device = dlsym(library, "gpubound_simulated_device") != nullptr;

  const CUptiResult result = api->cuptiGetVersion(&api->version);
  if (result != CUPTI_SUCCESS) api->version = FirstVersionOf(api->path);
  if (api->version == 0) {
    *why = "cuptiGetVersion failed with " + CuptiResultName(*api, result);
    return false;
  }
  if (api->version < kCuptiGraphExecIds) api->cuptiGetGraphExecId = nullptr;
  if (api->version < kCuptiOldest) {
    *why = "its version is " + std::to_string(api->version) + ", at least " +
           std::to_string(kCuptiOldest) + " (CUDA 11.8) is needed";
    return false;
  }
  return true;
}

bool CuptiSubscriberApi::IsComplete() const {
  return cuptiActivityRegisterCallbacks_v2 != nullptr && cuptiActivityEnable_v2 != nullptr &&
         cuptiActivityDisable_v2 != nullptr && cuptiActivitySetAttribute_v2 != nullptr &&
         cuptiActivityGetAttribute_v2 != nullptr && cuptiActivityGetNextRecord_v2 != nullptr &&
         cuptiActivityGetNumDroppedRecords_v2 != nullptr && cuptiGetTimestamp_v2 != nullptr;
}

std::string CuptiResultName(const CuptiApi& api, CUptiResult result) {
  const char* text = nullptr;
  if (api.cuptiGetResultString != nullptr &&
      api.cuptiGetResultString(result, &text) == CUPTI_SUCCESS && text != nullptr) {
    return text;
  }
  return "CUPTI error " + std::to_string(static_cast<int>(result));
}

}  // namespace gpubound
