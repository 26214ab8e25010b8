// SPDX-License-Identifier: Apache-2.0
//
// Counts and multiplies. No state.
#include "analysis/overhead_sum.h"

#include <limits>

namespace gpubound {
namespace {

// Of the first operation, else of nothing.
int64_t FirstOperationNs(const ProcessTrace& process, const ThreadTrace& thread) {
  for (const ThreadEvent& event : thread.events) {
    const bool opens = event.kind == SlotKind::kBegin;
    if (opens && process.LabelOf(event.label).kind == LabelKind::kOperation) return event.time_ns;
  }
  return std::numeric_limits<int64_t>::max();
}

const ThreadTrace* ReportingThread(const ProcessTrace& process) {
  const ThreadTrace* found = nullptr;
  int64_t first_ns = std::numeric_limits<int64_t>::max();
  for (const ThreadTrace& thread : process.threads) {
    const int64_t opened_ns = FirstOperationNs(process, thread);
    const bool is_main = thread.tid == process.main_tid;
    if (opened_ns < first_ns || (first_ns == std::numeric_limits<int64_t>::max() && is_main)) {
      found = &thread;
      first_ns = opened_ns;
    }
  }
  return found;
}

// In a Python program, operations come from Python and layers from wrapped calls; ranges of others
// come from native code.
CostKind KindOfScope(const ProcessTrace& process, LabelId label) {
  const LabelKind kind = process.LabelOf(label).kind;
  if (!process.python || kind == LabelKind::kAnnotation) return CostKind::kNativeScope;
  return kind == LabelKind::kLayer ? CostKind::kInterceptedCall : CostKind::kPythonScope;
}

}  // namespace

RecordedCounts CountReportingThread(const ProcessTrace& process) {
  RecordedCounts counts;
  const ThreadTrace* thread = ReportingThread(process);
  if (thread == nullptr) return counts;
  for (const ThreadEvent& event : thread->events) {
    switch (event.kind) {
      case SlotKind::kBegin:
      case SlotKind::kRangeStart:
        ++counts.kinds[KindOfScope(process, event.label)];
        break;
      case SlotKind::kEnd:  // counted with its begin
      case SlotKind::kRangeEnd:
        break;
      default:
        ++counts.kinds[CostKind::kInstant];
        break;
    }
  }
  for (const ApiCall& call : thread->calls) ++counts.api_calls[process.LabelOf(call.label).text];
  return counts;
}

Cost SumOfCosts(const RecordedCounts& counts, const CostModel& model) {
  Cost sum;
  double error_ns = 0;  // the error of a mean is the same in every occurrence: it adds up
  const auto add = [&](const Cost& cost, uint64_t count) {
    const auto times = static_cast<double>(count);
    sum.inside_ns += times * cost.inside_ns;
    sum.outside_ns += times * cost.outside_ns;
    sum.variance_ns2 += times * cost.variance_ns2;
    error_ns += times * cost.standard_error_ns;
    sum.samples += count;
  };
  for (const auto& [kind, count] : counts.kinds) add(model.Of(kind), count);
  for (const auto& [function, count] : counts.api_calls) add(model.OfApi(function), count);
  sum.standard_error_ns = error_ns;
  return sum;
}

}  // namespace gpubound
