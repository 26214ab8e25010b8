// SPDX-License-Identifier: Apache-2.0
//
// What a device reaches at most, by its name (data/device_peaks.txt). Built on first use and
// immutable after; call from any thread.
#ifndef GPUBOUND_ANALYSIS_TRACE_DEVICE_PEAK_H_
#define GPUBOUND_ANALYSIS_TRACE_DEVICE_PEAK_H_

#include <string_view>

namespace gpubound {

struct DevicePeak {
  double flops = 0;  // a second, of matrix products of 16-bit floats
  double bytes = 0;  // a second, to and from its memory
};

// Null: nobody knows.
const DevicePeak* PeakOf(std::string_view device_name);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_DEVICE_PEAK_H_
