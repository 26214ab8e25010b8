// SPDX-License-Identifier: Apache-2.0
//
// The device sources that were built into the shared library. Defined in a file that CMake
// generates from device_sources.cc.in; only the shared library has it, so that libprofiler never
// names a source.
#ifndef GPUBOUND_LIBPROFILER_DEVICE_SOURCES_H_
#define GPUBOUND_LIBPROFILER_DEVICE_SOURCES_H_

#include <cstddef>

#include "libprofiler/device_source.h"

namespace gpubound {

extern const DeviceSourceFactory kDeviceSourceFactories[];
extern const size_t kDeviceSourceCount;

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_DEVICE_SOURCES_H_
