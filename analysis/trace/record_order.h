// SPDX-License-Identifier: Apache-2.0
//
// The order of records that run.h promises: by begin, enclosing calls before the calls inside them,
// then by whatever tells two records apart, so that the order of arrival does not matter. Pure but
// for the scratch memory of a BeginOrder: one object, one thread.
#ifndef GPUBOUND_ANALYSIS_TRACE_RECORD_ORDER_H_
#define GPUBOUND_ANALYSIS_TRACE_RECORD_ORDER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/trace/event_source.h"
#include "analysis/trace/run.h"

namespace gpubound {

inline bool Before(const ApiCall& a, const ApiCall& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  return std::tie(b.end_ns, a.correlation, a.label, a.result) <
         std::tie(a.end_ns, b.correlation, b.label, b.result);
}
inline bool Before(const Overhead& a, const Overhead& b) {
  return std::tie(a.start_ns, a.end_ns, a.correlation, a.label) <
         std::tie(b.start_ns, b.end_ns, b.correlation, b.label);
}
inline bool Before(const DeviceWork& a, const DeviceWork& b) {
  if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
  return std::tie(a.end_ns, a.stream, a.correlation, a.work, a.graph, a.graph_node, a.bytes) <
         std::tie(b.end_ns, b.stream, b.correlation, b.work, b.graph, b.graph_node, b.bytes);
}
inline bool Before(const Sync& a, const Sync& b) {
  return std::tie(a.start_ns, a.end_ns, a.correlation, a.type, a.context, a.stream, a.event) <
         std::tie(b.start_ns, b.end_ns, b.correlation, b.type, b.context, b.stream, b.event);
}
inline bool Before(const CpuTime& a, const CpuTime& b) {
  return std::tie(a.start_ns, a.end_ns, a.tid, a.on_cpu_ns, a.ready_ns) <
         std::tie(b.start_ns, b.end_ns, b.tid, b.on_cpu_ns, b.ready_ns);
}
inline bool Before(const StackLooks& a, const StackLooks& b) {
  return std::tie(a.start_ns, a.end_ns, a.tid, a.frame, a.looks, a.runnable) <
         std::tie(b.start_ns, b.end_ns, b.tid, b.frame, b.looks, b.runnable);
}
inline bool Before(const ThreadCall& a, const ThreadCall& b) { return Before(a.call, b.call); }
inline bool Before(const ThreadOverhead& a, const ThreadOverhead& b) {
  return Before(a.overhead, b.overhead);
}

inline int64_t BeginOf(const ThreadCall& record) { return record.call.start_ns; }
inline int64_t BeginOf(const ThreadOverhead& record) { return record.overhead.start_ns; }
inline int64_t BeginOf(const DeviceWork& record) { return record.start_ns; }
inline int64_t BeginOf(const Sync& record) { return record.start_ns; }
inline int64_t BeginOf(const CpuTime& record) { return record.start_ns; }
inline int64_t BeginOf(const StackLooks& record) { return record.start_ns; }

// Most of a trace arrives in order; then a look is cheaper than a sort.
template <typename Record>
void SortRecords(std::vector<Record>* records) {
  const auto before = [](const Record& a, const Record& b) { return Before(a, b); };
  if (!std::is_sorted(records->begin(), records->end(), before)) {
    std::sort(records->begin(), records->end(), before);
  }
}

// Puts the records of a chunk in order of begin by their times alone, before they are built: the
// column is small, and records of several threads or streams are hardly ever sorted as they come.
class BeginOrder {
 public:
  // For each place in the order, which element of |start_ns| comes there. Equal ones stay as they
  // are. Valid until the next call.
  std::span<const uint32_t> Of(std::span<const int64_t> start_ns);
  // False: no two of those begin at one instant.
  bool has_ties() const { return has_ties_; }

 private:
  // False: it cannot be done, or would take too long. All times lie within |range_ns|.
  bool SortKeys(std::span<const int64_t> start_ns, uint64_t first_ns, uint64_t range_ns);

  std::vector<uint32_t> bucket_ends_;
  std::vector<uint64_t> keys_;
  std::vector<uint32_t> order_;
  bool has_ties_ = false;
};

// Sorts what begins at one instant, in |records| that are in order of begin.
template <typename Record>
void SortTies(std::span<Record> records) {
  for (size_t i = 1; i < records.size(); ++i) {
    if (BeginOf(records[i]) != BeginOf(records[i - 1])) [[likely]]
      continue;
    const size_t first = i - 1;
    while (i < records.size() && BeginOf(records[i]) == BeginOf(records[first])) ++i;
    const std::span<Record> ties = records.subspan(first, i - first);
    std::sort(ties.begin(), ties.end(),
              [](const Record& a, const Record& b) { return Before(a, b); });
  }
}

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_RECORD_ORDER_H_
