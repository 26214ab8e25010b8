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

// Causes in the order of the last resort: of several threads the last one counts.
const std::vector<std::string> kCauses = {"unknown",  "launch",  "copy",
                                          "sync",     "waiting", "simulation",
                                          "start-up", "compile", "checkpoint"};

size_t RankOf(const std::string& cause) {
  return static_cast<size_t>(std::find(kCauses.begin(), kCauses.end(), cause) - kCauses.begin());
}

struct ThreadState {
  std::string operation;  // empty: none open
  std::string layer;      // empty: nothing known
  std::string cause;
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
    state.cause = CauseOf(thread, scopes, state.layer, t);
    return state;
  }

  // What the names of the open scopes tell: the nearest that tells anything, and beneath the
  // innermost operation only a checkpoint.
  std::string NamedCause(const std::vector<LabelId>& scopes) const {
    bool enclosing = false;
    for (size_t i = scopes.size(); i-- > 0;) {
      const std::string& text = p_.labels[Raw(scopes[i])].text;
      if (text == "save_checkpoint") return "checkpoint";
      if (text == "simulation") return enclosing ? "" : "simulation";
      enclosing = enclosing || !OperationOf(scopes[i]).empty();
    }
    return {};
  }

  std::string CauseOf(const ThreadTrace& thread, const std::vector<LabelId>& scopes,
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

  // Before the first operation; without one, before the first step.
  bool InStartUp(int64_t t) const {
    int64_t first_operation = kOpenEnded;
    int64_t first_step = kOpenEnded;
    for (const ThreadTrace& thread : p_.threads) {
      for (const ThreadEvent& event : thread.events) {
        if (Opens(event) && !OperationOf(event.label).empty()) {
          first_operation = std::min(first_operation, event.time_ns);
        }
        if (event.kind == SlotKind::kStep) first_step = std::min(first_step, event.time_ns);
      }
    }
    if (first_operation != kOpenEnded) return t < first_operation;
    return first_step != kOpenEnded && t < first_step;
  }

  // Adds what every device that did anything was idle for at |t|.
  void AddIdle(int64_t t, const std::string& operation, const std::string& cause,
               NaiveBreakdown* result) const {
    for (const UnknownInterval& unknown : p_.unknown) {
      if (unknown.start_ns <= t && t < unknown.end_ns) {
        // Whatever does not run then is unknown, not idle.
        return;
      }
    }
    std::map<uint32_t, bool> busy;  // by device
    for (const DeviceWork& work : p_.device_work) {
      busy[Raw(p_.streams[Raw(work.stream)].device)] |= work.start_ns <= t && t < work.end_ns;
    }
    for (const auto& [device, is_busy] : busy) {
      if (!is_busy) ++result->idle[operation + "|" + cause];
    }
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
      if (p_.labels[Raw(overhead.label)].text != "COMMAND_BUFFER_FULL") continue;
      waits |= overhead.start_ns <= t && t < overhead.end_ns;
    }
    return waits ? "cuda_sync" : "cuda_api";
  }

  // Empty where it has none of its own: only scopes of a jitted function are.
  std::string OperationOfNode(uint64_t id) const {
    for (const GraphNode& node : p_.graph_nodes) {
      const Label& label = p_.labels[Raw(node.info.operation)];
      if (node.info.node == id && label.kind == LabelKind::kOperation && label.domain == "jax") {
        return label.text;
      }
    }
    return "";
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

  static std::string OfOne(bool copies, const std::string& name) {
    return copies ? "copy" : name.starts_with("nccl") ? "comm" : "compute";
  }

  // What all of its nodes are.
  std::string OfGraph(uint32_t graph) const {
    std::set<std::string> classes;
    for (const GraphNode& node : p_.graph_nodes) {
      if (node.info.graph == graph) classes.insert(OfOne(node.info.type == 1, node.name));
    }
    return classes.size() == 1 ? *classes.begin() : "compute";
  }

  std::string Gpu(int64_t t) const {
    std::set<std::string> classes;
    for (const DeviceWork& work : p_.device_work) {
      if (t < work.start_ns || t >= work.end_ns) continue;
      const Work& row = p_.works[Raw(work.work)];
      classes.insert(row.info.kind == WorkKind::kGraph
                         ? OfGraph(work.graph)
                         : OfOne(row.info.kind == WorkKind::kMemcpy, row.name));
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

  // By the marks of the last instant at which any thread made one; an end among them prevails.
  bool Suspended(int64_t t) const {
    int64_t last_ns = INT64_MIN;
    bool ends = false;
    for (const ThreadTrace& thread : p_.threads) {
      for (const ThreadEvent& event : thread.events) {
        if (event.kind != SlotKind::kSuspension || event.time_ns > t) continue;
        if (event.time_ns < last_ns) continue;
        ends = event.payload != 0 || (event.time_ns == last_ns && ends);
        last_ns = event.time_ns;
      }
    }
    return last_ns != INT64_MIN && !ends;
  }

  std::string RowOf(const ThreadState& state, int64_t t) const {
    if (Suspended(t)) return "(suspended)";
    return state.operation.empty() ? kNone : state.operation;
  }

  void Instant(int64_t t, NaiveBreakdown* result) const {
    const ThreadState reporting = StateOf(reporting_, t);
    const std::string operation = RowOf(reporting, t);
    std::string layer = reporting.layer;
    std::string cause = reporting.cause;
    if (layer != "python") {
      // First the threads that adopt, then those that speak for themselves.
      for (const bool adopting : {true, false}) {
        const std::string before = layer;
        for (size_t i = 0; i < p_.threads.size(); ++i) {
          if (i == reporting_ || annotates_[i] == adopting) continue;
          const ThreadState other = StateOf(i, t);
          const std::string its_operation = other.operation.empty() ? kNone : other.operation;
          if (!adopting && its_operation != operation) continue;
          const bool deeper = DepthOf(other.layer) > DepthOf(layer);
          const bool as_deep = layer != before && other.layer == layer;
          if (!deeper && !as_deep) continue;
          if (deeper || RankOf(other.cause) > RankOf(cause)) cause = other.cause;
          layer = other.layer;
        }
      }
    }
    const bool stays = reporting.cause == "checkpoint" || reporting.cause == "compile";
    if (stays) cause = reporting.cause;
    if (InStartUp(t) && cause != "checkpoint" && cause != "compile") cause = "start-up";
    AddIdle(t, operation, cause, result);
    for (size_t i = 0; i < p_.threads.size(); ++i) {
      if (i == reporting_ || !annotates_[i]) continue;
      const ThreadState lane = StateOf(i, t);
      const std::string lane_operation = RowOf(lane, t);
      ++result->lanes[std::to_string(p_.threads[i].tid)]
                     [Phase(t) + "|" + lane_operation + "|" + lane.layer + "|" + Gpu(t)];
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
      const std::string own = OperationOfNode(work.graph_node);
      causes.insert(own.empty() ? OperationOfCall(work.correlation) : own);
    }
    for (const std::string& causing : causes) ++result->caused[causing];
  }

  const ProcessTrace& p_;
  bool has_operations_ = false;
  size_t reporting_ = 0;
  std::vector<bool> annotates_;
};

}  // namespace

NaiveBreakdown BreakDownNaively(const ProcessTrace& process) { return Oracle(process).Run(); }

}  // namespace gpubound::oracle
