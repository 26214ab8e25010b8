// SPDX-License-Identifier: Apache-2.0
//
// The functions by which the CUDA driver and NVTX enter libgpubound_core.so, and the factories of
// the sources. Only the shared library links this file.
//
//   cuInit -> dlopen($CUDA_INJECTION64_PATH) -> InitializeInjection
//   first NVTX call of a module -> dlopen($NVTX_INJECTION64_PATH) -> InitializeInjectionNvtx2
//
// Called on the program's threads, any number of times; none throws or makes a CUDA call.
#include <cstring>
#include <memory>

#include "cupti_hooks/cupti/cupti_source.h"
#include "cupti_hooks/nvtx/nvtx_injection.h"
#include "cupti_hooks/sampling/counter_source.h"
#include "cupti_hooks/sampling/utilization_source.h"
#include "libprofiler/debug_log.h"
#include "libprofiler/device_sources.h"
#include "libprofiler/lifecycle.h"
#include "libprofiler/log.h"
#include "libprofiler/settings.h"

#define GPUBOUND_EXPORT extern "C" __attribute__((visibility("default")))

namespace gpubound {

std::unique_ptr<DeviceSource> CreateCuptiSource() {
  CuptiOptions options;
  options.enabled = EnvSwitch("GPUBOUND_CUPTI");
  options.keep = EnvSwitch("GPUBOUND_KEEP_CUPTI");
  options.share = EnvSwitch("GPUBOUND_SHARE_CUPTI");
  options.library_path = EnvValue("GPUBOUND_CUPTI_LIBRARY");
  options.buffer_mebibytes = static_cast<uint32_t>(EnvNumber("GPUBOUND_CUPTI_BUFFER_MB", 4, 4096));
  options.quiet = QuietApis(EnvValue("GPUBOUND_QUIET_APIS"));
  if (!ParseGraphLevel(EnvValue("GPUBOUND_GRAPHS"), &options.levels.graphs)) {
    LogOnce("GPUBOUND_GRAPHS is '%s', expected node, graph or auto; using node",
            EnvValue("GPUBOUND_GRAPHS"));
  }
  options.levels.count_queries = EnvSwitch("GPUBOUND_COUNT_QUERIES");
  return std::make_unique<CuptiSource>(std::move(options));
}

std::unique_ptr<DeviceSource> CreateUtilizationSource() {
  UtilizationOptions options;
  if (std::strcmp(EnvValue("GPUBOUND_SAMPLE_MS"), "0") == 0) return nullptr;
  options.interval_ns =
      static_cast<int64_t>(EnvNumber("GPUBOUND_SAMPLE_MS", 100, 60'000)) * 1'000'000;
  return std::make_unique<UtilizationSource>(std::move(options));
}

std::unique_ptr<DeviceSource> CreateCounterSource() {
  const char* wanted = EnvValue("GPUBOUND_COUNTERS");
  if (*wanted == '\0') return nullptr;
  if (std::strcmp(wanted, "occupancy") != 0) {
    LogOnce("GPUBOUND_COUNTERS is '%s', expected occupancy; no counters are sampled", wanted);
    return nullptr;
  }
  CounterOptions options;
  options.library_path = EnvValue("GPUBOUND_CUPTI_LIBRARY");
  return std::make_unique<CounterSource>(std::move(options));
}

}  // namespace gpubound

// 1: loaded. The driver unloads the library for any other answer, so there is no other.
GPUBOUND_EXPORT int InitializeInjection(void) {
  gpubound::LoadOnce();
  gpubound::StartDeviceSources(gpubound::kDeviceSourceFactories, gpubound::kDeviceSourceCount);
  return 1;
}

// |get_export_table| is the calling module's own. 0: this module's NVTX stays off.
GPUBOUND_EXPORT int InitializeInjectionNvtx2(const void* (*get_export_table)(uint32_t)) {
  gpubound::LoadOnce();
  const bool attached = gpubound::AttachNvtxModule(get_export_table, &gpubound::EnsureRecording);
  gpubound::DebugLog("a module of the program initialises NVTX: %s",
                     attached ? "its ranges are recorded" : "its ranges are not recorded");
  return attached ? 1 : 0;
}

// For NVTX's extensions, once for each extension that a module uses.
GPUBOUND_EXPORT int InitializeInjectionNvtxExtension(void* module_info) {
  return gpubound::AttachNvtxExtension(module_info) ? 1 : 0;
}
