// SPDX-License-Identifier: Apache-2.0
//
// What CUPTI calls the kinds of its OVERHEAD records.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_OVERHEAD_KINDS_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_OVERHEAD_KINDS_H_

#include <cstdint>

namespace gpubound {

struct OverheadName {
  uint32_t kind;  // CUpti_ActivityOverheadKind, by number: older headers lack the newer ones
  const char* name;
};
inline constexpr OverheadName kOverheadNames[] = {
    {0, "UNKNOWN"},
    {1, "DRIVER_COMPILER"},
    {1 << 16, "CUPTI_BUFFER_FLUSH"},
    {2 << 16, "CUPTI_INSTRUMENTATION"},
    {3 << 16, "CUPTI_RESOURCE"},
    {4 << 16, "RUNTIME_TRIGGERED_MODULE_LOADING"},
    {5 << 16, "LAZY_FUNCTION_LOADING"},
    {6 << 16, "COMMAND_BUFFER_FULL"},
    {7 << 16, "ACTIVITY_BUFFER_REQUEST"},
    {8 << 16, "UVM_ACTIVITY_INIT"},
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_OVERHEAD_KINDS_H_
