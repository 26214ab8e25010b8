// SPDX-License-Identifier: Apache-2.0
//
// Every counter of the trust ledger: its name, how bad a non-zero value is, and one sentence for
// the user. Recorder, reader, report and `gpubound doctor` all expand this one list.
//
// Severity: kInfo (a fact), kNotice (worth knowing; numbers stand), kDataLoss (something is missing
// and the figures that rest on it are marked), kError (a figure may be wrong).
//
// A verdict may say "complete" beside notices and facts, so each of these was asked whether it can
// make a figure wrong. Those that can, and are none the less no loss, say it elsewhere:
//   cupti_unavailable, cupti_api_errors: GPU time is unknown then, as far as anything may be missing
//     (Delivery, CuptiSource, Bystanders), and the verdict says that.
//   kernels_without_launch: busy and idle time stand; `launched` of rows is marked as a lower bound.
//   graphs_recorded_whole, graphs_of_mixed_work: the verdict and the figures say "upper bound".
//   graphs_before_recording: kernels are there, only where their nodes were captured is not.
//   graph_nodes_not_kept: likewise.
//   scopes_open_at_end: what ends the program inside a scope ends the scope.
//   process_not_closed, live_mapping_unavailable: with both, build_report.cc makes it a loss.
//   clock_backwards: time stamps of two processors differ by nanoseconds; larger steps of the
//     system's clocks are clock_steps.
//   names_truncated: of names that agree in their first 4,096 bytes.
//   processes_not_profiled: the verdict says it, and GPU shares are lower bounds.
//   processes_unlisted: children of what the command left behind; a note names them.
//   graphics_libraries_mapped, simulated_device: the report says beside its figures what they are.
//   samples_dropped, counter_samples_lost, counters_unavailable, nvml_unavailable,
//     stacks_unavailable: what was measured stands, and the rest is not printed.
//
// The order is part of the live mapping's format (proto/live_format.h): append only. The mapping
// has room for the first kRecordedCounters; those behind are counted by importers and readers
// alone.
#ifndef GPUBOUND_PROTO_LEDGER_COUNTERS_H_
#define GPUBOUND_PROTO_LEDGER_COUNTERS_H_

#include <cstdint>

namespace gpubound {

enum class Severity : uint8_t { kInfo = 0, kNotice = 1, kDataLoss = 2, kError = 3 };

// clang-format off
#define GPUBOUND_LEDGER_COUNTERS(X) \
  X(scope_events_dropped, kDataLoss, "Scope events lost because every page was full: they were not written out fast enough (GPUBOUND_LIVE_PAGES has more), or more than 4,000 threads held one each.") \
  X(device_records_dropped, kDataLoss, "API or GPU records lost inside gpubound because every page was full.") \
  X(cupti_records_dropped, kDataLoss, "Records that CUPTI itself dropped because it ran out of buffers.") \
  X(cupti_zero_timestamps, kDataLoss, "GPU records without a time: CUPTI's device buffers were exhausted, or the work had not ended when the recording did.") \
  X(cupti_inverted_timestamps, kDataLoss, "Records that end before they begin: calls are kept with length zero, the time around GPU work is unknown.") \
  X(cupti_unknown_records, kDataLoss, "CUPTI records of a kind that this version does not know, which may be work of the GPU; skipped. GPU time is unknown meanwhile.") \
  X(cupti_unavailable, kNotice, "libcupti could not be used; GPU time is unknown.") \
  X(cupti_held_by_other, kDataLoss, "Another tool holds CUPTI; GPU time is unknown.") \
  X(cupti_api_errors, kNotice, "CUPTI calls that returned an unexpected error.") \
  X(undelivered_device_buffers, kDataLoss, "CUPTI buffers still outstanding when the recording ended.") \
  X(kernels_without_launch, kNotice, "GPU work for which no API call was seen; it belongs to (no operation), so caused time of operations is a lower bound.") \
  X(unbalanced_scopes, kDataLoss, "Scopes that did not end where they began: closed without being open on their thread, as by a coroutine that goes on elsewhere, or left open (longjmp) until the block around them ended. Time of their operations is in other rows.") \
  X(scopes_open_at_end, kNotice, "Scopes still open when the recording ended; closed at the end of the span.") \
  X(scope_depth_exceeded, kDataLoss, "Scopes begun while 64 were open on their thread, more than the recorder follows: nested so deep, or left by longjmp and never closed. Operations further out may lack time and counts.") \
  X(labels_overflowed, kDataLoss, "Names beyond the label table's capacity, recorded as (other names), and streams beyond 100,000, recorded as one.") \
  X(names_truncated, kNotice, "Names cut to the longest length that is stored.") \
  X(clock_backwards, kNotice, "Events whose time stamp ran backwards on their thread; moved to the previous event.") \
  X(clock_steps, kError, "Steps of the system clock during the run; GPU times near them are uncertain.") \
  X(clock_error_bound_ns, kInfo, "Widest bracket of a clock sample, in ns: the uncertainty of GPU against CPU time.") \
  X(chunks_corrupt, kError, "Chunks whose checksum or structure is wrong; their events are missing.") \
  X(chunk_events_lost, kDataLoss, "Events inside corrupt, truncated or missing chunks; at most so many, since payloads are counted where only the numbers of a thread tell.") \
  X(sink_write_errors, kDataLoss, "Transactions that could not be written (disk full, I/O error, no memory).") \
  X(live_mapping_unavailable, kNotice, "The live mapping could not be reserved; after a kill the last second may be missing.") \
  X(process_not_closed, kNotice, "Processes that ended without closing their trace; the newest events were salvaged.") \
  X(events_salvaged, kInfo, "Events recovered from the live mapping of a process that did not close its trace.") \
  X(fork_children_unrecorded, kDataLoss, "Forked children that could not be recorded safely; what they did is in no figure.") \
  X(backpressure_waits, kInfo, "Times a thread waited for a free page.") \
  X(nvtx_not_injected, kDataLoss, "NVTX_INJECTION64_PATH belonged to another tool; NVTX ranges, and operations that they name, were not recorded.") \
  X(graphs_before_recording, kNotice, "CUDA graphs instantiated before recording began; their nodes may be missing.") \
  X(graphics_libraries_mapped, kNotice, "Graphics libraries are loaded; rendering is invisible to CUPTI, so idle means no CUDA work.") \
  X(core_load_failures, kError, "The collector could not be loaded in a process of the run.") \
  X(simulated_device, kNotice, "The GPU of this run is a simulated device; its times are not those of hardware.") \
  X(import_work_unassigned, kDataLoss, "GPU work of an imported trace of which nothing says which of its processes launched it; it is in no table, and GPU time of the processes that use its device, or may have launched it, is unknown meanwhile.") \
  X(import_events_malformed, kError, "Events of an imported trace that could not be read, or whose time could not; skipped, so what they said is missing.") \
  X(api_calls_suppressed, kInfo, "Calls of polling and query functions, counted but not recorded.") \
  X(graphs_recorded_whole, kNotice, "Launches of CUDA graphs recorded as a whole: GPU busy inside them is an upper bound, of class compute where their nodes are not known. --graphs node records each kernel.") \
  X(graphs_of_mixed_work, kNotice, "Launches of CUDA graphs recorded as a whole that hold work of several classes: all their time counts as compute, none as communication or copies.") \
  X(graph_launches_lost, kDataLoss, "Launches of CUDA graphs whose GPU work is missing: as a whole CUPTI does not record those that were instantiated before recording began, nor tell the device of those that begin and end in host nodes. --graphs node records their kernels.") \
  X(graph_nodes_not_kept, kNotice, "Nodes of CUDA graphs beyond the table's capacity; where they were captured is not known.") \
  X(cupti_yielded, kDataLoss, "CUPTI was handed to a profiler inside the program; GPU time is unknown from then on. GPUBOUND_KEEP_CUPTI=1 keeps it.") \
  X(nvml_unavailable, kInfo, "NVML could not be used; what nvidia-smi would have said was not sampled.") \
  X(hooks_installed, kInfo, "Functions of known Python libraries that were wrapped to name operations, layers and waits.") \
  X(hooks_failed, kDataLoss, "Functions of known Python libraries that could not be wrapped, as a note names them: operations, layers and waits there are missing, and their time stays with the row around them.") \
  X(python_without_extension, kDataLoss, "Python processes that could not be hooked: operations, layers and waits of their libraries are missing. A note says why and what to type.") \
  X(host_outside_run_ns, kError, "Longest time by which processes of another host lie outside the run's span, in ns: its clock is off, or they outlived the run. Their work out there counts on no device.") \
  X(waits_unnamed, kDataLoss, "Pipes, sockets and processes beyond what one process may name; for whom it waited there is not known.") \
  X(counters_unavailable, kNotice, "Devices whose hardware counters could not be sampled; a note says why.") \
  X(counter_samples_lost, kNotice, "Samples of hardware counters that were lost; their means rest on the others.") \
  X(detail_summed_ns, kInfo, "Time at the begin of the run, in ns, of which sums are kept: totals are whole, events are there in part only.") \
  X(events_behind_sums, kDataLoss, "Events written after the time that they belong to had been summed; what they did before is in no total.") \
  X(roles_changed_after_sums, kError, "Processes in which events after the summed time say that a thread or a name is something else than it was taken for; the summed time stays as it is.") \
  X(samples_dropped, kNotice, "Samples of NVML and of the process tree dropped because nothing was written for hours, and processes on GPUs beyond a thousand; figures from samples cover less.") \
  X(work_before_launch, kError, "GPU work that seems to begin before the call that launched it: its times lie too early by more than a launch takes, so the operation and the idle time beside it are doubtful; the columns of caused time stand.") \
  X(files_unreadable, kError, "Files of the run that cannot be read at all, as a note names them; what they held is in no figure.") \
  X(tables_cut, kError, "Tables of a process's trace that can be read in part only, as a note names them; figures that rest on their rows may be wrong.") \
  X(segments_missing, kDataLoss, "Files of a process, numbered in a row, that are not there or cannot be read; their events are missing.") \
  X(times_impossible, kError, "Times in the trace that are no times of any clock (146 years and more from zero); they were ignored.") \
  X(processes_missing, kDataLoss, "Processes that were recorded and of which no file is there, as a note names them; waits for them are idle time, and what they did on GPUs is in no figure.") \
  X(import_cut_short, kError, "Imported files that break off: what follows is missing, and GPU time after the last GPU work is unknown. A note says where.") \
  X(processes_not_profiled, kNotice, "Processes that are not part of the run and had a context on a GPU of it meanwhile, as NVML lists them; what that GPU did in all may be more than its figures say.") \
  X(utilization_above_busy, kDataLoss, "Devices of which nvidia-smi said at least ten points more than all recorded work explains: something else used them, or work that CUPTI does not see, so their busy time may be more.") \
  X(work_after_wait, kError, "GPU work that seems to end after a thread had waited for it: its times lie too late, so the idle time beside it is doubtful; the columns of caused time stand.") \
  X(foreign_thread_calls, kError, "CUDA calls that CUPTI gave a thread id which is not the system's: which thread made them is not known, so layers, transitions and caused time are doubtful.")

// What readers and importers alone count, numbered after the others: the live mapping has no room
// for them.
#define GPUBOUND_READER_COUNTERS(X) \
  X(clocks_contradicted_ns, kError, "Longest time, in ns, by which collectives of two hosts contradict each other about their clocks: one changed its speed, or ranks could not be told apart. Times of one host against another, and with them peer wait, are doubtful.") \
  X(files_misnamed, kError, "Files of the run that hold what another process or segment recorded than their names say, as a note names them: renamed, or copied over another file, of which nothing is left.") \
  X(processes_unlisted, kNotice, "Processes with files among those of the run that had none there when the command had ended: what it left behind, or of another run, mixed in. A note names them; they count like all others.") \
  X(import_tables_incomplete, kError, "Tables of an imported trace without a column that they cannot be read without, as a note names them; what they held is missing, and GPU time is unknown where GPU work was among it.") \
  X(import_launches_without_work, kDataLoss, "Calls of an imported trace that launched GPU work which is not there, as a note says: it was not traced, not exported, or lost. GPU time is unknown from the call until its process has waited for the device; throughout where the process has no work of the kind.") \
  X(import_times_outlying, kDataLoss, "Events of an imported trace without a time: begin and end are 0, or lie so far from those of all others that they cannot be right. They count for nothing; GPU time is unknown from the launch of such GPU work on.") \
  X(import_work_not_understood, kDataLoss, "Events of an imported trace that look like work of a device and are of a kind without a meaning here, as a note names it. GPU time is unknown where nothing else ran.") \
  X(import_names_missing, kError, "Calls, ranges and kernels of an imported trace whose names it refers to and does not hold; they are called (unnamed), and what depends on the name, such as layers and classes, may be wrong.") \
  X(processes_unrecorded, kDataLoss, "Processes that had something to record and could not, as a note says why; what they did is in no figure.") \
  X(preload_replaced, kDataLoss, "Processes that LD_PRELOAD did not bring libgpubound.so into, since a script or program on the way set it anew: CUDA or NVTX alone loaded the recorder, and scopes, hooks of Python and the closing at _exit are missing there. Let LD_PRELOAD keep what it had: export LD_PRELOAD=theirs.so:$LD_PRELOAD.") \
  X(ranks_missing, kDataLoss, "Ranks of a job of which nothing is here, though its launcher said how many there are (WORLD_SIZE and the like), as a note names them: for whom the others waited may be one of them.") \
  X(adopted_scopes, kInfo, "Entries of threads without scopes of their own (autograd's, an XLA pool's) into deeper layers, CUDA calls among them, that count under the operation of the reporting thread, which was inside native code or a wait: that they worked for it is assumed, not recorded.") \
  X(stack_looks, kInfo, "Looks at the stack of a Python thread, a hundred a second of each unless asked otherwise (GPUBOUND_STACKS); what functions took is estimated from them.") \
  X(stack_looks_torn, kInfo, "Looks at stacks that are not counted: the thread went on while its stack was read, the recorder was interrupted, or every page was full.") \
  X(frames_overflowed, kDataLoss, "Frames of Python stacks beyond the 131,072 that are kept; they count as their callers.") \
  X(stacks_unavailable, kNotice, "Python processes whose stacks could not be looked at: the interpreter's version is not known, or a sandbox does not let a process read its own memory (process_vm_readv). No functions are shown.")
// clang-format on

enum class LedgerCounter : uint16_t {
#define GPUBOUND_X(name, severity, help) name,
  GPUBOUND_LEDGER_COUNTERS(GPUBOUND_X) GPUBOUND_READER_COUNTERS(GPUBOUND_X)
#undef GPUBOUND_X
      kCount
};

struct LedgerCounterInfo {
  const char* name;
  Severity severity;
  const char* help;
};

inline constexpr LedgerCounterInfo kLedgerCounters[] = {
#define GPUBOUND_X(name, severity, help) {#name, Severity::severity, help},
    GPUBOUND_LEDGER_COUNTERS(GPUBOUND_X) GPUBOUND_READER_COUNTERS(GPUBOUND_X)
#undef GPUBOUND_X
};
inline constexpr int kLedgerCounterCount = static_cast<int>(LedgerCounter::kCount);

// One more takes another version of the live mapping.
#define GPUBOUND_X(name, severity, help) +1
inline constexpr int kRecordedCounters = 0 GPUBOUND_LEDGER_COUNTERS(GPUBOUND_X);
#undef GPUBOUND_X

constexpr const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kInfo:
      return "info";
    case Severity::kNotice:
      return "notice";
    case Severity::kDataLoss:
      return "data_loss";
    case Severity::kError:
      return "error";
  }
  return "error";
}

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_LEDGER_COUNTERS_H_
