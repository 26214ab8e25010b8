// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/virtual_facts.h"

#include <algorithm>
#include <utility>

#include "analysis/trace/row_names.h"

namespace gpubound::sim {
namespace {

constexpr const char* kNoPhase = "(no phase)";

bool OpensAnyOperation(const History& history) {
  return std::any_of(history.scopes.begin(), history.scopes.end(), [](const ScopeFact& scope) {
    return scope.name.kind == LabelKind::kOperation;
  });
}

}  // namespace

std::string NameOf(Layer layer) {
  switch (layer) {
    case Layer::kUnset:
      return "unset";
    case Layer::kPython:
      return "python";
    case Layer::kWait:
      return "wait";
    case Layer::kNative:
      return "native";
    case Layer::kSimulator:
      return "simulator";
    case Layer::kBackend:
      return "backend";
    case Layer::kCudaSync:
      return "cuda_sync";
    case Layer::kCudaApi:
      return "cuda_api";
  }
  return "?";
}

Facts::Facts(const History& history)
    : history_(history), annotations_serve_(!OpensAnyOperation(history)) {}

bool Facts::Serves(const ScopeName& name) const {
  if (name.kind == LabelKind::kOperation) return true;
  return annotations_serve_ && name.kind == LabelKind::kAnnotation && name.domain != "NCCL";
}

Layer Facts::Base() const { return history_.python ? Layer::kPython : Layer::kNative; }

// The operation that owns |thread|'s time: of the open ones the one begun last. "" when none.
std::string Facts::OwnOperation(uint32_t thread, TimeNs at) const {
  const ScopeFact* latest = nullptr;
  for (const ScopeFact& scope : history_.scopes) {
    if (scope.thread != thread || !Serves(scope.name)) continue;
    if (!Holds(scope.begin_ns, scope.end_ns, at)) continue;
    if (latest == nullptr || scope.sequence > latest->sequence) latest = &scope;
  }
  return latest == nullptr ? "" : latest->name.text;
}

bool Facts::EverOpensOperation(uint32_t thread) const {
  return std::any_of(history_.scopes.begin(), history_.scopes.end(), [&](const ScopeFact& scope) {
    return scope.thread == thread && Serves(scope.name);
  });
}

// Whether anything was recorded of |thread| by then: before that nobody knows that it is there.
bool Facts::HasBegun(uint32_t thread, TimeNs at) const {
  const auto has_any = [thread, at](const auto& facts) {
    return std::any_of(facts.begin(), facts.end(), [thread, at](const auto& fact) {
      return fact.thread == thread && fact.time_ns <= at;
    });
  };
  return std::any_of(
             history_.scopes.begin(), history_.scopes.end(),
             [thread, at](const ScopeFact& scope) {
               return (scope.thread == thread && scope.begin_ns <= at) ||
                      (scope.range != 0 && scope.end_thread == thread && scope.end_ns <= at);
             }) ||
         std::any_of(history_.calls.begin(), history_.calls.end(),
                     [thread, at](const ApiFact& call) {
                       return call.thread == thread && call.begin_ns <= at;
                     }) ||
         has_any(history_.pauses) || has_any(history_.phases) || has_any(history_.steps) ||
         has_any(history_.wakes);
}

bool Facts::IsSync(const ApiFact& call, TimeNs at) const {
  static const std::set<std::string> kWaits = {"cudaStreamSynchronize", "cudaEventSynchronize",
                                               "cudaDeviceSynchronize", "cudaMemcpy"};
  if (kWaits.count(call.name) != 0) return true;
  if (Holds(call.queue_full_from_ns, call.queue_full_to_ns, at)) return true;
  if (call.name != "cudaMemcpyAsync") return false;
  return std::any_of(history_.work.begin(), history_.work.end(), [&](const WorkFact& work) {
    return work.correlation == call.correlation && Holds(work.begin_ns, work.end_ns, at);
  });
}

Layer Facts::OwnLayer(uint32_t thread, TimeNs at) const {
  for (const ApiFact& call : history_.calls) {
    if (call.thread != thread || !Holds(call.begin_ns, call.end_ns, at)) continue;
    return IsSync(call, at) ? Layer::kCudaSync : Layer::kCudaApi;
  }
  return ScopeLayer(thread, at, UINT64_MAX);
}

// Of the layer scopes that are open and were opened before |sequence|, the one begun last.
Layer Facts::ScopeLayer(uint32_t thread, TimeNs at, uint64_t sequence) const {
  const ScopeFact* latest = nullptr;
  for (const ScopeFact& scope : history_.scopes) {
    if (scope.thread != thread || scope.name.kind != LabelKind::kLayer) continue;
    if (scope.sequence >= sequence || !Holds(scope.begin_ns, scope.end_ns, at)) continue;
    if (latest == nullptr || scope.sequence > latest->sequence) latest = &scope;
  }
  return latest == nullptr ? Layer::kUnset : latest->name.layer;
}

Layer Facts::ReportingLayer(TimeNs at) const {
  const Layer own = OwnLayer(kReportingThread, at);
  return own == Layer::kUnset ? Base() : own;
}
std::string Facts::ReportingOperation(TimeNs at) const {
  const std::string own = OwnOperation(kReportingThread, at);
  return own.empty() ? kNoOperationRow : own;
}
// Whether threads without operations of their own work for the reporting thread now.
bool Facts::Adopts(TimeNs at) const { return ReportingLayer(at) != Layer::kPython; }

std::string Facts::OperationOf(uint32_t thread, TimeNs at) const {
  if (thread == kReportingThread) return ReportingOperation(at);
  if (EverOpensOperation(thread)) {
    const std::string own = OwnOperation(thread, at);
    return own.empty() ? kNoOperationRow : own;
  }
  return Adopts(at) ? ReportingOperation(at) : kNoOperationRow;
}

Layer Facts::ProcessLayer(TimeNs at) const {
  Layer deepest = ReportingLayer(at);
  if (deepest == Layer::kPython) return deepest;
  const std::string operation = ReportingOperation(at);
  for (uint32_t thread = 1; thread < history_.tids.size(); ++thread) {
    if (OperationOf(thread, at) != operation) continue;
    Layer layer = OwnLayer(thread, at);
    if (layer == Layer::kUnset && EverOpensOperation(thread) && HasBegun(thread, at)) {
      layer = Base();
    }
    if (layer >= Layer::kWait) deepest = std::max(deepest, layer);
  }
  return deepest;
}

std::string Facts::Phase(TimeNs at) const {
  std::string phase = kNoPhase;
  for (const PhaseFact& fact : history_.phases) {
    if (fact.time_ns <= at) phase = fact.name;
  }
  return phase;
}

GpuClasses Facts::Classes(TimeNs at) const {
  GpuClasses classes;
  for (const WorkFact& work : history_.work) {
    if (!Holds(work.begin_ns, work.end_ns, at)) continue;
    const bool is_kernel = work.kind == OpKind::kKernel;
    const bool is_comm = is_kernel && work.name.rfind("nccl", 0) == 0;
    classes.comm |= is_comm;
    classes.compute |= is_kernel && !is_comm;
    classes.copy |= !is_kernel;
  }
  return classes;
}

std::string Facts::Gpu(TimeNs at) const {
  const GpuClasses classes = Classes(at);
  std::string state;
  for (const auto& [active, name] :
       {std::pair(classes.comm, "comm"), {classes.compute, "compute"}, {classes.copy, "copy"}}) {
    if (active) state += (state.empty() ? "" : "+") + std::string(name);
  }
  if (!state.empty()) return state;
  return IsUnrecorded(at) ? "unknown" : "idle";
}

bool Facts::IsUnrecorded(TimeNs at) const {
  const bool deaf = std::any_of(
      history_.unknown.begin(), history_.unknown.end(),
      [at](const UnknownFact& unknown) { return Holds(unknown.from_ns, unknown.to_ns, at); });
  return deaf || IsPaused(at);
}

// By what was said at the last instant at which any thread said anything; to resume prevails.
bool Facts::IsPaused(TimeNs at) const {
  TimeNs last_ns = -1;
  for (const PauseFact& pause : history_.pauses) {
    if (pause.time_ns <= at) last_ns = std::max(last_ns, pause.time_ns);
  }
  bool resumed = last_ns < 0;
  for (const PauseFact& pause : history_.pauses) {
    resumed |= pause.time_ns == last_ns && !pause.pauses;
  }
  return !resumed;
}

bool Facts::IsReallyBusy(TimeNs at) const {
  const auto runs = [at](const WorkFact& work) { return Holds(work.begin_ns, work.end_ns, at); };
  return std::any_of(history_.work.begin(), history_.work.end(), runs) ||
         std::any_of(history_.lost_work.begin(), history_.lost_work.end(), runs);
}

TimeNs Facts::RunningCount(TimeNs at) const {
  return std::count_if(history_.work.begin(), history_.work.end(), [at](const WorkFact& work) {
    return Holds(work.begin_ns, work.end_ns, at);
  });
}

std::set<std::string> Facts::Causes(TimeNs at) const {
  std::set<std::string> causes;
  for (const WorkFact& work : history_.work) {
    if (!Holds(work.begin_ns, work.end_ns, at)) continue;
    if (!HasCall(work)) causes.insert(kNoOperationRow);
    for (const ApiFact& call : history_.calls) {
      if (call.correlation == work.correlation) {
        causes.insert(OperationOf(call.thread, call.begin_ns));
      }
    }
  }
  return causes;
}

bool Facts::HasCall(const WorkFact& work) const {
  return std::any_of(history_.calls.begin(), history_.calls.end(),
                     [&work](const ApiFact& call) { return call.correlation == work.correlation; });
}

Layer Facts::Enclosing(uint32_t thread, TimeNs at, uint64_t sequence) const {
  const Layer own = ScopeLayer(thread, at, sequence);
  if (own != Layer::kUnset) return own;
  const bool lent = thread != kReportingThread && !EverOpensOperation(thread) && Adopts(at);
  return lent ? ReportingLayer(at) : Base();
}

}  // namespace gpubound::sim
