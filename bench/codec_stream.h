// SPDX-License-Identifier: Apache-2.0
//
// The stream of events that codec_bench measures: what the collector's pages hold after some
// seconds of a training loop. One third scopes, one third CUDA API calls, one third kernels.
#ifndef GPUBOUND_BENCH_CODEC_STREAM_H_
#define GPUBOUND_BENCH_CODEC_STREAM_H_

#include <cstdint>
#include <vector>

#include "proto/clock_conversion.h"
#include "proto/event_model.h"

namespace gpubound {

// A page as the flusher finds it. Only the array of its family is used.
struct BenchPage {
  EventFamily family;
  uint32_t thread;
  uint64_t base_ticks;
  std::vector<Slot> slots;
  std::vector<ApiRecord> api;
  std::vector<DeviceRecord> device;
  uint64_t events;  // a scope is one event, and so is a record
};

struct BenchStream {
  std::vector<BenchPage> pages;  // in the order in which they fill
  ClockConversion ticks_to_ns;
  ClockConversion source_to_ns;
  uint64_t events = 0;
};

// |scopes| scopes on 4 threads, each around one API call that launches one kernel onto one of 2
// streams. Same seed, same stream.
BenchStream MakeBenchStream(uint32_t scopes, uint32_t seed);

// Pages of one thread that hold scopes and nothing else.
BenchStream MakeScopeStream(uint32_t scopes, uint32_t seed);

}  // namespace gpubound

#endif  // GPUBOUND_BENCH_CODEC_STREAM_H_
