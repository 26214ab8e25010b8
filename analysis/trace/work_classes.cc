// SPDX-License-Identifier: Apache-2.0
//
// Classes of device work, and the names of GPU states and layers as reports print them. No state.
#include "analysis/trace/work_classes.h"

#include "analysis/trace/name_lists.h"

namespace gpubound {

WorkClass ClassOf(const Work& work) {
  switch (work.info.kind) {
    case WorkKind::kMemcpy:
    case WorkKind::kMemset:
      return kCopy;
    case WorkKind::kNone:
    case WorkKind::kKernel:
    case WorkKind::kGraph:
      break;
  }
  return CommKernels().Matches(work.name) ? kComm : kCompute;
}

const char* WorkClassName(WorkClass work_class) {
  switch (work_class) {
    case kComm:
      return "comm";
    case kCompute:
      return "compute";
    case kCopy:
      return "copy";
  }
  return "compute";
}

std::string GpuStateName(GpuState state) {
  if (state == kGpuIdle) return "idle";
  if (state == kGpuUnknown) return "unknown";
  std::string name;
  for (const WorkClass work_class : {kComm, kCompute, kCopy}) {
    if (!HasClass(state, work_class)) continue;
    if (!name.empty()) name += '+';
    name += WorkClassName(work_class);
  }
  return name;
}

const char* LayerName(Layer layer) {
  switch (layer) {
    case Layer::kUnset:
      return "unset";
    case Layer::kPython:
      return "python";
    case Layer::kWait:
      return "wait";
    case Layer::kNative:
      return "native";
    case Layer::kSimulator:
      return "simulator";
    case Layer::kBackend:
      return "backend";
    case Layer::kCudaSync:
      return "cuda_sync";
    case Layer::kCudaApi:
      return "cuda_api";
  }
  return "unset";
}

}  // namespace gpubound
