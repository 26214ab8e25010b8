// SPDX-License-Identifier: Apache-2.0
//
// The table of quiet functions. Names come from the loaded library, not from the headers that this
// was compiled against, so that every version suffix and every later function is covered.
#include "cupti_hooks/api_functions.h"

#include <algorithm>
#include <string>

#include "proto/sync_calls.h"

namespace gpubound {
namespace {

// More than any CUPTI has (13.0: 523 runtime and 807 driver functions).
constexpr CUpti_CallbackId kMaxFunctions = 2048;

// Sorted. Not here, though frequent, because they can take long and then must be seen: calls that
// may create a context (cudaSetDevice, cudaGetDeviceCount) or load a module lazily
// (cudaFuncGetAttributes, cudaOccupancy..., cuKernelGetFunction).
constexpr std::string_view kNoisy[] = {
    "__cudaPopCallConfiguration",
    "__cudaPushCallConfiguration",
    "cuCtxGetCurrent",
    "cuCtxGetDevice",
    "cuCtxGetId",
    "cuCtxPopCurrent",
    "cuCtxPushCurrent",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxGetState",
    "cuEventQuery",
    "cuFuncGetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGetProcAddress",
    "cuKernelGetAttribute",
    "cuPointerGetAttribute",
    "cuPointerGetAttributes",
    "cuStreamGetCaptureInfo",
    "cuStreamIsCapturing",
    "cuStreamQuery",
    "cudaDeviceGetAttribute",
    "cudaEventQuery",
    "cudaGetDevice",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaPeekAtLastError",
    "cudaPointerGetAttributes",
    "cudaStreamGetCaptureInfo",
    "cudaStreamGetPriority",
    "cudaStreamIsCapturing",
    "cudaStreamQuery",
    "cudaThreadExchangeStreamCaptureMode",
};
static_assert(std::is_sorted(std::begin(kNoisy), std::end(kNoisy)));

}  // namespace

bool IsNoisyApi(std::string_view name) {
  return std::binary_search(std::begin(kNoisy), std::end(kNoisy), name);
}

ApiFunctions::ApiFunctions(const CuptiApi& api, DeviceHost* host)
    : api_(api), host_(host), runtime_(kMaxFunctions), driver_(kMaxFunctions) {
  for (CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    for (CUpti_CallbackId id = 1; id < kMaxFunctions; ++id) {
      Functions(domain)[id].noisy = IsNoisyApi(NameOf(domain, id));
    }
  }
}

std::string_view ApiFunctions::NameOf(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  const char* name = nullptr;
  if (api_.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) return {};
  return StripApiVersion(name);
}

std::vector<CUpti_CallbackId> ApiFunctions::NoisyIds(CUpti_CallbackDomain domain) const {
  std::vector<CUpti_CallbackId> ids;
  for (CUpti_CallbackId id = 0; id < kMaxFunctions; ++id) {
    if (Functions(domain)[id].noisy) ids.push_back(id);
  }
  return ids;
}

bool ApiFunctions::IsNoisy(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return id < kMaxFunctions && Functions(domain)[id].noisy;
}

LabelId ApiFunctions::LabelOf(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  if (id >= kMaxFunctions) return Intern(domain, id);
  LabelId& label = Functions(domain)[id].label;
  if (label == LabelId{}) label = Intern(domain, id);
  return label;
}

LabelId ApiFunctions::Intern(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const bool runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
  const std::string_view library = runtime ? "cuda_runtime" : "cuda_driver";
  const std::string_view name = NameOf(domain, id);
  if (!name.empty()) return host_->InternLabel(LabelKind::kApi, library, name);
  const std::string number =
      (runtime ? "runtime function " : "driver function ") + std::to_string(id);
  return host_->InternLabel(LabelKind::kApi, library, number);
}

}  // namespace gpubound
