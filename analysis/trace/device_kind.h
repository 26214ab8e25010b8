// SPDX-License-Identifier: Apache-2.0
//
// What kinds of GPU reach at most (data/device_kinds.txt). Built on first use and immutable after;
// call from any thread.
#ifndef GPUBOUND_ANALYSIS_TRACE_DEVICE_KIND_H_
#define GPUBOUND_ANALYSIS_TRACE_DEVICE_KIND_H_

#include <string>
#include <string_view>
#include <vector>

#include "proto/event_model.h"

namespace gpubound {

struct DeviceKind {
  std::string name;          // short: "H100", "RTX 4090"
  double flops = 0;          // a second, of matrix products of 16-bit floats
  double bytes = 0;          // a second, to and from its memory
  double general_flops = 0;  // a second, of 32-bit floats outside of matrix products
  // Multiprocessors and what one of them holds at a time.
  DeviceInfo limits = {};
};

// Of a device as CUDA calls it. Null: nobody knows.
const DeviceKind* KindOfDevice(std::string_view device_name);

// By its short name, in capitals or not, with or without spaces. Null: there is none.
const DeviceKind* KindNamed(std::string_view name);

// In the order of the file.
std::vector<std::string> KnownKinds();

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_DEVICE_KIND_H_
