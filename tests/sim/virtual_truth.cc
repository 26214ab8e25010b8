// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/virtual_truth.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "tests/sim/virtual_facts.h"

namespace gpubound::sim {
namespace {

constexpr TimeNs kSmiWindowNs = 166'666'667;

std::vector<TimeNs> Instants(const History& history) {
  std::set<TimeNs> instants = {0, history.span_ns};
  for (const ScopeFact& scope : history.scopes) instants.insert({scope.begin_ns, scope.end_ns});
  for (const ApiFact& call : history.calls) {
    instants.insert({call.begin_ns, call.end_ns, call.queue_full_from_ns, call.queue_full_to_ns});
  }
  for (const WorkFact& work : history.work) instants.insert({work.begin_ns, work.end_ns});
  for (const WorkFact& work : history.lost_work) instants.insert({work.begin_ns, work.end_ns});
  for (const UnknownFact& unknown : history.unknown) {
    instants.insert({unknown.from_ns, unknown.to_ns});
  }
  for (const PauseFact& pause : history.pauses) instants.insert(pause.time_ns);
  for (const PhaseFact& phase : history.phases) instants.insert(phase.time_ns);
  // With one of these a thread may begin.
  for (const StepFact& step : history.steps) instants.insert(step.time_ns);
  for (const WakeFact& wake : history.wakes) instants.insert(wake.time_ns);
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
    if (facts.Serves(scope.name) && scope.thread == kReportingThread) {
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

// |unrecorded|: windows that count too.
TimeNs SmiTouched(const History& history, const std::set<TimeNs>& unrecorded) {
  TimeNs touched = 0;
  for (TimeNs begin = 0; begin < history.span_ns; begin += kSmiWindowNs) {
    const TimeNs end = std::min(begin + kSmiWindowNs, history.span_ns);
    const bool any =
        std::any_of(history.work.begin(), history.work.end(), [&](const WorkFact& work) {
          return work.kind == OpKind::kKernel && work.begin_ns < end && begin < work.end_ns;
        });
    if (any || unrecorded.contains(begin / kSmiWindowNs)) touched += end - begin;
  }
  return touched;
}

// What the device did at |at|, for a piece of |length| in |layer|.
void AddGpu(const Facts& facts, const NaiveFill& fill, TimeNs at, TimeNs length, Layer layer,
            OperationTruth* row) {
  const GpuClasses classes = facts.Classes(at);
  const bool waits = layer == Layer::kCudaSync || layer == Layer::kWait;
  if (classes.compute) row->gpu_compute_ns += length;
  if (classes.comm) row->gpu_comm_ns += length;
  if (classes.copy) row->gpu_copy_ns += length;
  if (facts.IsReallyBusy(at)) row->really_busy_ns += length;
  row->gpu_sum_ns += facts.RunningCount(at) * length;
  row->filled += fill.At(at) * length;
  if (classes.busy()) {
    row->gpu_busy_ns += length;
    (waits ? row->gpu_only_ns : row->cpu_gpu_ns) += length;
    if (layer == Layer::kCudaSync) row->gpu_wait_ns += length;
  } else if (facts.IsUnrecorded(at)) {
    row->unknown_ns += length;
  } else {
    (waits ? row->idle_ns : row->cpu_only_ns) += length;
  }
}

void AddInclusive(const History& history, const Facts& facts, TimeNs at, TimeNs length,
                  Truth* truth) {
  std::set<std::string> open;
  for (const ScopeFact& scope : history.scopes) {
    if (scope.thread != kReportingThread || !facts.Serves(scope.name)) continue;
    if (Holds(scope.begin_ns, scope.end_ns, at)) open.insert(scope.name.text);
  }
  for (const std::string& name : open) truth->operations[name].inclusive_wall_ns += length;
}

OperationTruth SumOf(const std::map<std::string, OperationTruth>& operations) {
  OperationTruth sum;
  for (const auto& [name, row] : operations) {
    sum.wall_ns += row.wall_ns;
    sum.unknown_ns += row.unknown_ns;
    sum.gpu_busy_ns += row.gpu_busy_ns;
    sum.gpu_compute_ns += row.gpu_compute_ns;
    sum.gpu_comm_ns += row.gpu_comm_ns;
    sum.gpu_copy_ns += row.gpu_copy_ns;
    sum.gpu_wait_ns += row.gpu_wait_ns;
    sum.gpu_sum_ns += row.gpu_sum_ns;
  }
  return sum;
}

}  // namespace

double Truth::smi_model() const {
  return static_cast<double>(smi_touched_ns) / static_cast<double>(span_ns);
}

double Truth::most_smi_model() const {
  return static_cast<double>(smi_most_ns) / static_cast<double>(span_ns);
}

std::optional<double> Truth::inflation() const {
  if (whole.gpu_busy_ns == 0) return std::nullopt;
  return static_cast<double>(smi_touched_ns) / static_cast<double>(whole.gpu_busy_ns);
}

Truth ComputeTruth(const VirtualProgram& program, const History& history) {
  const Facts facts(history);
  const NaiveFill fill(history);
  Truth truth;
  truth.span_ns = history.span_ns;
  VirtualProgram bare = program;
  bare.cost = {};
  truth.uninstrumented_span_ns = Execute(bare, nullptr).span_ns;
  truth.fill_unit = fill.unit();
  truth.fill_is_upper_bound = fill.is_upper_bound();
  truth.operations[kNoOperationRow];
  std::set<TimeNs> unrecorded;  // windows of the model of nvidia-smi
  const std::vector<TimeNs> instants = Instants(history);
  for (size_t i = 0; i + 1 < instants.size(); ++i) {
    const TimeNs at = instants[i];
    const TimeNs length = instants[i + 1] - at;
    const std::string operation = facts.ReportingOperation(at);
    const Layer layer = facts.ProcessLayer(at);
    truth.cells[{facts.Phase(at), operation, NameOf(layer), facts.Gpu(at)}] += length;
    OperationTruth& row = truth.operations[operation];
    row.wall_ns += length;
    AddGpu(facts, fill, at, length, layer, &row);
    for (const std::string& cause : facts.Causes(at)) {
      truth.operations[cause].gpu_caused_ns += length;
    }
    AddInclusive(history, facts, at, length, &truth);
    if (!facts.IsUnrecorded(at)) continue;
    for (TimeNs window = at / kSmiWindowNs; window * kSmiWindowNs < at + length; ++window) {
      unrecorded.insert(window);
    }
  }
  AddCounts(history, facts, &truth);
  truth.whole = SumOf(truth.operations);
  truth.smi_touched_ns = SmiTouched(history, {});
  truth.smi_most_ns = SmiTouched(history, unrecorded);
  for (const WorkFact& work : history.work) truth.work_without_call += facts.HasCall(work) ? 0 : 1;
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
                          {"cpu_only_ns", row.cpu_only_ns},
                          {"cpu_gpu_ns", row.cpu_gpu_ns},
                          {"gpu_only_ns", row.gpu_only_ns},
                          {"idle_ns", row.idle_ns},
                          {"unknown_ns", row.unknown_ns},
                          {"gpu_busy_ns", row.gpu_busy_ns},
                          {"gpu_compute_ns", row.gpu_compute_ns},
                          {"gpu_comm_ns", row.gpu_comm_ns},
                          {"gpu_copy_ns", row.gpu_copy_ns},
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
              {"gpu_busy_ns", truth.whole.gpu_busy_ns},
              {"gpu_wait_ns", truth.whole.gpu_wait_ns},
              {"gpu_sum_ns", truth.whole.gpu_sum_ns},
              {"smi_model", truth.smi_model()}}
      .dump(1);
}

}  // namespace gpubound::sim
