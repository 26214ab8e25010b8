// SPDX-License-Identifier: Apache-2.0
//
// The GPU side of a process over one window of time, as the CPU side's books read it: stretches in
// which it does not change, in order. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_GPU_SEGMENTS_H_
#define GPUBOUND_ANALYSIS_TIMELINE_GPU_SEGMENTS_H_

#include <cstdint>
#include <vector>

#include "analysis/base/plain_list.h"
#include "analysis/timeline/sm_fill.h"
#include "analysis/trace/run.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// Fill times nanoseconds: 2^30 times a span of years does not fit into 64 bits.
__extension__ typedef unsigned __int128 FilledTime;

// A GpuState with one bit more: whether idle devices are unknown, also while some are busy. Up to
// kGpuUnknown a mix is the state of the same number.
using GpuMix = uint32_t;
inline constexpr GpuMix kUnrecordedBit = kGpuUnknown;
inline constexpr GpuMix kGpuMixes = 2 * kUnrecordedBit;

constexpr GpuState StateOf(GpuMix mix) { return mix > kUnrecordedBit ? mix - kUnrecordedBit : mix; }

// Kept in 64 bits, the filled time of so long a stretch is exact.
inline constexpr int64_t kLongestStretchNs = int64_t{1} << 33;

struct GpuSegment {
  int64_t begin_ns = 0;  // clipped to the span
  int64_t sum_ns = 0;    // of all work until |begin_ns|, concurrent work counted each
  int64_t graph_ns = 0;  // until |begin_ns|, in which graphs ran that were recorded as a whole
  // Until |begin_ns|, weighted by fill, modulo 2^64: of no more than kLongestStretchNs the
  // difference is right.
  uint64_t filled = 0;
  GpuMix mix = kGpuIdle;
  uint32_t running = 0;   // pieces of work, a copy between devices once
  Fill fill = 0;          // mean over the devices that are busy
  bool in_graph = false;  // a graph runs that was recorded as a whole
  template <typename Archive>
  void Visit(Archive& archive) {
    FilledTime whole = filled;
    archive.All(begin_ns, mix, running, fill, in_graph, sum_ns, graph_ns, whole);
    filled = static_cast<uint64_t>(whole);
  }
};

enum class DeviceState : uint8_t { kIdle, kBusy, kUnknown };
inline constexpr size_t kDeviceStates = 3;

// What one device does from |begin_ns| on, clipped to the span.
struct DeviceSegment {
  int64_t begin_ns = 0;
  DeviceState state = DeviceState::kIdle;
};

// Each list holds what was at the window's begin, then every change, then an end that lies beyond
// all times.
struct GpuWindow {
  PlainList<GpuSegment> all;
  std::vector<std::vector<DeviceSegment>> each;  // by order of first use; none for a single device
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_GPU_SEGMENTS_H_
