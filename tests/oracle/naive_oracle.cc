// SPDX-License-Identifier: Apache-2.0
//
// Nothing here is clever on purpose. No state beyond one call.
#include "tests/oracle/naive_oracle.h"

#include <algorithm>
#include <set>
#include <vector>

namespace gpubound::oracle {
namespace {

const std::string kNone = "(no operation)";

// Layers in the order of refinement, shallow to deep.
const std::vector<std::string> kDepth = {"wait",    "native",    "simulator",
                                         "backend", "cuda_sync", "cuda_api"};

int DepthOf(const std::string& layer) {
  const auto found = std::find(kDepth.begin(), kDepth.end(), layer);
  return found == kDepth.end() ? -1 : static_cast<int>(found - kDepth.begin());
}

struct ThreadState {
  std::string operation;  // empty: none open
  std::string layer;      // empty: nothing known
  std::vector<std::string> open_operations;
};

class Oracle {
 public:
  explicit Oracle(const ProcessTrace& process) : p_(process) {
    has_operations_ = AnyScopeOfKind(LabelKind::kOperation);
    FindReportingThread();
  }

  NaiveBreakdown Run() {
    NaiveBreakdown result;
    for (int64_t t = p_.span_begin_ns; t < p_.span_end_ns; ++t) Instant(t, &result);
    for (const ThreadEvent& event : ReportingEvents()) {
      if (Opens(event) && !OperationOf(event.label).empty()) {
        ++result.count[OperationOf(event.label)];
      }
    }
    return result;
  }

 private:
  static bool Opens(const ThreadEvent& event) {
    return event.kind == SlotKind::kBegin || event.kind == SlotKind::kRangeStart;
  }

  bool AnyScopeOfKind(LabelKind kind) const {
    for (const ThreadTrace& thread : p_.threads) {
      for (const ThreadEvent& event : thread.events) {
        if (Opens(event) && p_.labels[Raw(event.label)].kind == kind) return true;
      }
    }
    return false;
  }

  // Name of the operation that |label| opens; empty if it opens none.
  std::string OperationOf(LabelId id) const {
    const Label& label = p_.labels[Raw(id)];
    if (label.kind == LabelKind::kOperation) return label.text;
    if (label.kind == LabelKind::kAnnotation && !has_operations_ && label.domain != "NCCL") {
      return label.text;
    }
    return {};
  }

  void FindReportingThread() {
    int64_t earliest = kOpenEnded;
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      if (p_.threads[i].tid == p_.main_tid) reporting_ = i;
    }
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      bool annotates = false;
      for (const ThreadEvent& event : p_.threads[i].events) {
        if (!Opens(event) || OperationOf(event.label).empty()) continue;
        annotates = true;
        if (event.time_ns < earliest) {
          earliest = event.time_ns;
          reporting_ = i;
        }
      }
      annotates_.push_back(annotates);
    }
  }

  const std::vector<ThreadEvent>& ReportingEvents() const { return p_.threads[reporting_].events; }

  std::string Base() const { return p_.python ? "python" : "native"; }

  // Whether the range that |thread| started at |index| has been ended at |t|.
  bool RangeEnded(size_t thread, size_t index, int64_t t) const {
    const ThreadEvent& start = p_.threads[thread].events[index];
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      const std::vector<ThreadEvent>& events = p_.threads[i].events;
      for (size_t e = 0; e < events.size(); ++e) {
        if (events[e].kind != SlotKind::kRangeEnd || events[e].payload != start.payload) continue;
        if (events[e].time_ns > t) continue;
        if (i == thread ? e > index : events[e].time_ns >= start.time_ns) return true;
      }
    }
    return false;
  }

  ThreadState StateOf(size_t index, int64_t t) const {
    const ThreadTrace& thread = p_.threads[index];
    std::vector<LabelId> scopes;
    std::vector<bool> is_range;
    for (size_t e = 0; e < thread.events.size() && thread.events[e].time_ns <= t; ++e) {
      const ThreadEvent& event = thread.events[e];
      if (event.kind == SlotKind::kBegin) {
        scopes.push_back(event.label);
        is_range.push_back(false);
      } else if (event.kind == SlotKind::kRangeStart && !RangeEnded(index, e, t)) {
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
    ThreadState state;
    if (index == reporting_ || annotates_[index]) state.layer = Base();
    for (const LabelId scope : scopes) {
      if (!OperationOf(scope).empty()) {
        state.operation = OperationOf(scope);
        state.open_operations.push_back(state.operation);
      }
      const Label& label = p_.labels[Raw(scope)];
      if (label.kind == LabelKind::kLayer) state.layer = label.text;
    }
    const std::string api = ApiLayer(thread, t);
    if (!api.empty()) state.layer = api;
    return state;
  }

  std::string ApiLayer(const ThreadTrace& thread, int64_t t) const {
    bool in_call = false;
    bool waits = false;
    for (const ApiCall& call : thread.calls) {
      if (t < call.start_ns || t >= call.end_ns) continue;
      in_call = true;
      const std::string& name = p_.labels[Raw(call.label)].text;
      waits |= name == "cudaDeviceSynchronize" || name == "cudaMemcpy";
      if (name != "cudaMemcpyAsync") continue;
      for (const DeviceWork& work : p_.device_work) {
        const bool own = work.correlation == call.correlation;
        waits |= own && work.start_ns <= t && t < work.end_ns;
      }
    }
    if (!in_call) return {};
    for (const Overhead& overhead : thread.overheads) {
      waits |= overhead.start_ns <= t && t < overhead.end_ns;
    }
    return waits ? "cuda_sync" : "cuda_api";
  }

  std::string OperationOfCall(uint32_t correlation) const {
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      for (const ApiCall& call : p_.threads[i].calls) {
        if (call.correlation != correlation) continue;
        const ThreadState state = StateOf(i, call.start_ns);
        if (!state.operation.empty()) return state.operation;
        if (i == reporting_ || annotates_[i]) return kNone;
        const ThreadState reporting = StateOf(reporting_, call.start_ns);
        const bool adopts = reporting.layer != "python" && !reporting.operation.empty();
        return adopts ? reporting.operation : kNone;
      }
    }
    return kNone;
  }

  std::string Phase(int64_t t) const {
    std::string phase = "(no phase)";
    int64_t latest = INT64_MIN;
    for (const ThreadTrace& thread : p_.threads) {
      for (const ThreadEvent& event : thread.events) {
        if (event.kind != SlotKind::kPhase || event.time_ns > t || event.time_ns < latest) continue;
        latest = event.time_ns;
        phase = p_.labels[Raw(event.label)].text;
      }
    }
    return phase;
  }

  std::string Gpu(int64_t t) const {
    std::set<std::string> classes;
    for (const DeviceWork& work : p_.device_work) {
      if (t < work.start_ns || t >= work.end_ns) continue;
      const Work& row = p_.works[Raw(work.work)];
      const bool kernel = row.info.kind == WorkKind::kKernel;
      classes.insert(!kernel ? "copy" : row.name.starts_with("nccl") ? "comm" : "compute");
    }
    std::string state;
    for (const char* name : {"comm", "compute", "copy"}) {
      if (classes.count(name) == 0) continue;
      state += (state.empty() ? "" : "+") + std::string(name);
    }
    if (!state.empty()) return state;
    for (const UnknownInterval& unknown : p_.unknown) {
      if (unknown.start_ns <= t && t < unknown.end_ns) return "unknown";
    }
    return "idle";
  }

  void Instant(int64_t t, NaiveBreakdown* result) const {
    const ThreadState reporting = StateOf(reporting_, t);
    const std::string operation = reporting.operation.empty() ? kNone : reporting.operation;
    std::string layer = reporting.layer;
    if (layer != "python") {
      for (size_t i = 0; i < p_.threads.size(); ++i) {
        if (i == reporting_) continue;
        const ThreadState other = StateOf(i, t);
        std::string its_operation = other.operation.empty() ? kNone : other.operation;
        if (!annotates_[i]) its_operation = operation;
        if (its_operation == operation && DepthOf(other.layer) > DepthOf(layer)) {
          layer = other.layer;
        }
      }
    }
    const std::string gpu = Gpu(t);
    ++result->cells[Phase(t) + "|" + operation + "|" + layer + "|" + gpu];
    const bool busy = gpu != "idle" && gpu != "unknown";
    result->busy += busy;
    result->wait += busy && layer == "cuda_sync";
    const std::set<std::string> open(reporting.open_operations.begin(),
                                     reporting.open_operations.end());
    for (const std::string& name : open) ++result->inclusive[name];
    std::set<std::string> causes;
    for (const DeviceWork& work : p_.device_work) {
      if (t < work.start_ns || t >= work.end_ns) continue;
      ++result->sum[operation];
      causes.insert(OperationOfCall(work.correlation));
    }
    for (const std::string& cause : causes) ++result->caused[cause];
  }

  const ProcessTrace& p_;
  bool has_operations_ = false;
  size_t reporting_ = 0;
  std::vector<bool> annotates_;
};

}  // namespace

NaiveBreakdown BreakDownNaively(const ProcessTrace& process) { return Oracle(process).Run(); }

}  // namespace gpubound::oracle
