// SPDX-License-Identifier: Apache-2.0
//
// The entry points of libgpubound_core.so that the shim calls. Compiled into the shared library
// only; InitializeInjection and InitializeInjectionNvtx2 are in cupti_hooks. Any thread.
#include "libprofiler/api_table.h"
#include "libprofiler/lifecycle.h"

#define GPUBOUND_EXPORT extern "C" __attribute__((visibility("default")))

// The table of the annotation API.
GPUBOUND_EXPORT const gpubound_api* gpubound_core_api_v1(void) {
  gpubound::LoadOnce();
  gpubound::NoteShim();
  return gpubound::ApiTable();
}

// Another tool of the program, the library |to| (may be null), is about to ask for what our device
// sources hold: gives it up, unless the user wants it kept.
GPUBOUND_EXPORT void gpubound_core_yield_v1(const char* to) {
  gpubound::YieldDevices(to == nullptr || *to == '\0' ? "the program" : to);
}

// Ends the recording before _exit: |how| goes into the trace.
GPUBOUND_EXPORT void gpubound_core_finish_v1(const char* how) {
  gpubound::FinishRecording(how == nullptr ? "_exit" : how);
}
