// SPDX-License-Identifier: Apache-2.0
//
// Asks lost_launches.h of each process. No state.
#include "analysis/attribution/lost_kernels.h"

#include <string>
#include <utility>

#include "analysis/base/interval.h"
#include "analysis/base/text_table.h"
#include "analysis/trace/call_causes.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/lost_launches.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

// Of one that goes on the work may be on its way, of one that was killed it is unknown by itself,
// and of a part of a run it may lie outside.
bool IsToBeWhole(const ProcessTrace& process) {
  const bool is_recorded = process.device_kind == "real" || process.device_kind == "simulated";
  return is_recorded && process.unknown.empty() && process.steps.empty() &&
         process.span_end != SpanEnd::kGoesOn;
}

constexpr char kReason[] = "what was launched was not recorded";

// Of a process that has kernels: launches that lack one. It is recorded from cuInit on, so that all
// captures are known.
void NoteLostLaunches(const ProcessTrace& process, std::vector<UnknownInterval>* unknown,
                      std::vector<std::string>* problems) {
  struct Says {
    LostLaunches::CallKind kind = LostLaunches::CallKind::kOther;
    CaptureEdge edge = CaptureEdge::kNone;
  };
  LostLaunches lost;
  std::vector<Says> labels;
  bool launches = false;
  bool captures = false;
  for (const Label& label : process.labels) {
    Says& says = labels.emplace_back();
    if (label.kind != LabelKind::kApi) continue;
    says = {LostLaunches::KindOf(label.text), CaptureEdgeOf(label.text)};
    launches |= says.kind == LostLaunches::CallKind::kLaunch;
    captures |= says.edge != CaptureEdge::kNone;
  }
  if (!launches) return;
  const auto source = SourceOf(process);
  const auto for_each_call = [&](const auto& on_call) {
    for (RecordStream<ThreadCall> calls(source->Calls()); calls.Peek() != nullptr; calls.Pop()) {
      const ThreadCall& next = *calls.Peek();
      on_call(next, Raw(next.call.label) < labels.size() ? labels[Raw(next.call.label)] : Says());
    }
  };
  for (RecordStream<DeviceWork> work(source->Work()); work.Peek() != nullptr; work.Pop()) {
    lost.NoteWork(work.Peek()->correlation);
  }
  lost.NoteStreams(process.streams.size());
  if (captures) {
    for_each_call([&](const ThreadCall& next, const Says& says) {
      if (says.edge == CaptureEdge::kNone) return;
      lost.NoteCapture(next.call.start_ns, says.edge == CaptureEdge::kBegins);
    });
  }
  std::vector<LostLaunches::Thread> threads;
  for_each_call([&](const ThreadCall& next, const Says& says) {
    if (next.thread >= threads.size()) threads.resize(next.thread + size_t{1});
    const Interval time{next.call.start_ns, next.call.end_ns};
    lost.AddCall({time, next.call.correlation, next.call.result, says.kind}, &threads[next.thread]);
  });
  for (LostLaunches::Thread& thread : threads) lost.EndThread(&thread);
  if (lost.count() == 0) return;
  for (const Interval& time : lost.when()) {
    unknown->push_back({time.begin_ns, time.end_ns, kReason});
  }
  problems->push_back("pid " + std::to_string(process.identity.pid) + " launched kernels by " +
                      Counted(lost.count(), "call") +
                      " whose kernels CUPTI did not record, and it did not say why. GPU time is "
                      "unknown from each of them on until the thread waits for the device.");
}

}  // namespace

std::optional<Run> WithLostKernels(const Run& run, const std::vector<bool>& unanswered) {
  if (run.sums != nullptr) return std::nullopt;
  std::optional<Run> marked;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    if (!unanswered[p] || !IsToBeWhole(run.processes[p])) continue;
    std::vector<UnknownInterval> unknown;
    std::vector<std::string> problems;
    NoteLostLaunches(run.processes[p], &unknown, &problems);
    if (unknown.empty()) continue;
    if (!marked) marked = run;
    marked->processes[p].unknown = std::move(unknown);
    marked->problems.insert(marked->problems.end(), problems.begin(), problems.end());
  }
  return marked;
}

}  // namespace gpubound
