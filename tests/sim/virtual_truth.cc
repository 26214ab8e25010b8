// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/virtual_truth.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace gpubound::sim {
namespace {

constexpr const char* kNoOperation = "(no operation)";
constexpr const char* kNoPhase = "(no phase)";
constexpr uint32_t kReportingThread = 0;  // opens the first operation, by VirtualProgram's contract
constexpr TimeNs kSmiWindowNs = 166'666'667;

bool Holds(TimeNs begin, TimeNs end, TimeNs at) { return begin <= at && at < end; }

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

// Answers for one instant, each by reading all facts.
class Facts {
 public:
  explicit Facts(const History& history) : history_(history) {}

  Layer Base() const { return history_.python ? Layer::kPython : Layer::kNative; }

  // The operation that owns |thread|'s time: of the open ones the one begun last. "" when none.
  std::string OwnOperation(uint32_t thread, TimeNs at) const {
    const ScopeFact* latest = nullptr;
    for (const ScopeFact& scope : history_.scopes) {
      if (scope.thread != thread || scope.name.kind != LabelKind::kOperation) continue;
      if (!Holds(scope.begin_ns, scope.end_ns, at)) continue;
      if (latest == nullptr || scope.sequence > latest->sequence) latest = &scope;
    }
    return latest == nullptr ? "" : latest->name.text;
  }

  bool EverOpensOperation(uint32_t thread) const {
    return std::any_of(history_.scopes.begin(), history_.scopes.end(), [&](const ScopeFact& scope) {
      return scope.thread == thread && scope.name.kind == LabelKind::kOperation;
    });
  }

  bool IsSync(const ApiFact& call, TimeNs at) const {
    static const std::set<std::string> kWaits = {"cudaStreamSynchronize", "cudaEventSynchronize",
                                                 "cudaDeviceSynchronize", "cudaMemcpy"};
    if (kWaits.count(call.name) != 0) return true;
    if (Holds(call.queue_full_from_ns, call.queue_full_to_ns, at)) return true;
    if (call.name != "cudaMemcpyAsync") return false;
    return std::any_of(history_.work.begin(), history_.work.end(), [&](const WorkFact& work) {
      return work.correlation == call.correlation && Holds(work.begin_ns, work.end_ns, at);
    });
  }

  // The layer that |thread| itself tells; kUnset where it tells none.
  Layer OwnLayer(uint32_t thread, TimeNs at) const {
    for (const ApiFact& call : history_.calls) {
      if (call.thread != thread || !Holds(call.begin_ns, call.end_ns, at)) continue;
      return IsSync(call, at) ? Layer::kCudaSync : Layer::kCudaApi;
    }
    return ScopeLayer(thread, at, UINT64_MAX);
  }

  // Of the layer scopes that are open and were opened before |sequence|, the one begun last.
  Layer ScopeLayer(uint32_t thread, TimeNs at, uint64_t sequence) const {
    const ScopeFact* latest = nullptr;
    for (const ScopeFact& scope : history_.scopes) {
      if (scope.thread != thread || scope.name.kind != LabelKind::kLayer) continue;
      if (scope.sequence >= sequence || !Holds(scope.begin_ns, scope.end_ns, at)) continue;
      if (latest == nullptr || scope.sequence > latest->sequence) latest = &scope;
    }
    return latest == nullptr ? Layer::kUnset : latest->name.layer;
  }

  Layer ReportingLayer(TimeNs at) const {
    const Layer own = OwnLayer(kReportingThread, at);
    return own == Layer::kUnset ? Base() : own;
  }
  std::string ReportingOperation(TimeNs at) const {
    const std::string own = OwnOperation(kReportingThread, at);
    return own.empty() ? kNoOperation : own;
  }
  // Whether threads without operations of their own work for the reporting thread now.
  bool Adopts(TimeNs at) const { return ReportingLayer(at) != Layer::kPython; }

  // The operation that |thread| works under.
  std::string OperationOf(uint32_t thread, TimeNs at) const {
    if (thread == kReportingThread) return ReportingOperation(at);
    if (EverOpensOperation(thread)) {
      const std::string own = OwnOperation(thread, at);
      return own.empty() ? kNoOperation : own;
    }
    return Adopts(at) ? ReportingOperation(at) : kNoOperation;
  }

  // The reporting thread's layer, refined outside Python by the threads under its operation.
  Layer ProcessLayer(TimeNs at) const {
    Layer deepest = ReportingLayer(at);
    if (deepest == Layer::kPython) return deepest;
    const std::string operation = ReportingOperation(at);
    for (uint32_t thread = 1; thread < history_.tids.size(); ++thread) {
      if (OperationOf(thread, at) != operation) continue;
      Layer layer = OwnLayer(thread, at);
      if (layer == Layer::kUnset && EverOpensOperation(thread)) layer = Base();
      if (layer >= Layer::kWait) deepest = std::max(deepest, layer);
    }
    return deepest;
  }

  std::string Phase(TimeNs at) const {
    std::string phase = kNoPhase;
    for (const PhaseFact& fact : history_.phases) {
      if (fact.time_ns <= at) phase = fact.name;
    }
    return phase;
  }

  std::string Gpu(TimeNs at) const {
    bool comm = false;
    bool compute = false;
    bool copy = false;
    for (const WorkFact& work : history_.work) {
      if (!Holds(work.begin_ns, work.end_ns, at)) continue;
      const bool is_kernel = work.kind == OpKind::kKernel;
      const bool is_comm = is_kernel && work.name.rfind("nccl", 0) == 0;
      comm |= is_comm;
      compute |= is_kernel && !is_comm;
      copy |= !is_kernel;
    }
    std::string state;
    for (const auto& [active, name] :
         {std::pair(comm, "comm"), {compute, "compute"}, {copy, "copy"}}) {
      if (active) state += (state.empty() ? "" : "+") + std::string(name);
    }
    return state.empty() ? "idle" : state;
  }

  TimeNs RunningCount(TimeNs at) const {
    return std::count_if(history_.work.begin(), history_.work.end(), [at](const WorkFact& work) {
      return Holds(work.begin_ns, work.end_ns, at);
    });
  }

  // The operations whose launches caused what runs now.
  std::set<std::string> Causes(TimeNs at) const {
    std::set<std::string> causes;
    for (const WorkFact& work : history_.work) {
      if (!Holds(work.begin_ns, work.end_ns, at)) continue;
      for (const ApiFact& call : history_.calls) {
        if (call.correlation == work.correlation) {
          causes.insert(OperationOf(call.thread, call.begin_ns));
        }
      }
    }
    return causes;
  }

  // What encloses an event of |thread| that is number |sequence| of the program.
  Layer Enclosing(uint32_t thread, TimeNs at, uint64_t sequence) const {
    const Layer own = ScopeLayer(thread, at, sequence);
    if (own != Layer::kUnset) return own;
    const bool lent = thread != kReportingThread && !EverOpensOperation(thread) && Adopts(at);
    return lent ? ReportingLayer(at) : Base();
  }

 private:
  const History& history_;
};

std::vector<TimeNs> Instants(const History& history) {
  std::set<TimeNs> instants = {0, history.span_ns};
  for (const ScopeFact& scope : history.scopes) instants.insert({scope.begin_ns, scope.end_ns});
  for (const ApiFact& call : history.calls) {
    instants.insert({call.begin_ns, call.end_ns, call.queue_full_from_ns, call.queue_full_to_ns});
  }
  for (const WorkFact& work : history.work) instants.insert({work.begin_ns, work.end_ns});
  for (const PhaseFact& phase : history.phases) instants.insert(phase.time_ns);
  instants.erase(instants.upper_bound(history.span_ns), instants.end());
  return {instants.begin(), instants.end()};
}

void AddTransition(const Facts& facts, uint32_t thread, TimeNs at, uint64_t sequence, Layer to,
                   Truth* truth) {
  const Layer from = facts.Enclosing(thread, at, sequence);
  if (to <= from) return;
  ++truth->operations[facts.OperationOf(thread, at)].transitions[NameOf(from) + "->" + NameOf(to)];
}

void AddCounts(const History& history, const Facts& facts, Truth* truth) {
  for (const ScopeFact& scope : history.scopes) {
    if (scope.name.kind == LabelKind::kOperation && scope.thread == kReportingThread) {
      ++truth->operations[scope.name.text].count;
    }
    if (scope.name.kind == LabelKind::kLayer) {
      AddTransition(facts, scope.thread, scope.begin_ns, scope.sequence, scope.name.layer, truth);
    }
  }
  for (const ApiFact& call : history.calls) {
    const Layer to = facts.OwnLayer(call.thread, call.begin_ns);
    AddTransition(facts, call.thread, call.begin_ns, call.sequence, to, truth);
  }
}

double SmiModelOf(const History& history) {
  TimeNs touched = 0;
  for (TimeNs begin = 0; begin < history.span_ns; begin += kSmiWindowNs) {
    const TimeNs end = std::min(begin + kSmiWindowNs, history.span_ns);
    const bool any =
        std::any_of(history.work.begin(), history.work.end(), [&](const WorkFact& work) {
          return work.kind == OpKind::kKernel && work.begin_ns < end && begin < work.end_ns;
        });
    if (any) touched += end - begin;
  }
  return static_cast<double>(touched) / static_cast<double>(history.span_ns);
}

}  // namespace

Truth ComputeTruth(const VirtualProgram& program, const History& history) {
  const Facts facts(history);
  Truth truth;
  truth.span_ns = history.span_ns;
  VirtualProgram bare = program;
  bare.cost = {};
  truth.uninstrumented_span_ns = Execute(bare, nullptr).span_ns;
  truth.operations[kNoOperation];
  std::set<std::string> names;
  for (const ScopeFact& scope : history.scopes) {
    if (scope.name.kind == LabelKind::kOperation) names.insert(scope.name.text);
  }

  const std::vector<TimeNs> instants = Instants(history);
  for (size_t i = 0; i + 1 < instants.size(); ++i) {
    const TimeNs at = instants[i];
    const TimeNs length = instants[i + 1] - at;
    const std::string operation = facts.ReportingOperation(at);
    const Layer layer = facts.ProcessLayer(at);
    const std::string gpu = facts.Gpu(at);
    truth.cells[{facts.Phase(at), operation, NameOf(layer), gpu}] += length;
    OperationTruth& row = truth.operations[operation];
    row.wall_ns += length;
    row.gpu_sum_ns += facts.RunningCount(at) * length;
    if (gpu != "idle") row.gpu_busy_ns += length;
    if (gpu != "idle" && layer == Layer::kCudaSync) row.gpu_wait_ns += length;
    for (const std::string& cause : facts.Causes(at)) {
      truth.operations[cause].gpu_caused_ns += length;
    }
    for (const std::string& name : names) {
      const bool open =
          std::any_of(history.scopes.begin(), history.scopes.end(), [&](const ScopeFact& scope) {
            return scope.thread == kReportingThread && scope.name.text == name &&
                   scope.name.kind == LabelKind::kOperation &&
                   Holds(scope.begin_ns, scope.end_ns, at);
          });
      if (open) truth.operations[name].inclusive_wall_ns += length;
    }
  }
  AddCounts(history, facts, &truth);
  for (const auto& [name, row] : truth.operations) {
    truth.gpu_busy_ns += row.gpu_busy_ns;
    truth.gpu_wait_ns += row.gpu_wait_ns;
    truth.gpu_sum_ns += row.gpu_sum_ns;
  }
  truth.smi_model = SmiModelOf(history);
  return truth;
}

std::string TruthJson(const Truth& truth) {
  using Json = nlohmann::json;
  Json cells = Json::array();
  for (const auto& [key, ns] : truth.cells) {
    const auto& [phase, operation, layer, gpu] = key;
    cells.push_back(
        {{"phase", phase}, {"operation", operation}, {"layer", layer}, {"gpu", gpu}, {"ns", ns}});
  }
  Json operations = Json::array();
  for (const auto& [name, row] : truth.operations) {
    operations.push_back({{"operation", name},
                          {"wall_ns", row.wall_ns},
                          {"gpu_busy_ns", row.gpu_busy_ns},
                          {"gpu_wait_ns", row.gpu_wait_ns},
                          {"gpu_caused_ns", row.gpu_caused_ns},
                          {"gpu_sum_ns", row.gpu_sum_ns},
                          {"inclusive_wall_ns", row.inclusive_wall_ns},
                          {"count", row.count},
                          {"transitions", row.transitions}});
  }
  return Json{{"span_ns", truth.span_ns},
              {"uninstrumented_span_ns", truth.uninstrumented_span_ns},
              {"cells", cells},
              {"operations", operations},
              {"gpu_busy_ns", truth.gpu_busy_ns},
              {"gpu_wait_ns", truth.gpu_wait_ns},
              {"gpu_sum_ns", truth.gpu_sum_ns},
              {"smi_model", truth.smi_model}}
      .dump(1);
}

}  // namespace gpubound::sim
