// SPDX-License-Identifier: Apache-2.0
//
// The report model: what every output of a run says, as one value that mirrors the report JSON
// (SPEC section 8) field by field. Renderers read it and compute nothing. Times are integer ns.
// Plain values without a thread rule.
#ifndef GPUBOUND_ANALYSIS_REPORT_REPORT_H_
#define GPUBOUND_ANALYSIS_REPORT_REPORT_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/report/in_run_check.h"
#include "analysis/report/report_diagnosis.h"
#include "analysis/report/report_iterations.h"
#include "analysis/report/report_ledger.h"
#include "analysis/report/report_rank.h"
#include "analysis/report/report_stacks.h"
#include "analysis/report/report_work.h"
#include "analysis/trace/idle_cause.h"
#include "analysis/trace/process_tree_peaks.h"
#include "analysis/trace/run.h"

namespace gpubound {

// One cell of the exact partition of a process's span.
struct ReportCell {
  std::string phase;
  std::string operation;
  std::string layer;
  std::string gpu;  // "idle", "unknown", or classes joined by '+' in the order comm, compute, copy
  int64_t ns = 0;
  int64_t waiting_ns = 0;  // part of an idle cell in which the CPU waited for a known process
  bool gpu_busy_is_upper_bound = false;  // as of an operation
};

// Idle time of devices by cause (analysis/trace/idle_cause.h). Lists of them are longest first.
struct CauseTime {
  std::string cause;
  int64_t ns = 0;
};

// How far the launches of an operation ran ahead of the device. Of a call that launches much into a
// stream, as that of a graph, the first work counts. Absent where there are none.
struct ReportLaunches {
  uint64_t count = 0;
  // From the end of the call until its work began; 0 where that was before.
  std::optional<int64_t> lead_mean_ns;
  std::optional<int64_t> lead_median_ns;
  std::optional<int64_t> lead_p95_ns;
  // Earlier launches whose work still waited in the same stream when the call ended.
  std::optional<double> depth_mean;
  std::optional<int64_t> depth_median;
  std::optional<int64_t> depth_p95;
  std::optional<double> shorter_kernels_share;  // of kernels: shorter than their launch call
};

// Gaps of devices whose next work had been launched when they began.
struct ReportQueuedGaps {
  uint64_t count = 0;
  int64_t ns = 0;
  int64_t mean_ns = 0;  // rounded down
};

// Where a thread was meanwhile: on a CPU, ready to run without one, or blocked; the three and what
// is not known sum to the wall time. Estimates, from looks at the thread some 50 times a second:
// each may be |error_ns| more or less.
struct ReportCpu {
  int64_t on_cpu_ns = 0;
  int64_t ready_ns = 0;
  int64_t blocked_ns = 0;
  int64_t unknown_ns = 0;
  int64_t error_ns = 0;
  // The part of the time that the thread could have used a CPU in which it had none.
  double ReadyShare() const {
    const int64_t wanted_ns = on_cpu_ns + ready_ns;
    return wanted_ns > 0 ? static_cast<double>(ready_ns) / static_cast<double>(wanted_ns) : 0;
  }
  // The finding "threads that could run had no core": more than a tenth of that time, and of all.
  bool NoCoreForLong() const {
    constexpr int64_t kTenth = 10;
    const int64_t wall_ns = on_cpu_ns + ready_ns + blocked_ns + unknown_ns;
    return kTenth * ready_ns > on_cpu_ns + ready_ns && kTenth * ready_ns > wall_ns;
  }
};

// CPU time of all threads of a process, those included of which nothing else is known.
struct ReportThreadsCpu {
  int64_t on_cpu_ns = 0;
  std::optional<int64_t> ready_ns;  // absent: the kernel does not tell
};

// One row, exclusive of nested operations: wall_ns of all rows sums to the span, and wall_ns is
// cpu_only + cpu_gpu + gpu_only + waiting + idle + unknown.
struct ReportOperation {
  std::string operation;
  int64_t wall_ns = 0;
  int64_t cpu_only_ns = 0;
  int64_t cpu_gpu_ns = 0;
  int64_t gpu_only_ns = 0;
  int64_t waiting_ns = 0;
  int64_t idle_ns = 0;
  int64_t unknown_ns = 0;
  int64_t gpu_busy_ns = 0;
  int64_t gpu_compute_ns = 0;  // time with class compute active, alone or not; likewise below
  int64_t gpu_comm_ns = 0;
  int64_t gpu_copy_ns = 0;
  int64_t gpu_wait_ns = 0;
  int64_t gpu_caused_ns = 0;
  int64_t gpu_sum_ns = 0;
  int64_t sm_filled_ns = 0;  // an estimate
  uint64_t count = 0;        // scopes opened on the reporting thread, of a lane on its own
  int64_t inclusive_wall_ns = 0;
  std::vector<std::pair<std::string, uint64_t>> transitions;  // "python->backend": n, by name
  // Why the process's devices were idle in this row: sums to the row's wall time less busy and
  // unknown, for each device that the process used.
  std::vector<CauseTime> device_idle;
  ReportLaunches launches;       // in it, whichever thread made them
  std::optional<ReportCpu> cpu;  // of the thread; absent: nothing is known of all its time
  bool inherited = false;        // of another process, which waited for this one under it
  // Graphs that were recorded as a whole are part of it: gaps between their nodes count as busy.
  bool gpu_busy_is_upper_bound = false;
  bool gpu_caused_is_upper_bound = false;
  // The process has work of which nobody knows whether this row launched it: what ran unrecorded,
  // and, but for (no operation), where it is booked, what came without a launch.
  bool gpu_caused_is_lower_bound = false;
  // Of a thread some of whose scopes are missing: it may have too much or too little time.
  bool scopes_missing = false;
  // No time, nor any scope, of the reporting thread: the row is there for transitions and caused
  // work of other threads (other_threads.h), and its zeros are nothing that was measured.
  bool other_threads_only = false;
};

// What a device did for one process while an operation owned its time; wall_ns is the sum of busy,
// idle and unknown, and idle_ns that of its causes.
struct ReportDeviceShare {
  std::string uuid;
  uint32_t ordinal = 0;
  std::string operation;
  int64_t wall_ns = 0;
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  int64_t unknown_ns = 0;
  std::vector<CauseTime> idle_causes;
  bool busy_is_upper_bound = false;  // as of an operation
};

// A stretch during which a device had nothing to do, and what the CPU did at both ends of it.
struct ReportGap {
  std::string uuid;
  uint32_t ordinal = 0;
  int64_t begin_ns = 0;  // after the span's begin
  int64_t ns = 0;
  std::string cause;  // the one with the most time
  std::string operation_at_begin;
  std::string layer_at_begin;
  std::string operation_at_end;
  std::string layer_at_end;
  std::string work_before;  // empty at the span's begin
  std::string work_after;   // empty where no work ended the gap
  // Of a long stretch of cause "launch" the CUDA call that took most of it, and how long that was
  // in all; empty and 0 where there is none. Not in the JSON: a compacted run has lost the call.
  std::string call;
  int64_t call_ns = 0;
};

// One of the longest stretches during which a device had nothing to do.
struct ReportIdleMark {
  uint32_t ordinal = 0;
  int64_t begin_ns = 0;  // after the span's begin
  int64_t ns = 0;
  IdleCause cause = IdleCause::kUnknown;
};

// A further thread that annotates: a partition of the span by its own operations and layers.
struct ReportLane {
  std::string thread;
  uint32_t tid = 0;
  std::vector<ReportCell> cells;
  std::vector<ReportOperation> operations;
  // All of them were: the thread works for another one, whose rows may show it as well.
  bool handed_over = false;
};

// A part of the critical path: CPU time of an operation in a layer, or its device work.
struct ReportPathPart {
  std::string host;
  int64_t pid = 0;
  std::string operation;
  std::string layer;  // or "gpu" and a class of work
  int64_t ns = 0;
  int64_t loop_ns = 0;  // of it, in the loop
};

// What the length of the main process hangs on: the chain of what waited for what, from its end
// back to its begin, without what the profiler cost where that is known.
struct ReportCriticalPath {
  int64_t wall_ns = 0;
  // From the end of the first iteration to that of the last, to which parts' loop_ns sum; 0 where
  // there is nothing between.
  int64_t loop_ns = 0;
  std::vector<ReportPathPart> parts;  // longest first; sum to wall_ns
};

// How long a process waited for another one, or for any of several, by operation. Disjoint.
struct ReportWait {
  std::vector<int64_t> pids;  // ascending
  std::string operation;
  int64_t ns = 0;
};

// Means of hardware counters over the time of an operation, each a share of the peak; they see all
// processes that use the device. Absent where no sample tells.
struct ReportCounters {
  std::string operation;
  int64_t sampled_ns = 0;  // device time that samples cover
  std::optional<double> sm_active_share;
  std::optional<double> warps_active_share;  // achieved occupancy, idle multiprocessors included
  std::optional<double> dram_throughput_share;
};

// What a process did on its reporting thread while another one waited for it, by the operation of
// that one.
struct ReportAwaited {
  int64_t pid = 0;
  std::string operation;
  bool worker = false;  // the other one started it, or a process that it started did
  int64_t ns = 0;       // alone or together with others
  std::vector<ReportActivity> meanwhile;  // longest first; within its span
};

struct CorrectedProcess;
struct ProcessTraining;  // report_training.h, as RunTraining
struct RunTraining;

struct ReportProcess {
  std::string host;
  int64_t pid = 0;
  std::optional<int64_t> rank;  // as a launcher of several called it, or who started it
  std::string name;
  std::optional<int64_t> parent;  // pid; absent when the parent is not part of the run
  int64_t start_ns = 0;           // CLOCK_REALTIME
  int64_t span_ns = 0;
  SpanEnd span_end = SpanEnd::kClosed;
  std::vector<ReportCell> cells;
  std::vector<ReportOperation> operations;  // by wall time, longest first; ties by name
  std::vector<ReportKernel> kernels;        // by time, longest first
  std::vector<ReportOperationKernel> operation_kernels;  // by operation, then as above
  std::vector<ReportCategory> categories;                // as |kernels|
  std::vector<ReportOp> ops;                             // likewise; of imported traces
  int64_t gpu_busy_ns = 0;
  int64_t gpu_wait_ns = 0;
  int64_t gpu_sum_ns = 0;
  double smi_model = 0;             // share of the span, 0..1; an upper bound
  double most_smi_model = 0;        // had kernels run in all unknown time
  std::optional<double> inflation;  // smi_model over true busy share; absent at zero busy
  int64_t unknown_ns = 0;
  std::vector<ReportDeviceShare> device_shares;  // by device, then operation
  std::vector<ReportGap> gaps;                   // the ten longest, longest first
  // Some hundred of each device, by device, then by begin. For a picture; not part of the JSON.
  std::vector<ReportIdleMark> idle_marks;
  ReportQueuedGaps queued_gaps;  // of all devices that it used
  ReportQueuedGaps event_wait_gaps;
  ReportLaunches launches;  // of all operations
  std::vector<ReportLane> lanes;
  std::optional<ReportIterations> iterations;       // absent without step()
  std::vector<ReportWait> waits;                    // by pids, then operation
  std::vector<ReportAwaited> awaited;               // by pid, then as they begin
  std::vector<ReportCounters> counters;             // as |operations|; empty unless sampled
  std::optional<ReportProgress> progress;           // the last that the program told
  std::vector<ReportThroughput> throughput;         // env_steps, samples, tokens: those there are
  std::shared_ptr<const ProcessTraining> training;  // what it said of it; null: nothing
  int64_t after_run_began_ns = 0;                   // when the span begins
  bool sm_fill_is_upper_bound = false;   // work of unknown geometry was taken as filling the device
  bool gpu_busy_is_upper_bound = false;  // as of an operation
  std::optional<TreePeaks> process_tree;        // where it was sampled
  std::optional<ReportCpu> cpu;                 // of the reporting thread, all rows: no error
  std::optional<ReportThreadsCpu> threads_cpu;  // absent as |cpu|
  std::vector<ReportSyncLine> sync_lines;       // most looks first; no more than kMostSyncLines
  std::vector<ReportStacks> stacks;  // start-up first, then as the looks were; empty: none were
  // Without what the profiler cost; null: |corrected_why_not| says why it could not be said.
  std::shared_ptr<const CorrectedProcess> corrected;
  std::string corrected_why_not;
};

// Where a corrected figure lies with 95 % probability.
struct Bounds {
  int64_t low = 0;
  int64_t high = 0;
};
struct CorrectedRow {
  Bounds wall;
  Bounds gpu_busy;
};
struct CorrectedProcess {
  ReportProcess process;  // of the replayed timeline
  Bounds span;
  Bounds gpu_busy;
  Bounds gpu_wait;
  Bounds gpu_sum;
  std::vector<CorrectedRow> rows;  // of process.operations
  int64_t removed_ns = 0;          // by all threads, whether it moved anything or not
  InRunCheck in_run;               // of the costs that were removed
};

// What a process had of a device: at least what ran alone, at most what ran at all.
struct ReportDeviceBand {
  std::string host;
  int64_t pid = 0;
  std::string name;
  int64_t alone_ns = 0;
  int64_t contended_ns = 0;  // beside the work of another process
};

// A process that used a device meanwhile and is not part of the run.
struct ReportUnprofiled {
  std::string host;
  int64_t pid = 0;
  std::string name;  // empty where it hides it
  int64_t ns = 0;    // from the first to the last sample of NVML that lists it
};

struct ReportDevice {
  std::string uuid;
  std::string name;
  int64_t busy_ns = 0;  // union over every process of the run that used it
  int64_t span_ns = 0;
  bool busy_is_upper_bound = false;             // as of an operation
  std::optional<double> nvml_utilization;       // absent for a simulated device
  std::optional<double> simulated_utilization;  // what its stand-in for NVML said
  int64_t nvml_sampled_ns = 0;  // from its first to its last sample; 0 where that is not known
  // The memory that it has, and the most that was in use at once by whatever ran there, as NVML's
  // samples say; absent where that is not known, and for a simulated device.
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> memory_peak_bytes;
  bool simulated = false;
  bool used = false;
  // A process that sees it has unknown GPU time: busy_ns is a lower bound, and it may have been
  // used though |used| is false.
  bool has_unknown_time = false;
  bool busy_is_lower_bound = false;  // others used it, or lost processes may have
  double smi_model = 0;
  std::optional<double> inflation;  // smi_model over true busy share; absent at zero busy
  std::vector<ReportDeviceBand> processes;
  std::vector<ReportUnprofiled> not_profiled;
  bool host_outside_run = false;  // processes of its host lie outside the run
};

// Time of an operation on a device, summed over all processes; each process's own work only.
struct ReportOperationDevice {
  std::string operation;
  std::string device;  // uuid; without one, the ordinal
  int64_t wall_ns = 0;
  int64_t busy_ns = 0;
  int64_t idle_ns = 0;
  int64_t unknown_ns = 0;
  bool busy_is_upper_bound = false;  // as of an operation
};

// A part of the run's span, with the time of all used devices in it.
struct ReportPart {
  std::string part;  // start-up, warm-up, iterations, shutdown
  int64_t wall_ns = 0;
  int64_t gpu_busy_ns = 0;
  int64_t gpu_compute_ns = 0;
  int64_t gpu_comm_ns = 0;
  int64_t gpu_copy_ns = 0;
  bool gpu_busy_is_upper_bound = false;  // as of an operation
};

// The share of device time in which work could have run unrecorded; at most, where it is an upper
// bound, as of processes whose unknown times may be the same.
struct ReportUnknown {
  double share = 0;
  bool is_upper_bound = false;
};

struct ReportRun {
  std::optional<int64_t> root;                  // pid of the root process
  std::string root_host;                        // where |root| is a pid; empty without one
  std::string steps;                            // that were to be recorded, A:B; empty: all
  std::map<std::string, std::string> metadata;  // what the program said of itself, by key
  int64_t wall_ns = 0;
  // How the program that the launcher started ended; both absent where nobody knows.
  std::optional<int> exit_code;
  std::optional<int> signal;
  int64_t devices_used = 0;
  double gpu_busy_share = 0;  // shares are 0..1 of devices_used * headline_ns
  double compute_share = 0;
  double comm_share = 0;
  double copy_share = 0;
  std::optional<double> gpu_limited_share;
  double smi_model = 0;       // mean over the used devices
  double most_smi_model = 0;  // had kernels run in all unknown time
  // What NVML, and so nvidia-smi, said during the time that the shares are about: mean over the
  // used devices. Absent where one of them was not asked often enough then, or is simulated.
  std::optional<double> nvml_utilization;
  std::string verdict;
  // What the shares above are about: "iterations" after warm-up where step() was called, else
  // "span", or "work" where that was asked for; and how long that is. The whole span beside it.
  std::string headline = "span";
  int64_t headline_ns = 0;
  double whole_gpu_busy_share = 0;
  bool gpu_busy_is_upper_bound = false;  // as of an operation; also of the classes
  bool whole_gpu_busy_is_upper_bound = false;
  ReportUnknown unknown;  // of what |headline| says
  ReportUnknown whole_unknown;
  // From the first to the last work of the devices: how long that is, 0 where that is not known,
  // and how busy they were. What a profile has before and after says little about the program.
  int64_t work_ns = 0;
  double work_gpu_busy_share = 0;
  ReportUnknown work_unknown;
  // Others used the devices too, lost processes may have, or some lie outside the run; also of the
  // whole.
  bool gpu_busy_is_lower_bound = false;
  std::vector<ReportPart> parts;  // in order of time; none without step()
  // Visible to some process, used by none; without those of which that is not known.
  std::vector<std::string> devices_unused;
  std::optional<ReportCriticalPath> critical_path;  // where the run was replayed
  std::vector<ReportSaving> savings;                // likewise; the largest first
  std::vector<ReportSaving> what_if;                // likewise, at other factors than a half
  std::shared_ptr<const RunTraining> training;      // as of a process, or what was asked of it
};

struct Report {
  std::string device_kind = "none";  // real | simulated | imported | none
  ReportRun run;
  std::vector<ReportDiagnosis> diagnosis;  // the one that matters most first; never empty
  std::vector<ReportProcess> processes;
  std::vector<ReportDevice> devices;
  std::vector<ReportOperationDevice> operation_devices;  // by busy time, longest first
  std::vector<ReportRank> ranks;          // by process and device; of those that ran collectives
  std::vector<ReportLedgerEntry> ledger;  // non-zero counters of all processes, worst first
  std::vector<std::string> notes;         // what the reader and the recorder had to say, as prose
  std::vector<ReportNotCounted> not_counted;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPORT_REPORT_H_
