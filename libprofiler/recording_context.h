// SPDX-License-Identifier: Apache-2.0
//
// What every writer of pages (thread buffers, device sinks) needs of the recording that it belongs
// to. One object per process record, owned by the collector, outliving all writers.
#ifndef GPUBOUND_LIBPROFILER_RECORDING_CONTEXT_H_
#define GPUBOUND_LIBPROFILER_RECORDING_CONTEXT_H_

#include <atomic>
#include <cstdint>

#include "libprofiler/ledger.h"
#include "libprofiler/live_mapping.h"
#include "libprofiler/page_pool.h"

namespace gpubound {

struct RecordingContext {
  LiveMapping* mapping = nullptr;
  PagePool* pool = nullptr;
  Ledger* ledger = nullptr;
  // Set once, at the end of the recording: writers stop taking pages and stop counting.
  std::atomic<bool> finished{false};
  // Threads that ended meanwhile; each leaves one scope open that says so (scope_domains.h).
  std::atomic<uint64_t> ended_threads{0};
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_RECORDING_CONTEXT_H_
