// SPDX-License-Identifier: Apache-2.0
//
// What an importer hands over, whatever tool wrote the trace: closed intervals on threads, device
// work, and the names they refer to. Plain values. Indices refer to ForeignNames; times are those
// of the foreign trace, in nanoseconds.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_RECORDS_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_RECORDS_H_

#include <cstdint>
#include <string_view>
#include <tuple>

#include "proto/event_model.h"

namespace gpubound {

inline constexpr uint32_t kNoIndex = 0xffffffff;

// The range that is an iteration of PyTorch's profiler, before its number.
inline constexpr std::string_view kIterationPrefix = "ProfilerStep#";

// What happened on a thread. The order breaks ties: of two intervals with the same start and end
// the later kind lies inside the earlier one, as a call lies inside the operator that makes it.
enum class CpuKind : uint8_t {
  kIteration,  // one turn of the training loop; `number` is which
  kScope,      // an operation, an annotation or a layer, as its label says
  kRange,      // a scope that may end on another thread, or out of order
  kCall,       // an API function
};

struct CpuInterval {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t order = 0;  // of arrival
  int64_t number = 0;  // an iteration's
  uint32_t thread = kNoIndex;
  LabelId label{};
  uint32_t correlation = 0;  // a call's; 0: none
  int32_t result = 0;        // a call's
  CpuKind kind = CpuKind::kScope;
  Layer layer = Layer::kUnset;  // the label's
  uint32_t op = 0;              // of the names, where it is an operator

  // By thread, outer intervals before those inside them: the innermost interval at an instant is
  // the last one in this order that holds it (latest start, then earliest end).
  friend bool operator<(const CpuInterval& a, const CpuInterval& b) {
    return std::tie(a.thread, a.start_ns, b.end_ns, a.layer, a.kind, a.order) <
           std::tie(b.thread, b.start_ns, a.end_ns, b.layer, b.kind, b.order);
  }
};

struct ForeignWork {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t bytes = 0;
  uint64_t graph_node = 0;
  uint64_t order = 0;
  uint32_t correlation = 0;     // 0: none
  uint32_t process = kNoIndex;  // kNoIndex: the one that launched it
  uint32_t stream = 0;          // StreamId
  uint32_t work = 0;            // WorkId
  uint32_t graph = 0;
  bool timed = true;  // else start and end are 0, which may be no time
  bool ended = true;  // else when it ended is not known, and `end_ns` is `start_ns`

  friend bool operator<(const ForeignWork& a, const ForeignWork& b) {
    return std::tie(a.start_ns, a.end_ns, a.order) < std::tie(b.start_ns, b.end_ns, b.order);
  }
};

struct ForeignSync {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  uint64_t event = 0;
  uint64_t order = 0;
  uint32_t correlation = 0;
  uint32_t process = kNoIndex;
  uint32_t type = 0;
  uint32_t context = 0;
  uint32_t stream = 0;

  friend bool operator<(const ForeignSync& a, const ForeignSync& b) {
    return std::tie(a.start_ns, a.end_ns, a.order) < std::tie(b.start_ns, b.end_ns, b.order);
  }
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_RECORDS_H_
