// SPDX-License-Identifier: Apache-2.0
#include "analysis/reader/launches_without_work.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/trace/call_causes.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

bool IsLaunched(WorkKind kind) { return kind == WorkKind::kKernel || kind == WorkKind::kGraph; }

// Of one that goes on the work may be on its way, of one that was killed it is unknown by itself,
// and of a part of a run it may lie outside.
bool IsToBeWhole(const ProcessTrace& process) {
  const bool is_recorded = process.device_kind == "real" || process.device_kind == "simulated";
  return is_recorded && process.unknown.empty() && process.steps.empty() &&
         process.span_end != SpanEnd::kGoesOn;
}

constexpr char kLostWorkReason[] = "what was launched was not recorded";

}  // namespace

void NoteLaunchesWithoutWork(ProcessTrace* process, std::vector<std::string>* problems) {
  const bool has_work = std::any_of(process->works.begin(), process->works.end(),
                                    [](const Work& work) { return IsLaunched(work.info.kind); });
  if (has_work || !IsToBeWhole(*process)) return;
  enum class Says : uint8_t { kNothing, kStarts, kRecords };
  std::vector<Says> labels;
  for (const Label& label : process->labels) {
    Says says = Says::kNothing;
    if (label.kind == LabelKind::kApi) {
      if (IsLaunched(WorkLaunchedBy(label.text))) says = Says::kStarts;
      if (CaptureEdgeOf(label.text) == CaptureEdge::kBegins) says = Says::kRecords;
    }
    labels.push_back(says);
  }
  // A process that captures launches nothing by the calls that it captures.
  uint64_t launches = 0;
  int64_t first_ns = kOpenEnded;
  const auto source = SourceOf(*process);
  for (RecordStream<ThreadCall> calls(source->Calls()); calls.Peek() != nullptr; calls.Pop()) {
    const ApiCall& call = calls.Peek()->call;
    const Says says = Raw(call.label) < labels.size() ? labels[Raw(call.label)] : Says::kNothing;
    if (says == Says::kRecords) return;
    if (says != Says::kStarts || call.result != 0) continue;
    ++launches;
    first_ns = std::min(first_ns, call.start_ns);
  }
  if (launches == 0) return;
  process->unknown.push_back({first_ns, kOpenEnded, kLostWorkReason});
  problems->push_back("pid " + std::to_string(process->identity.pid) + " launched kernels by " +
                      Counted(launches, "call") +
                      ", and CUPTI recorded none of these kernels and did not say why. GPU time is "
                      "unknown from the first of them on. Record a small CUDA program on this "
                      "machine: where its kernels are missing too, the driver withholds them.");
}

}  // namespace gpubound
