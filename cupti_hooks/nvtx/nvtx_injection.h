// SPDX-License-Identifier: Apache-2.0
//
// The tool's side of NVTX v3: fills the function tables of each module of the program that uses
// NVTX (every linked copy of the header-only library asks once). Any thread; may be entered again
// from inside itself, since libcupti uses NVTX too.
#ifndef GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_INJECTION_H_
#define GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_INJECTION_H_

#include <cstdint>

#include "libprofiler/device_source.h"

namespace gpubound {

// Where ranges are recorded: asked for each of them, null while nothing is recorded.
using NvtxHostFunction = DeviceHost* (*)();

// |get_export_table| is NVTX's NvtxGetExportTableFunc_t. False when the module offers no tables;
// NVTX is then off in that module.
bool AttachNvtxModule(const void* (*get_export_table)(uint32_t), NvtxHostFunction host) noexcept;

// |module_info| is NVTX's nvtxExtModuleInfo_t. Answers that every domain is enabled, which some
// releases (3.2.0, 3.2.1) take for "no" when nobody answers.
bool AttachNvtxExtension(void* module_info) noexcept;

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_NVTX_NVTX_INJECTION_H_
