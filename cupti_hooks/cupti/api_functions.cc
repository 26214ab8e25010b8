// SPDX-License-Identifier: Apache-2.0
//
// The table of quiet functions. Names come from the loaded library, not from the headers that this
// was compiled against, so that every version suffix and every later function is covered.
#include "cupti_hooks/cupti/api_functions.h"

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
constexpr std::string_view kQuiet[] = {
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
    "cuFuncGetName",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGetProcAddress",
    "cuKernelGetAttribute",
    "cuKernelGetName",
    "cuPointerGetAttribute",
    "cuPointerGetAttributes",
    "cuStreamGetCaptureInfo",
    "cuStreamGetPriority",
    "cuStreamIsCapturing",
    "cuStreamQuery",
    "cuThreadExchangeStreamCaptureMode",
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
static_assert(std::is_sorted(std::begin(kQuiet), std::end(kQuiet)));

// Quiet, and not the program's: the runtime asks for the name of each kernel that it launches while
// somebody listens (CUDA 13.0), and we for those of nodes.
bool IsAskedForUs(std::string_view name) {
  return name == "cuKernelGetName" || name == "cuFuncGetName";
}

bool LaunchesKernel(std::string_view name) {
  for (std::string_view launch :
       {"cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel", "cudaLaunchKernel",
        "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel"}) {
    if (name == launch) return true;
  }
  return false;
}

struct Wait {
  std::string_view name;
  Awaited awaited;
};
constexpr Wait kWaits[] = {
    {"cuCtxSynchronize", Awaited::kContext},
    {"cuEventRecord", Awaited::kEventRecorded},
    {"cuEventRecordWithFlags", Awaited::kEventRecorded},
    {"cuEventSynchronize", Awaited::kEvent},
    {"cuStreamSynchronize", Awaited::kStream},
    {"cuStreamWaitEvent", Awaited::kEventByStream},
    {"cudaDeviceSynchronize", Awaited::kContext},
    {"cudaEventRecord", Awaited::kEventRecorded},
    {"cudaEventRecordWithFlags", Awaited::kEventRecorded},
    {"cudaEventSynchronize", Awaited::kEvent},
    {"cudaStreamSynchronize", Awaited::kStream},
    {"cudaStreamWaitEvent", Awaited::kEventByStream},
    {"cudaThreadSynchronize", Awaited::kContext},
};

Awaited AwaitedByName(std::string_view name) {
  const auto* found = std::find_if(std::begin(kWaits), std::end(kWaits),
                                   [name](const Wait& wait) { return wait.name == name; });
  return found == std::end(kWaits) ? Awaited::kNone : found->awaited;
}

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

}  // namespace

QuietApis::QuietApis(std::string_view changes) {
  while (!changes.empty()) {
    const size_t end = std::min(changes.find(','), changes.size());
    const std::string_view name = Trimmed(changes.substr(0, end));
    changes.remove_prefix(std::min(end + 1, changes.size()));
    if (name.starts_with('-')) {
      removed_.emplace(Trimmed(name.substr(1)));
    } else if (!name.empty()) {
      added_.emplace(name);
    }
  }
}

bool QuietApis::Contains(std::string_view name) const {
  if (removed_.contains(name)) return false;
  return added_.contains(name) || std::binary_search(std::begin(kQuiet), std::end(kQuiet), name);
}

ApiFunctions::ApiFunctions(const CuptiApi& api, DeviceHost* host, const QuietApis& quiet)
    : api_(api), host_(host), runtime_(kMaxFunctions), driver_(kMaxFunctions) {
  for (CUpti_CallbackDomain domain : {CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API}) {
    for (CUpti_CallbackId id = 1; id < kMaxFunctions; ++id) {
      const std::string_view name = NameOf(domain, id);
      if (name.empty()) continue;
      Function& function = Functions(domain)[id];
      function.is_quiet = quiet.Contains(name);
      function.is_loud = !function.is_quiet;
      function.is_counted = function.is_quiet && !IsAskedForUs(name);
      function.is_launch = LaunchesKernel(name);
      function.is_graph_launch = name == "cuGraphLaunch" || name == "cudaGraphLaunch";
      function.is_per_thread = FullNameOf(domain, id).find("_ptsz") != std::string_view::npos;
      function.awaited = AwaitedByName(name);
      const bool of_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
      function.node = of_driver ? NodeFunctionCalled(FullNameOf(domain, id)) : nullptr;
      function.is_node_change = function.node != nullptr;
    }
  }
}

std::string_view ApiFunctions::FullNameOf(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  const char* name = nullptr;
  if (api_.cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == nullptr) return {};
  return name;
}

std::string_view ApiFunctions::NameOf(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return StripApiVersion(FullNameOf(domain, id));
}

std::vector<CUpti_CallbackId> ApiFunctions::IdsOf(CUpti_CallbackDomain domain,
                                                  bool Function::*kind) const {
  std::vector<CUpti_CallbackId> ids;
  for (CUpti_CallbackId id = 0; id < kMaxFunctions; ++id) {
    if (Functions(domain)[id].*kind) ids.push_back(id);
  }
  return ids;
}

std::vector<CUpti_CallbackId> ApiFunctions::QuietIds(CUpti_CallbackDomain domain) const {
  return IdsOf(domain, &Function::is_quiet);
}

std::vector<CUpti_CallbackId> ApiFunctions::LaunchIds(CUpti_CallbackDomain domain) const {
  return IdsOf(domain, &Function::is_launch);
}

std::vector<CUpti_CallbackId> ApiFunctions::GraphLaunchIds(CUpti_CallbackDomain domain) const {
  return IdsOf(domain, &Function::is_graph_launch);
}

std::vector<CUpti_CallbackId> ApiFunctions::NodeIds(CUpti_CallbackDomain domain) const {
  return IdsOf(domain, &Function::is_node_change);
}

std::vector<CUpti_CallbackId> ApiFunctions::LoudIds(CUpti_CallbackDomain domain) const {
  return IdsOf(domain, &Function::is_loud);
}

Awaited ApiFunctions::AwaitedBy(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return id < kMaxFunctions ? Functions(domain)[id].awaited : Awaited::kNone;
}

const NodeFunction* ApiFunctions::NodeFunctionOf(CUpti_CallbackDomain domain,
                                                 CUpti_CallbackId id) const {
  return id < kMaxFunctions ? Functions(domain)[id].node : nullptr;
}

bool ApiFunctions::IsPerThread(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return id < kMaxFunctions && Functions(domain)[id].is_per_thread;
}

bool ApiFunctions::IsKernelLaunch(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return id < kMaxFunctions && Functions(domain)[id].is_launch;
}

bool ApiFunctions::IsGraphLaunch(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return id < kMaxFunctions && Functions(domain)[id].is_graph_launch;
}

bool ApiFunctions::IsCounted(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return id < kMaxFunctions && Functions(domain)[id].is_counted;
}

bool ApiFunctions::IsQuiet(CUpti_CallbackDomain domain, CUpti_CallbackId id) const {
  return id < kMaxFunctions && Functions(domain)[id].is_quiet;
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
