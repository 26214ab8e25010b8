// SPDX-License-Identifier: Apache-2.0
//
// Nothing here is clever on purpose. No state beyond the object.
#include "tests/oracle/naive_threads.h"

#include <algorithm>
#include <utility>

namespace gpubound::oracle {

NaiveThreads::NaiveThreads(const ProcessTrace& process, Awaited awaited)
    : p_(process), awaited_(std::move(awaited)) {
  has_operations_ = AnyScopeOfKind(LabelKind::kOperation);
  FindReportingThread();
}

bool NaiveThreads::AnyScopeOfKind(LabelKind kind) const {
  for (const ThreadTrace& thread : p_.threads) {
    for (const ThreadEvent& event : thread.events) {
      if (Opens(event) && p_.labels[Raw(event.label)].kind == kind) return true;
    }
  }
  return false;
}

bool NaiveThreads::any_operation() const {
  return std::find(annotates_.begin(), annotates_.end(), true) != annotates_.end();
}

// Name of the operation that |id| opens; empty if it opens none.
std::string NaiveThreads::OperationOf(LabelId id) const {
  const Label& label = p_.labels[Raw(id)];
  if (label.kind == LabelKind::kOperation) return label.text;
  if (label.kind == LabelKind::kAnnotation && !has_operations_ && label.domain != "NCCL") {
    return label.text;
  }
  return {};
}

// The one that opened the first operation; what was handed over to it, it did not open.
void NaiveThreads::FindReportingThread() {
  int64_t earliest = kOpenEnded;
  for (size_t i = 0; i < p_.threads.size(); ++i) {
    if (p_.threads[i].tid == p_.main_tid) reporting_ = i;
  }
  for (size_t i = 0; i < p_.threads.size(); ++i) {
    bool annotates = false;
    const std::vector<ThreadEvent>& events = p_.threads[i].events;
    for (size_t e = 0; e < events.size(); ++e) {
      if (!OpensOperation(events[e])) continue;
      annotates = true;
      const bool is_first = e == 0 || events[e - 1].label == LabelId{};
      if (!is_first && events[e - 1].kind == SlotKind::kAdopt) continue;
      if (events[e].time_ns >= earliest) continue;
      earliest = events[e].time_ns;
      reporting_ = i;
    }
    annotates_.push_back(annotates);
  }
}

// Whether the range that |thread| started at |index| has been ended by its events before |until| or
// by those of others until |t|.
bool NaiveThreads::RangeEnded(size_t thread, size_t index, size_t until, int64_t t) const {
  const ThreadEvent& start = p_.threads[thread].events[index];
  for (size_t i = 0; i < p_.threads.size(); ++i) {
    const std::vector<ThreadEvent>& events = p_.threads[i].events;
    for (size_t e = 0; e < events.size(); ++e) {
      if (events[e].kind != SlotKind::kRangeEnd || events[e].payload != start.payload) continue;
      if (i == thread ? e > index && e < until
                      : events[e].time_ns >= start.time_ns && events[e].time_ns <= t) {
        return true;
      }
    }
  }
  return false;
}

// Those that are open behind the first |until| events, the one begun last at the end; other threads
// have ended what they do until |t|.
std::vector<LabelId> NaiveThreads::ScopesUntil(size_t index, size_t until, int64_t t) const {
  const ThreadTrace& thread = p_.threads[index];
  std::vector<LabelId> scopes;
  std::vector<bool> is_range;
  for (size_t e = 0; e < until; ++e) {
    const ThreadEvent& event = thread.events[e];
    if (event.kind == SlotKind::kBegin) {
      scopes.push_back(event.label);
      is_range.push_back(false);
    } else if (event.kind == SlotKind::kRangeStart && !RangeEnded(index, e, until, t)) {
      scopes.push_back(event.label);
      is_range.push_back(true);
    } else if (event.kind == SlotKind::kEnd) {
      for (size_t i = scopes.size(); i-- > 0;) {
        if (scopes[i] != event.label || is_range[i]) continue;
        scopes.erase(scopes.begin() + static_cast<std::ptrdiff_t>(i));
        is_range.erase(is_range.begin() + static_cast<std::ptrdiff_t>(i));
        break;
      }
    }
  }
  return scopes;
}

// At the end of the instant |t|.
std::vector<LabelId> NaiveThreads::ScopesOf(size_t index, int64_t t) const {
  const std::vector<ThreadEvent>& events = p_.threads[index].events;
  size_t until = 0;
  while (until < events.size() && events[until].time_ns <= t) ++until;
  return ScopesUntil(index, until, t);
}

NaiveThread NaiveThreads::StateOf(size_t index, int64_t t) const {
  Calls calls;
  for (const ApiCall& call : p_.threads[index].calls) {
    if (call.start_ns <= t && t < call.end_ns) calls.push_back(&call);
  }
  return Of(index, ScopesOf(index, t), calls, t);
}

bool NaiveThreads::HasBegun(size_t index, int64_t t) const {
  const ThreadTrace& thread = p_.threads[index];
  const auto any_until_t = [t](const auto& list, auto time) {
    return std::any_of(list.begin(), list.end(), [&](const auto& one) { return time(one) <= t; });
  };
  return any_until_t(thread.events, [](const ThreadEvent& event) { return event.time_ns; }) ||
         any_until_t(thread.calls, [](const ApiCall& call) { return call.start_ns; }) ||
         any_until_t(thread.overheads, [](const Overhead& overhead) {
           return overhead.start_ns < overhead.end_ns ? overhead.start_ns : kOpenEnded;
         });
}

bool NaiveThreads::IsBlocked(size_t index, int64_t t) const {
  return std::any_of(p_.cpu_times.begin(), p_.cpu_times.end(), [&](const CpuTime& time) {
    return time.tid == p_.threads[index].tid && time.start_ns <= t && t < time.end_ns &&
           time.on_cpu_ns == 0 && time.ready_ns == 0;
  });
}

bool NaiveThreads::SumsAt(size_t index, int64_t t) const {
  return std::any_of(p_.cpu_times.begin(), p_.cpu_times.end(), [&](const CpuTime& time) {
    return time.tid == p_.threads[index].tid && time.start_ns <= t && t < time.end_ns &&
           (time.on_cpu_ns != 0 || time.ready_ns != 0);
  });
}

bool NaiveThreads::IsBusy(size_t index, int64_t t) const {
  const std::vector<ApiCall>& calls = p_.threads[index].calls;
  return std::any_of(p_.cpu_times.begin(), p_.cpu_times.end(), [&](const CpuTime& time) {
    const bool calls_before = std::any_of(calls.begin(), calls.end(), [&](const ApiCall& call) {
      return call.start_ns <= time.start_ns;
    });
    return time.tid == p_.threads[index].tid && time.start_ns <= t && t < time.end_ns &&
           calls_before && 2 * time.on_cpu_ns >= time.end_ns - time.start_ns;
  });
}

std::vector<NaiveEntry> NaiveThreads::EntriesOf(size_t index) const {
  const ThreadTrace& thread = p_.threads[index];
  std::vector<NaiveEntry> entries;
  for (size_t e = 0; e < thread.events.size(); ++e) {
    const ThreadEvent& event = thread.events[e];
    const int64_t t = event.time_ns;
    if (!Opens(event) || p_.labels[Raw(event.label)].kind != LabelKind::kLayer) continue;
    Calls calls;
    for (const ApiCall& call : thread.calls) {
      if (call.start_ns < t && t < call.end_ns) calls.push_back(&call);
    }
    const NaiveThread before = Of(index, ScopesUntil(index, e, t - 1), calls, t);
    const NaiveThread after = Of(index, ScopesUntil(index, e + 1, t - 1), calls, t);
    entries.push_back({t, after.operation, before.layer, after.layer});
  }
  for (size_t c = 0; c < thread.calls.size(); ++c) {
    const int64_t t = thread.calls[c].start_ns;
    Calls calls;
    for (size_t earlier = 0; earlier < c; ++earlier) {
      const ApiCall& call = thread.calls[earlier];
      if (call.start_ns == t || t < call.end_ns) calls.push_back(&call);
    }
    const NaiveThread before = Of(index, ScopesOf(index, t), calls, t);
    calls.push_back(&thread.calls[c]);
    const NaiveThread after = Of(index, ScopesOf(index, t), calls, t);
    entries.push_back({t, after.operation, before.layer, after.layer});
  }
  return entries;
}

// With these scopes and calls open.
NaiveThread NaiveThreads::Of(size_t index, const std::vector<LabelId>& scopes, const Calls& calls,
                             int64_t t) const {
  const ThreadTrace& thread = p_.threads[index];
  NaiveThread state;
  if (index == reporting_ || annotates_[index]) state.layer = Base();
  for (const LabelId scope : scopes) {
    if (!OperationOf(scope).empty()) {
      state.operation = OperationOf(scope);
      state.open_operations.push_back(state.operation);
    }
    const Label& label = p_.labels[Raw(scope)];
    if (label.kind != LabelKind::kLayer) continue;
    state.layer = label.layer == Layer::kWait ? "wait" : label.text;
    state.awaited.clear();
    if (awaited_.count(Raw(scope)) != 0) state.awaited = awaited_.at(Raw(scope));
  }
  const std::string api = ApiLayer(thread, calls, t);
  if (!api.empty()) state.layer = api;
  if (state.layer != "wait") state.awaited.clear();
  state.cause = CauseOf(thread, scopes, state.layer, t);
  return state;
}

// What the names of the open scopes tell: the nearest that tells anything, and beneath the
// innermost operation only a checkpoint.
std::string NaiveThreads::NamedCause(const std::vector<LabelId>& scopes) const {
  bool enclosing = false;
  for (size_t i = scopes.size(); i-- > 0;) {
    const std::string& text = p_.labels[Raw(scopes[i])].text;
    if (text == "save_checkpoint") return "checkpoint";
    if (text == "simulation") return enclosing ? "" : "simulation";
    enclosing = enclosing || !OperationOf(scopes[i]).empty();
  }
  return {};
}

std::string NaiveThreads::CauseOf(const ThreadTrace& thread, const std::vector<LabelId>& scopes,
                                  const std::string& layer, int64_t t) const {
  const std::string named = NamedCause(scopes);
  if (named == "checkpoint") return named;
  for (const Overhead& overhead : thread.overheads) {
    const bool lazy = p_.labels[Raw(overhead.label)].text == "LAZY_FUNCTION_LOADING";
    if (lazy && overhead.start_ns <= t && t < overhead.end_ns) return "compile";
  }
  std::string call_name;
  for (const ApiCall& call : thread.calls) {
    if (call.start_ns <= t && t < call.end_ns) call_name = p_.labels[Raw(call.label)].text;
  }
  if (call_name.starts_with("cudaMemcpy")) return "copy";
  if (call_name.starts_with("cuModuleLoad")) return "compile";
  if (!call_name.empty()) return layer == "cuda_sync" ? "sync" : "launch";
  if (named == "simulation" || layer == "simulator") return "simulation";
  if (layer == "wait") return "waiting";
  return scopes.empty() ? "unknown" : "launch";
}

std::string NaiveThreads::ApiLayer(const ThreadTrace& thread, const Calls& calls, int64_t t) const {
  if (calls.empty()) return {};
  bool waits = false;
  for (const ApiCall* call : calls) {
    const std::string& name = p_.labels[Raw(call->label)].text;
    waits |= name == "cudaDeviceSynchronize" || name == "cudaMemcpy";
  }
  for (const ApiCall& call : thread.calls) {  // one that is about to begin has begun to wait
    if (t < call.start_ns || t >= call.end_ns) continue;
    if (p_.labels[Raw(call.label)].text != "cudaMemcpyAsync") continue;
    for (const DeviceWork& work : p_.device_work) {
      const bool own = work.correlation == call.correlation;
      waits |= own && work.start_ns <= t && t < work.end_ns;
    }
  }
  for (const Overhead& overhead : thread.overheads) {
    if (p_.labels[Raw(overhead.label)].text != "COMMAND_BUFFER_FULL") continue;
    waits |= overhead.start_ns <= t && t < overhead.end_ns;
  }
  return waits ? "cuda_sync" : "cuda_api";
}

}  // namespace gpubound::oracle
