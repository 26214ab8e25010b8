// SPDX-License-Identifier: Apache-2.0
//
// Which fields the structs of a part have in its file (message_fields.h, part.proto).
#ifndef GPUBOUND_ANALYSIS_PARTS_PART_FIELDS_H_
#define GPUBOUND_ANALYSIS_PARTS_PART_FIELDS_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "analysis/parts/machine_part.h"
#include "analysis/parts/message_codec.h"
#include "analysis/parts/message_fields.h"
#include "analysis/trace/idle_cause.h"
#include "proto/ledger_counters.h"

namespace gpubound {

template <>
struct EnumSize<SpanEnd> {
  static constexpr uint64_t kValue = static_cast<uint64_t>(SpanEnd::kGoesOn) + 1;
};
template <>
struct EnumSize<IdleCause> {
  static constexpr uint64_t kValue = kIdleCauses;
};
// An ordinal.
template <>
struct EnumSize<ThreadId> {
  static constexpr uint64_t kValue = uint64_t{1} << 32;
};

// Counters by their names, which stay when others are added; those that are zero are left out.
template <>
struct FieldCodec<Ledger> {
  static constexpr auto kWireType = protozero::pbf_wire_type::length_delimited;
  using Entries = std::vector<std::pair<std::string, uint64_t>>;
  static void Put(int number, const Ledger& ledger, protozero::pbf_writer* writer) {
    Entries entries;
    for (size_t i = 0; i < ledger.size(); ++i) {
      if (ledger[i] != 0) entries.emplace_back(kLedgerCounters[i].name, ledger[i]);
    }
    FieldCodec<Entries>::Put(number, entries, writer);
  }
  static void Get(protozero::pbf_reader* reader, Ledger* ledger) {
    Entries entries;
    FieldCodec<Entries>::Get(reader, &entries);
    for (size_t i = 0; i < ledger->size(); ++i) {
      if (entries.front().first == kLedgerCounters[i].name) (*ledger)[i] = entries.front().second;
    }
  }
};

// clang-format off
GPUBOUND_MESSAGE(Interval, begin_ns, end_ns)
GPUBOUND_MESSAGE(TreePeaks, processes, cpu_ns, resident_bytes, run_delay_ns)

// The report of a process (analysis/report/report.h).
GPUBOUND_MESSAGE(ReportCell, phase, operation, layer, gpu, ns, waiting_ns, gpu_busy_is_upper_bound)
GPUBOUND_MESSAGE(CauseTime, cause, ns)
GPUBOUND_MESSAGE(ReportLaunches, count, lead_mean_ns, lead_median_ns, lead_p95_ns, depth_mean, depth_median, depth_p95,
                 shorter_kernels_share)
GPUBOUND_MESSAGE(ReportQueuedGaps, count, ns, mean_ns)
GPUBOUND_MESSAGE(ReportCpu, on_cpu_ns, ready_ns, blocked_ns, unknown_ns, error_ns)
GPUBOUND_MESSAGE(ReportThreadsCpu, on_cpu_ns, ready_ns)
GPUBOUND_MESSAGE(ReportOperation, operation, wall_ns, cpu_only_ns, cpu_gpu_ns, gpu_only_ns, waiting_ns, idle_ns,
                 unknown_ns, gpu_busy_ns, gpu_compute_ns, gpu_comm_ns, gpu_copy_ns, gpu_wait_ns, gpu_caused_ns,
                 gpu_sum_ns, sm_filled_ns, count, inclusive_wall_ns, transitions, device_idle, launches, cpu, inherited,
                 gpu_busy_is_upper_bound, gpu_caused_is_upper_bound, gpu_caused_is_lower_bound, scopes_missing,
                 other_threads_only)
GPUBOUND_MESSAGE(ReportDeviceShare, uuid, ordinal, operation, wall_ns, busy_ns, idle_ns, unknown_ns, idle_causes,
                 busy_is_upper_bound)
GPUBOUND_MESSAGE(ReportGap, uuid, ordinal, begin_ns, ns, cause, operation_at_begin, layer_at_begin, operation_at_end,
                 layer_at_end, work_before, work_after, call, call_ns)
GPUBOUND_MESSAGE(ReportIdleMark, ordinal, begin_ns, ns, cause)
GPUBOUND_MESSAGE(ReportLane, thread, tid, cells, operations, handed_over)
GPUBOUND_MESSAGE(ReportWait, pids, operation, ns)
GPUBOUND_MESSAGE(ReportCounters, operation, sampled_ns, sm_active_share, warps_active_share, dram_throughput_share)
GPUBOUND_MESSAGE(ReportActivity, operation, layer, ns)
GPUBOUND_MESSAGE(ReportAwaited, pid, operation, worker, ns, meanwhile)
GPUBOUND_MESSAGE(ReportGraphNode, name, work_class, count, captured_in)
GPUBOUND_MESSAGE(ReportKernel, name, work_class, category, count, sum_ns, mean_ns, median_ns, p95_ns, lengths_rounded,
                 sm_filled_ns, sm_fill_is_upper_bound, op, nodes)
GPUBOUND_MESSAGE(ReportOperationKernel, operation, kernel)
GPUBOUND_MESSAGE(ReportCategory, category, count, sum_ns)
GPUBOUND_MESSAGE(ReportOp, op, shape, types, category, calls, count, sum_ns, flops, bytes, peak_flops_share,
                 peak_bytes_share)
GPUBOUND_MESSAGE(ReportProgress, done, total, at_ns, first_done, first_at_ns)
GPUBOUND_MESSAGE(ReportThroughput, counter, total, per_second, ns)
GPUBOUND_MESSAGE(ReportIteration, number, begin_ns, ns, gpu_busy_ns, warm_up)
GPUBOUND_MESSAGE(ReportIterationOperation, operation, wall_ns, gpu_busy_ns, unknown_ns)
GPUBOUND_MESSAGE(ReportIterationSeries, iterations, operation_wall_ns, operation_busy_ns, idle_ns)
GPUBOUND_MESSAGE(ReportNaming, program_ns, rules_ns, waiting_ns, stage_ns, none_ns)
GPUBOUND_MESSAGE(ReportIterations, warm_up, count, start_up_ns, warm_up_ns, total_ns, shutdown_ns, mean_ns, median_ns,
                 p95_ns, gpu_busy_ns, naming, operations, slowest, every, series)
GPUBOUND_MESSAGE(ReportFrame, caller, function, package, file, line, looks, own_looks)
GPUBOUND_MESSAGE(ReportStackPart, function, package, file, line, looks, share, error)
GPUBOUND_MESSAGE(ReportSyncLine, operation, at)
GPUBOUND_MESSAGE(ReportStacks, operation, start_up, looks, runnable_share, parts, frames)
// Not |corrected|, which needs the replay of the whole run; and not what a run says of its processes
// together: |parent|, |after_run_began_ns|, |training|.
GPUBOUND_PART_OF_MESSAGE(ReportProcess, host, pid, rank, name, start_ns, span_ns, span_end, cells, operations, kernels,
                 operation_kernels, categories, ops, gpu_busy_ns, gpu_wait_ns, gpu_sum_ns, smi_model, most_smi_model,
                 inflation, unknown_ns, device_shares, gaps, idle_marks, queued_gaps, event_wait_gaps, launches, lanes,
                 iterations, waits, awaited, counters, progress, throughput, sm_fill_is_upper_bound,
                 gpu_busy_is_upper_bound, process_tree, cpu, threads_cpu, sync_lines, stacks)
constexpr size_t kFieldsOfNoPart = 5;  // of ReportProcess: those, and |corrected_why_not|
static_assert(FieldCount<ReportProcess>() ==
              std::tuple_size_v<decltype(MessageOf<ReportProcess>::kFields)> + kFieldsOfNoPart,
              "ReportProcess has other fields than its message");

// What is said of the training (analysis/report/report_training.h).
GPUBOUND_MESSAGE(ReportFlops, done, ns, gpu_busy_ns, peak_per_second, mfu, busy_mfu, why_not)
GPUBOUND_MESSAGE(ReportWeightSync, count, iterations, ns, exposed_ns, hidden_ns, bytes)
GPUBOUND_MESSAGE(ProcessTraining, flops, weight_sync)
GPUBOUND_MESSAGE(ReportWork, counter, done, ns, per_second, per_simulation_second,
                 per_simulation_and_inference_second, gpu_seconds_per_million, gpu_busy_seconds_per_million)
GPUBOUND_MESSAGE(VersionsBehind, behind, samples)
GPUBOUND_MESSAGE(DiscardedSamples, reason, samples)
GPUBOUND_MESSAGE(ReportSamples, consumed, discarded, reasons, unknown_version, versions_behind, mean_behind,
                 discarded_share, rollout_gpu_ns, goodput, why_no_goodput)
GPUBOUND_MESSAGE(ReportBubble, cause, ns)
GPUBOUND_MESSAGE(ReportRoleProcess, host, pid, inferred, ns, active_ns, place, operations)
GPUBOUND_MESSAGE(ReportRole, role, active_ns, held_ns, busy_ns, idle_ns, unknown_ns, bubbles, processes)
GPUBOUND_MESSAGE(ReportRoleOverlap, roles, ns)
GPUBOUND_MESSAGE(ReportTail, rollouts, parts, median_ns, p95_ns, max_ns, rollout_ns, tail_ns, held_ns, busy_ns)
GPUBOUND_MESSAGE(ReportRoleSaving, role, saves, saves_low, saves_high)
GPUBOUND_MESSAGE(ReportRoles, ns, roles, overlap, perfect_overlap_ns, tail, why_no_tail, savings)
// Not |targets|, which are asked for when the parts are made.
GPUBOUND_PART_OF_MESSAGE(RunTraining, work, samples, roles)

// What a report is made from (analysis/attribution/run_share.h).
GPUBOUND_MESSAGE(Steps, warm_up, steady, steady_end_ns)
GPUBOUND_MESSAGE(ProcessUnknown, times, outside, sees_any)
GPUBOUND_MESSAGE(ProcessShare, report, found, work_before_launch_ns, work_after_wait_ns, steps, unknown, role_notes,
                 training)
GPUBOUND_MESSAGE(DeviceTime, time, busy_ns, compute_ns, comm_ns, copy_ns, graph_ns, smi_model, most_smi_model,
                 nvml_samples, nvml_percents)
GPUBOUND_MESSAGE(DeviceBand, process, alone_ns, contended_ns)
GPUBOUND_MESSAGE(DeviceUsage, uuid, name, simulated, used, nvml_sampled_ns, seen_by, windows, bands,
                 memory_bytes, memory_peak_bytes)
GPUBOUND_MESSAGE(RunWindows, windows, parts, work)
GPUBOUND_MESSAGE(UnprofiledUse, host, uuid, pid, name, time)
GPUBOUND_MESSAGE(DeviceCompany, uses, mps_uuids)
GPUBOUND_MESSAGE(MachineShare, processes, cut, devices, company)
GPUBOUND_MESSAGE(LateRank, process, device, times, meanwhile)

// Facts of processes and of the run (analysis/trace/run.h).
GPUBOUND_MESSAGE(RunInfo, command, cwd, host, boot_id, version, root_pid, start_monotonic_ns, start_realtime_ns,
                 end_monotonic_ns, exit_code, signal, recorded, times_impossible)
GPUBOUND_MESSAGE(JobRank, variable, rank, world_size)
GPUBOUND_MESSAGE(ProcessIdentity, host, pid, start_realtime_ns)
GPUBOUND_MESSAGE(Note, time_ns, text)
GPUBOUND_MESSAGE(LostScopes, thread, start_ns, end_ns, certain)
GPUBOUND_PART_OF_MESSAGE(ClockSample, monotonic_ns, realtime_ns)
GPUBOUND_PART_OF_MESSAGE(ThreadTrace, ordinal, tid, name)
GPUBOUND_PART_OF_MESSAGE(DeviceInfo, index, simulated)
GPUBOUND_MESSAGE(Device, info, name, uuid)
GPUBOUND_PART_OF_MESSAGE(ProcessTrace, identity, boot_id, pid_namespace, job, parent_pid, name, command, version,
                 device_kind, cpu_model, driver_version, cupti_version, python_version, nvml_unavailable,
                 queries_not_counted, imported_pids, main_tid, python, span_begin_ns, span_end_ns, span_end,
                 before_span_ns, steps, outside_steps, begin_is_known, device_work_lost, end_how, threads, devices,
                 clock_samples, lost_scopes, notes, ledger)
GPUBOUND_MESSAGE(CollectiveColumns, names, streams, devices, begins_ns, lengths_ns, name, stream)
GPUBOUND_MESSAGE(PartProcess, facts, share, collectives)
GPUBOUND_MESSAGE(MachinePart, version, made_realtime_ns, boot_id, host, operations, launchers, run, steps, problems,
                 notes, lost, ledger, processes, machine, as_root, late, late_among, training)
// clang-format on

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PARTS_PART_FIELDS_H_
