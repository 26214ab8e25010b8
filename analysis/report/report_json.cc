// SPDX-License-Identifier: Apache-2.0
//
// Writes the report model as JSON. Fields are added to this format, never renamed. No state.
#include "analysis/report/report_json.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/distribution.h"
#include "analysis/report/in_run_json.h"
#include "analysis/report/json_rows.h"
#include "analysis/report/ledger_json.h"
#include "analysis/report/training_json.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

using Json = OrderedJson;

Json CausesJson(const std::vector<CauseTime>& causes) {
  Json json = Json::object();
  for (const CauseTime& cause : causes) json[cause.cause] = cause.ns;
  return json;
}

Json PartJson(const ReportPart& part) {
  return Json{{"part", part.part},
              {"wall_ns", part.wall_ns},
              {"gpu_busy_ns", part.gpu_busy_ns},
              {"gpu_compute_ns", part.gpu_compute_ns},
              {"gpu_comm_ns", part.gpu_comm_ns},
              {"gpu_copy_ns", part.gpu_copy_ns},
              {"gpu_busy_is_upper_bound", part.gpu_busy_is_upper_bound}};
}

Json SavingJson(const ReportSaving& saving) {
  return Json{{"part", saving.part},
              {"name", saving.name},
              {"factor", saving.factor},
              {"wall_ns", saving.wall_ns},
              {"saves", saving.saves},
              {"saves_low", saving.saves_low},
              {"saves_high", saving.saves_high},
              {"of", saving.of_iteration ? "iteration" : "run"}};
}

Json DiagnosisJson(const ReportDiagnosis& diagnosis) {
  Json evidence = Json::object();
  for (const auto& [figure, value] : diagnosis.evidence) evidence[figure] = value;
  return Json{{"kind", diagnosis.kind},
              {"severity", diagnosis.severity},
              {"share", diagnosis.share},
              {"finding", diagnosis.finding},
              {"action", diagnosis.action},
              {"operation", diagnosis.operation},
              {"evidence", std::move(evidence)},
              {"saving", diagnosis.saving ? SavingJson(*diagnosis.saving) : Json()},
              {"gain", diagnosis.gain}};
}

Json PathJson(const std::optional<ReportCriticalPath>& path) {
  if (!path) return nullptr;
  return Json{{"wall_ns", path->wall_ns},
              {"loop_ns", path->loop_ns},
              {"parts", ArrayOf(path->parts, [](const ReportPathPart& part) {
                 return Json{{"pid", part.pid},         {"operation", part.operation},
                             {"layer", part.layer},     {"ns", part.ns},
                             {"loop_ns", part.loop_ns}, {"host", part.host}};
               })}};
}

Json RunJson(const ReportRun& run) {
  return Json{{"root", OrNull(run.root)},
              {"wall_ns", run.wall_ns},
              {"devices_used", run.devices_used},
              {"gpu_busy_share", run.gpu_busy_share},
              {"compute_share", run.compute_share},
              {"comm_share", run.comm_share},
              {"copy_share", run.copy_share},
              {"gpu_limited_share", OrNull(run.gpu_limited_share)},
              {"verdict", run.verdict},
              {"headline", run.headline},
              {"headline_ns", run.headline_ns},
              {"nvml_utilization", OrNull(run.nvml_utilization)},
              {"whole_gpu_busy_share", run.whole_gpu_busy_share},
              {"work_ns", run.work_ns},
              {"work_gpu_busy_share", run.work_ns > 0 ? Json(run.work_gpu_busy_share) : Json()},
              {"parts", ArrayOf(run.parts, PartJson)},
              {"devices_unused", run.devices_unused},
              {"critical_path", PathJson(run.critical_path)},
              {"savings", ArrayOf(run.savings, SavingJson)},
              {"what_if", ArrayOf(run.what_if, SavingJson)},
              {"exit_code", OrNull(run.exit_code)},
              {"signal", OrNull(run.signal)},
              {"gpu_busy_is_upper_bound", run.gpu_busy_is_upper_bound},
              {"whole_gpu_busy_is_upper_bound", run.whole_gpu_busy_is_upper_bound},
              {"gpu_busy_is_lower_bound", run.gpu_busy_is_lower_bound},
              {"steps", run.steps.empty() ? Json() : Json(run.steps)},
              {"unknown_share", run.unknown.share},
              {"unknown_is_upper_bound", run.unknown.is_upper_bound},
              {"whole_unknown_share", run.whole_unknown.share},
              {"whole_unknown_is_upper_bound", run.whole_unknown.is_upper_bound},
              {"root_host", run.root ? Json(run.root_host) : Json()},
              {"metadata", run.metadata},
              {"training", TrainingJson(run.training.get())}};
}

Json CellJson(const ReportCell& cell) {
  return Json{{"phase", cell.phase},
              {"operation", cell.operation},
              {"layer", cell.layer},
              {"gpu", cell.gpu},
              {"ns", cell.ns},
              {"waiting_ns", cell.waiting_ns},
              {"gpu_busy_is_upper_bound", cell.gpu_busy_is_upper_bound}};
}

Json LaunchesJson(const ReportLaunches& launches) {
  const auto or_null = [](const auto& value) { return value ? Json(*value) : Json(); };
  return Json{{"count", launches.count},
              {"lead_mean_ns", or_null(launches.lead_mean_ns)},
              {"lead_median_ns", or_null(launches.lead_median_ns)},
              {"lead_p95_ns", or_null(launches.lead_p95_ns)},
              {"depth_mean", or_null(launches.depth_mean)},
              {"depth_median", or_null(launches.depth_median)},
              {"depth_p95", or_null(launches.depth_p95)},
              {"shorter_kernels_share", or_null(launches.shorter_kernels_share)}};
}

Json QueuedGapsJson(const ReportQueuedGaps& gaps) {
  return Json{{"count", gaps.count}, {"ns", gaps.ns}, {"mean_ns", gaps.mean_ns}};
}

Json CpuJson(const std::optional<ReportCpu>& cpu) {
  if (!cpu) return nullptr;
  return Json{{"on_cpu_ns", cpu->on_cpu_ns},        {"ready_ns", cpu->ready_ns},
              {"blocked_ns", cpu->blocked_ns},      {"unknown_ns", cpu->unknown_ns},
              {"error_ns", cpu->error_ns},          {"ready_share", cpu->ReadyShare()},
              {"had_no_core", cpu->NoCoreForLong()}};
}

Json ThreadsCpuJson(const std::optional<ReportThreadsCpu>& cpu) {
  if (!cpu) return nullptr;
  return Json{{"on_cpu_ns", cpu->on_cpu_ns}, {"ready_ns", OrNull(cpu->ready_ns)}};
}

Json OperationJson(const ReportOperation& row) {
  Json transitions = Json::object();
  for (const auto& [name, count] : row.transitions) transitions[name] = count;
  return Json{{"operation", row.operation},
              {"wall_ns", row.wall_ns},
              {"cpu_only_ns", row.cpu_only_ns},
              {"cpu_gpu_ns", row.cpu_gpu_ns},
              {"gpu_only_ns", row.gpu_only_ns},
              {"waiting_ns", row.waiting_ns},
              {"idle_ns", row.idle_ns},
              {"unknown_ns", row.unknown_ns},
              {"gpu_busy_ns", row.gpu_busy_ns},
              {"gpu_compute_ns", row.gpu_compute_ns},
              {"gpu_comm_ns", row.gpu_comm_ns},
              {"gpu_copy_ns", row.gpu_copy_ns},
              {"gpu_wait_ns", row.gpu_wait_ns},
              {"gpu_caused_ns", row.gpu_caused_ns},
              {"gpu_sum_ns", row.gpu_sum_ns},
              {"sm_filled_ns", row.sm_filled_ns},
              {"count", row.count},
              {"inclusive_wall_ns", row.inclusive_wall_ns},
              {"transitions", std::move(transitions)},
              {"device_idle", CausesJson(row.device_idle)},
              {"inherited", row.inherited},
              {"gpu_busy_is_upper_bound", row.gpu_busy_is_upper_bound},
              {"gpu_caused_is_upper_bound", row.gpu_caused_is_upper_bound},
              {"gpu_caused_is_lower_bound", row.gpu_caused_is_lower_bound},
              {"scopes_missing", row.scopes_missing},
              {"other_threads_only", row.other_threads_only},
              {"launches", LaunchesJson(row.launches)},
              {"cpu", CpuJson(row.cpu)}};
}

Json ShareJson(const ReportDeviceShare& share) {
  return Json{{"uuid", share.uuid},
              {"ordinal", share.ordinal},
              {"operation", share.operation},
              {"wall_ns", share.wall_ns},
              {"busy_ns", share.busy_ns},
              {"idle_ns", share.idle_ns},
              {"unknown_ns", share.unknown_ns},
              {"idle_causes", CausesJson(share.idle_causes)},
              {"busy_is_upper_bound", share.busy_is_upper_bound}};
}

Json GapJson(const ReportGap& gap) {
  return Json{{"uuid", gap.uuid},
              {"ordinal", gap.ordinal},
              {"begin_ns", gap.begin_ns},
              {"ns", gap.ns},
              {"cause", gap.cause},
              {"operation_at_begin", gap.operation_at_begin},
              {"layer_at_begin", gap.layer_at_begin},
              {"operation_at_end", gap.operation_at_end},
              {"layer_at_end", gap.layer_at_end},
              {"work_before", gap.work_before},
              {"work_after", gap.work_after}};
}

Json LaneJson(const ReportLane& lane) {
  return Json{{"thread", lane.thread},
              {"tid", lane.tid},
              {"cells", ArrayOf(lane.cells, CellJson)},
              {"operations", ArrayOf(lane.operations, OperationJson)},
              {"handed_over", lane.handed_over}};
}

Json NamingJson(const ReportNaming& naming) {
  return Json{{"program_ns", naming.program_ns},
              {"rules_ns", naming.rules_ns},
              {"waiting_ns", naming.waiting_ns},
              {"stage_ns", naming.stage_ns},
              {"none_ns", naming.none_ns}};
}

Json IterationsJson(const ReportIterations& iterations) {
  const auto operation = [](const ReportIterationOperation& row) {
    return Json{{"operation", row.operation},
                {"wall_ns", row.wall_ns},
                {"gpu_busy_ns", row.gpu_busy_ns},
                {"unknown_ns", row.unknown_ns}};
  };
  const auto slow = [](const ReportIteration& row) {
    return Json{{"number", row.number},
                {"begin_ns", row.begin_ns},
                {"ns", row.ns},
                {"gpu_busy_ns", row.gpu_busy_ns}};
  };
  return Json{{"warm_up", iterations.warm_up},
              {"count", iterations.count},
              {"start_up_ns", iterations.start_up_ns},
              {"warm_up_ns", iterations.warm_up_ns},
              {"total_ns", iterations.total_ns},
              {"shutdown_ns", iterations.shutdown_ns},
              {"mean_ns", iterations.mean_ns},
              {"median_ns", iterations.median_ns},
              {"p95_ns", iterations.p95_ns},
              {"gpu_busy_ns", iterations.gpu_busy_ns},
              {"naming", NamingJson(iterations.naming)},
              {"operations", ArrayOf(iterations.operations, operation)},
              {"slowest", ArrayOf(iterations.slowest, slow)}};
}

Json WaitJson(const ReportWait& wait) {
  return Json{{"pid", wait.pids.size() == 1 ? Json(wait.pids.front()) : Json()},
              {"pids", wait.pids},
              {"operation", wait.operation},
              {"ns", wait.ns}};
}

Json CountersJson(const ReportCounters& counters) {
  return Json{{"operation", counters.operation},
              {"sampled_ns", counters.sampled_ns},
              {"sm_active_share", OrNull(counters.sm_active_share)},
              {"warps_active_share", OrNull(counters.warps_active_share)},
              {"dram_throughput_share", OrNull(counters.dram_throughput_share)}};
}

Json ActivityJson(const ReportActivity& activity) {
  return Json{{"operation", activity.operation}, {"layer", activity.layer}, {"ns", activity.ns}};
}

Json AwaitedJson(const ReportAwaited& awaited) {
  return Json{{"pid", awaited.pid},
              {"operation", awaited.operation},
              {"worker", awaited.worker},
              {"ns", awaited.ns},
              {"meanwhile", ArrayOf(awaited.meanwhile, ActivityJson)}};
}

Json GraphNodeJson(const ReportGraphNode& node) {
  return Json{{"name", node.name},
              {"class", node.work_class.empty() ? Json() : Json(node.work_class)},
              {"count", node.count},
              {"captured_in", node.captured_in}};
}

Json KernelJson(const ReportOperationKernel& row) {
  const ReportKernel& kernel = row.kernel;
  Json json{{"operation", row.operation},
            {"name", kernel.name},
            {"class", kernel.work_class},
            {"count", kernel.count},
            {"sum_ns", kernel.sum_ns},
            {"mean_ns", kernel.mean_ns},
            {"median_ns", kernel.median_ns},
            {"p95_ns", kernel.p95_ns},
            {"lengths_rounded", kernel.lengths_rounded},
            {"sm_filled_ns", kernel.sm_filled_ns},
            {"sm_fill_is_upper_bound", kernel.sm_fill_is_upper_bound},
            {"category", kernel.category},
            {"op", kernel.op.empty() ? Json() : Json(kernel.op)}};
  if (!kernel.nodes.empty()) json["nodes"] = ArrayOf(kernel.nodes, GraphNodeJson);
  return json;
}

Json CategoryJson(const ReportCategory& row) {
  return Json{{"category", row.category}, {"count", row.count}, {"sum_ns", row.sum_ns}};
}

Json OpJson(const ReportOp& row) {
  return Json{{"op", row.op},
              {"shape", row.shape},
              {"types", row.types},
              {"category", row.category},
              {"calls", row.calls},
              {"count", row.count},
              {"sum_ns", row.sum_ns},
              {"flops", OrNull(row.flops)},
              {"bytes", OrNull(row.bytes)},
              {"peak_flops_share", OrNull(row.peak_flops_share)},
              {"peak_bytes_share", OrNull(row.peak_bytes_share)}};
}

void AddBounds(const char* name, const Bounds& bounds, Json* json) {
  (*json)[std::string(name) + "_low"] = bounds.low;
  (*json)[std::string(name) + "_high"] = bounds.high;
}

Json CorrectedJson(const ReportProcess& process);

Json TreeJson(const std::optional<TreePeaks>& tree) {
  if (!tree) return nullptr;
  return Json{{"processes", tree->processes},
              {"cpu_ns", tree->cpu_ns},
              {"peak_resident_bytes", tree->resident_bytes},
              {"run_delay_ns", tree->run_delay_ns},
              {"run_delay_share", tree->RunDelayShare()}};
}

Json StackPartJson(const ReportStackPart& row) {
  return Json{{"function", row.function}, {"package", row.package}, {"file", row.file},
              {"line", row.line},         {"looks", row.looks},     {"share", row.share},
              {"error", row.error}};
}

Json SyncLineJson(const ReportSyncLine& line) {
  Json json{{"operation", line.operation}};
  json.update(StackPartJson(line.at));
  return json;
}

Json StacksJson(const ReportStacks& stacks) {
  return Json{{"operation", stacks.operation},
              {"start_up", stacks.start_up},
              {"looks", stacks.looks},
              {"runnable_share", stacks.runnable_share},
              {"parts", ArrayOf(stacks.parts, StackPartJson)}};
}

Json ProcessJson(const ReportProcess& process) {
  return Json{{"host", process.host},
              {"pid", process.pid},
              {"rank", OrNull(process.rank)},
              {"name", process.name},
              {"parent", OrNull(process.parent)},
              {"start_ns", process.start_ns},
              {"span_ns", process.span_ns},
              {"cells", ArrayOf(process.cells, CellJson)},
              {"operations", ArrayOf(process.operations, OperationJson)},
              {"gpu_busy_ns", process.gpu_busy_ns},
              {"gpu_wait_ns", process.gpu_wait_ns},
              {"gpu_sum_ns", process.gpu_sum_ns},
              {"smi_model", process.smi_model},
              {"inflation", OrNull(process.inflation)},
              {"corrected", CorrectedJson(process)},
              {"corrected_why_not", process.corrected_why_not},
              {"iterations", process.iterations ? IterationsJson(*process.iterations) : Json()},
              {"lanes", ArrayOf(process.lanes, LaneJson)},
              {"devices", ArrayOf(process.device_shares, ShareJson)},
              {"gaps", ArrayOf(process.gaps, GapJson)},
              {"waits", ArrayOf(process.waits, WaitJson)},
              {"awaited", ArrayOf(process.awaited, AwaitedJson)},
              {"sm_fill_is_upper_bound", process.sm_fill_is_upper_bound},
              {"kernels", ArrayOf(process.operation_kernels, KernelJson)},
              {"counters", ArrayOf(process.counters, CountersJson)},
              {"gpu_busy_is_upper_bound", process.gpu_busy_is_upper_bound},
              {"process_tree", TreeJson(process.process_tree)},
              {"span_end", SpanEndName(process.span_end)},
              {"queued_gaps", QueuedGapsJson(process.queued_gaps)},
              {"event_wait_gaps", QueuedGapsJson(process.event_wait_gaps)},
              {"launches", LaunchesJson(process.launches)},
              {"throughput", ArrayOf(process.throughput,
                                     [](const ReportThroughput& row) {
                                       return Json{{"counter", row.counter},
                                                   {"total", row.total},
                                                   {"per_second", row.per_second},
                                                   {"ns", row.ns}};
                                     })},
              {"cpu", CpuJson(process.cpu)},
              {"threads_cpu", ThreadsCpuJson(process.threads_cpu)},
              {"stacks", ArrayOf(process.stacks, StacksJson)},
              {"sync_lines", ArrayOf(process.sync_lines, SyncLineJson)},
              {"categories", ArrayOf(process.categories, CategoryJson)},
              {"ops", ArrayOf(process.ops, OpJson)},
              {"training", TrainingJson(process.training.get())}};
}

// The keys of a process, with bounds beside each total.
Json CorrectedJson(const ReportProcess& process) {
  if (process.corrected == nullptr) return nullptr;
  const CorrectedProcess& corrected = *process.corrected;
  Json json = ProcessJson(corrected.process);
  json.erase("corrected");
  json.erase("corrected_why_not");
  json.erase("kernels");     // device work is as long as it was
  json.erase("categories");  // likewise
  json.erase("ops");
  json.erase("stacks");        // they were seen in the recorded one
  json.erase("sync_lines");    // likewise
  json.erase("process_tree");  // nor are its samples of another run
  AddBounds("span_ns", corrected.span, &json);
  AddBounds("gpu_busy_ns", corrected.gpu_busy, &json);
  AddBounds("gpu_wait_ns", corrected.gpu_wait, &json);
  AddBounds("gpu_sum_ns", corrected.gpu_sum, &json);
  for (size_t i = 0; i < corrected.rows.size(); ++i) {
    Json& row = json["operations"][i];
    AddBounds("wall_ns", corrected.rows[i].wall, &row);
    AddBounds("gpu_busy_ns", corrected.rows[i].gpu_busy, &row);
  }
  json["removed_ns"] = corrected.removed_ns;
  json["in_run_calibration"] = InRunJson(corrected.in_run);
  return json;
}

Json BandJson(const ReportDeviceBand& band) {
  return Json{{"host", band.host},
              {"pid", band.pid},
              {"name", band.name},
              {"alone_ns", band.alone_ns},
              {"contended_ns", band.contended_ns}};
}

Json OperationDeviceJson(const ReportOperationDevice& row) {
  return Json{{"operation", row.operation},
              {"device", row.device},
              {"wall_ns", row.wall_ns},
              {"busy_ns", row.busy_ns},
              {"idle_ns", row.idle_ns},
              {"unknown_ns", row.unknown_ns},
              {"busy_is_upper_bound", row.busy_is_upper_bound}};
}

Json UnprofiledJson(const ReportUnprofiled& other) {
  return Json{{"host", other.host}, {"pid", other.pid}, {"name", other.name}, {"ns", other.ns}};
}

Json DeviceJson(const ReportDevice& device) {
  return Json{{"uuid", device.uuid},
              {"name", device.name},
              {"busy_ns", device.busy_ns},
              {"span_ns", device.span_ns},
              {"nvml_utilization", OrNull(device.nvml_utilization)},
              {"used", device.used},
              {"smi_model", device.smi_model},
              {"inflation", OrNull(device.inflation)},
              {"processes", ArrayOf(device.processes, BandJson)},
              {"busy_is_upper_bound", device.busy_is_upper_bound},
              {"not_profiled", ArrayOf(device.not_profiled, UnprofiledJson)},
              {"has_unknown_time", device.has_unknown_time},
              {"busy_is_lower_bound", device.busy_is_lower_bound},
              {"simulated_utilization", OrNull(device.simulated_utilization)},
              {"host_outside_run", device.host_outside_run},
              {"memory_bytes", OrNull(device.memory_bytes)},
              {"memory_peak_bytes", OrNull(device.memory_peak_bytes)}};
}

Json RankJson(const ReportRank& rank) {
  return Json{{"rank", OrNull(rank.rank)},
              {"host", rank.host},
              {"pid", rank.pid},
              {"uuid", rank.uuid},
              {"ordinal", rank.ordinal},
              {"collectives", rank.collectives},
              {"comm_sum_ns", rank.comm_sum_ns},
              {"peer_wait_ns", rank.peer_wait_ns},
              {"moving_ns", rank.moving_ns},
              {"unmatched_ns", rank.unmatched_ns},
              {"late", rank.late},
              {"waited_for_ns", rank.waited_for_ns},
              {"while_late", ArrayOf(rank.while_late, ActivityJson)},
              {"peer_wait_is_upper_bound", rank.peer_wait_is_upper_bound},
              {"peer_wait_is_lower_bound", rank.peer_wait_is_lower_bound},
              {"late_is_doubtful", rank.late_is_doubtful},
              {"lacks_ranks", rank.lacks_ranks}};
}

// What a JSON of some processes has beside them: the ranks and devices of these.
class Listed {
 public:
  Listed(const Report& report, const std::vector<size_t>& processes)
      : all_(processes.size() == report.processes.size()) {
    for (const size_t i : processes) {
      processes_.emplace(report.processes[i].host, report.processes[i].pid);
    }
    for (const ReportDevice& device : report.devices) {
      if (!Has(device)) other_devices_.insert(device.uuid);
    }
  }

  bool Has(const ReportRank& rank) const { return HasProcess(rank.host, rank.pid); }
  bool Has(const ReportDevice& device) const {
    return all_ || std::any_of(device.processes.begin(), device.processes.end(),
                               [this](const ReportDeviceBand& band) {
                                 return HasProcess(band.host, band.pid);
                               });
  }
  bool Has(const ReportOperationDevice& row) const { return !other_devices_.contains(row.device); }

  // Those of |rows| that it has.
  template <typename Row>
  Json Of(const std::vector<Row>& rows, Json (*json)(const Row&)) const {
    Json list = Json::array();
    for (const Row& row : rows) {
      if (Has(row)) list.push_back(json(row));
    }
    return list;
  }

 private:
  bool HasProcess(const std::string& host, int64_t pid) const {
    return all_ || processes_.contains({host, pid});
  }

  const bool all_;
  std::set<std::pair<std::string, int64_t>> processes_;
  std::set<std::string> other_devices_;  // uuids
};

}  // namespace

std::string RenderJson(const Report& report, size_t most_processes) {
  const Distribution distribution = DistributionOf(report);
  const std::vector<size_t> named = ProcessesWorthNaming(report, distribution, most_processes);
  Json document{{"format", "gpubound.report.v1"},
                {"device_kind", report.device_kind},
                {"run", RunJson(report.run)},
                {"diagnosis", ArrayOf(report.diagnosis, DiagnosisJson)}};
  document["processes"] =
      ArrayOf(named, [&report](size_t i) { return ProcessJson(report.processes[i]); });
  const Listed listed(report, named);
  document["devices"] = listed.Of(report.devices, DeviceJson);
  document["ledger"] = ArrayOf(report.ledger, LedgerJson);
  document["notes"] = report.notes;
  document["operation_devices"] = listed.Of(report.operation_devices, OperationDeviceJson);
  document["ranks"] = listed.Of(report.ranks, RankJson);
  document["not_counted"] = ArrayOf(report.not_counted, NotCountedJson);
  document["distribution"] = DistributionJson(report, distribution);
  document["processes_left_out"] = report.processes.size() - named.size();
  document["devices_left_out"] = report.devices.size() - document["devices"].size();
  document["ranks_left_out"] = report.ranks.size() - document["ranks"].size();
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
