// SPDX-License-Identifier: Apache-2.0
//
// A library for NVTX_INJECTION64_PATH: gpubound's injection over a host that keeps a log.
#include "tests/cupti_hooks/nvtx_test_tool.h"

#include <utility>

#include "cupti_hooks/nvtx/nvtx_injection.h"
#include "tests/cupti_hooks/recording_host.h"

#define GPUBOUND_EXPORT extern "C" __attribute__((visibility("default")))

namespace {

int g_modules = 0;
int g_extensions = 0;

gpubound::RecordingHost& Log() {
  static gpubound::RecordingHost* const log = new gpubound::RecordingHost;
  return *log;
}

gpubound::DeviceHost* Host() { return &Log(); }

std::vector<std::string> TakeScopes() { return std::exchange(Log().scopes, {}); }
int Modules() { return g_modules; }
int Extensions() { return g_extensions; }

}  // namespace

GPUBOUND_EXPORT int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t)) {
  ++g_modules;
  return gpubound::AttachNvtxModule(get_export_table, &Host) ? 1 : 0;
}

GPUBOUND_EXPORT int InitializeInjectionNvtxExtension(void* module_info) {
  ++g_extensions;
  return gpubound::AttachNvtxExtension(module_info) ? 1 : 0;
}

GPUBOUND_EXPORT const gpubound::NvtxTestTool* gpubound_nvtx_test_tool() {
  static const gpubound::NvtxTestTool tool = {&TakeScopes, &Modules, &Extensions};
  return &tool;
}
