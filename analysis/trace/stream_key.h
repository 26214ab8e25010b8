// SPDX-License-Identifier: Apache-2.0
//
// A stream as records of synchronisation name it. Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_STREAM_KEY_H_
#define GPUBOUND_ANALYSIS_TRACE_STREAM_KEY_H_

#include <cstdint>

namespace gpubound {

inline uint64_t StreamKey(uint32_t context, uint32_t stream) {
  return (static_cast<uint64_t>(context) << 32) | stream;
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_STREAM_KEY_H_
