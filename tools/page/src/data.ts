// SPDX-License-Identifier: Apache-2.0
//
// The shape of the page's data: gpubound.page.v1 with a gpubound.report.v1 in it (docs/report.md).
// Times are integer nanoseconds.
import {ComparisonData} from './comparison_data';

export interface Cell {
  phase: string;
  operation: string;
  layer: string;
  gpu: string;
  ns: number;
  waiting_ns: number;
  gpu_busy_is_upper_bound: boolean;
}

// Where a thread was. Estimates: each can be off by error_ns.
export interface CpuTime {
  on_cpu_ns: number;
  ready_ns: number;
  blocked_ns: number;
  unknown_ns: number;
  error_ns: number;
  ready_share: number;
  had_no_core: boolean;
}

export interface Operation {
  operation: string;
  wall_ns: number;
  cpu_only_ns: number;
  cpu_gpu_ns: number;
  gpu_only_ns: number;
  waiting_ns: number;
  idle_ns: number;
  unknown_ns: number;
  gpu_busy_ns: number;
  gpu_caused_ns: number;
  count: number;
  transitions: Record<string, number>;
  device_idle: Record<string, number>;
  inherited: boolean;
  gpu_busy_is_upper_bound: boolean;
  gpu_caused_is_upper_bound: boolean;
  gpu_caused_is_lower_bound: boolean;
  scopes_missing: boolean;
  other_threads_only: boolean;
  cpu: CpuTime|null;     // null: nothing is known of it
  sm_filled_ns: number;  // of gpu_busy_ns
}

export interface Gap {
  ordinal: number;
  begin_ns: number;
  ns: number;
  cause: string;
  operation_at_begin: string;
  layer_at_begin: string;
  operation_at_end: string;
  layer_at_end: string;
  work_before: string;
  work_after: string;
}

export interface SlowIteration {
  number: number;
  begin_ns: number;
  ns: number;
  gpu_busy_ns: number;
}

export interface Iterations {
  warm_up: number;
  count: number;
  start_up_ns: number;
  warm_up_ns: number;
  total_ns: number;
  shutdown_ns: number;
  mean_ns: number;
  median_ns: number;
  p95_ns: number;
  gpu_busy_ns: number;
  operations: {operation: string; wall_ns: number; gpu_busy_ns: number; unknown_ns: number}[];
  slowest: SlowIteration[];
}

// A thread beside the reporting one.
export interface Lane {
  thread: string;
  tid: number;
  operations: Operation[];
  handed_over: boolean;  // all of them were
}

export interface Wait {
  pids: number[];
  operation: string;
  ns: number;
}

export interface Activity {
  operation: string;
  layer: string;
  ns: number;
}

// What a process did while the one it is listed under waited for it.
export interface Awaited {
  pid: number;
  operation: string;
  meanwhile: Activity[];
}

export interface Counters {
  operation: string;
  sampled_ns: number;
  sm_active_share: number|null;
  warps_active_share: number|null;
  dram_throughput_share: number|null;
}

export interface CorrectedOperation extends Operation {
  wall_ns_low: number;
  wall_ns_high: number;
  gpu_busy_ns_low: number;
  gpu_busy_ns_high: number;
}

// A process without what recording cost it.
export interface Corrected {
  span_ns: number;
  span_ns_low: number;
  span_ns_high: number;
  gpu_busy_ns: number;
  gpu_busy_ns_low: number;
  gpu_busy_ns_high: number;
  operations: CorrectedOperation[];
}

// What the program said of the training: docs/report.md has each field.
export interface Target {
  target: string;
  reached_ns: number|null;
  corrected_ns: number|null;
  corrected_ns_low: number|null;
  corrected_ns_high: number|null;
  parts_ns: number;
  parts: {operation: string; wall_ns: number; gpu_busy_ns: number}[];
}

export interface Work {
  counter: string;
  done: number;
  ns: number;
  per_second: number;
  per_simulation_second: number|null;
  per_simulation_and_inference_second: number|null;
  gpu_seconds_per_million: number|null;
  gpu_busy_seconds_per_million: number|null;
}

export interface Samples {
  consumed: number;
  discarded: number;
  reasons: {reason: string; samples: number}[];
  unknown_version: number;
  versions_behind: {behind: number; samples: number}[];
  rollout_gpu_ns: number;
  goodput: number|null;
}

export interface RoleProcess {
  host: string;
  pid: number;
  inferred: boolean;
  ns: number;
  active_ns: number;
}

export interface Role {
  role: string;
  active_ns: number;
  held_ns: number;
  busy_ns: number;
  idle_ns: number;
  unknown_ns: number;
  bubbles: {cause: string; ns: number}[];
  processes: RoleProcess[];
}

export interface Tail {
  rollouts: number;
  parts: number;
  median_ns: number;
  p95_ns: number;
  max_ns: number;
  rollout_ns: number;
  tail_ns: number;
  held_ns: number;
  busy_ns: number;
}

export interface Roles {
  ns: number;
  roles: Role[];
  overlap: {roles: string[]; ns: number}[];
  perfect_overlap_ns: number;
  perfect_overlap_saves: number;
  tail: Tail|null;
  savings: {role: string; saves: number; saves_low: number; saves_high: number}[];
}

export interface Flops {
  ns: number;
  gpu_busy_ns: number;
  mfu: number|null;
  busy_mfu: number|null;
}

export interface WeightSync {
  count: number;
  ns: number;
  exposed_ns: number;
  hidden_ns: number;
  bytes: number|null;
}

export interface ReportProcess {
  host: string;
  pid: number;
  rank: number|null;
  name: string;
  parent: number|null;
  start_ns: number;
  span_ns: number;
  cells: Cell[];
  operations: Operation[];
  gpu_busy_ns: number;
  gpu_wait_ns: number;
  gpu_busy_is_upper_bound: boolean;
  iterations: Iterations|null;
  gaps: Gap[];
  lanes: Lane[];
  waits: Wait[];
  awaited: Awaited[];
  counters: Counters[];
  corrected: Corrected|null;
  corrected_why_not: string;
  sm_fill_is_upper_bound: boolean;
  devices: {uuid: string; ordinal: number}[];  // by operation
  throughput: {counter: string; total: number; per_second: number; ns: number}[];
  training: {flops: Flops|null; weight_sync: WeightSync | null}|null;
}

// In which device work could have run unrecorded: times in which its devices worked are bounds.
export const unknownNs = (process: ReportProcess): number =>
    process.operations.reduce((sum, row) => sum + row.unknown_ns, 0);

export interface Device {
  uuid: string;
  name: string;
  busy_ns: number;
  busy_is_upper_bound: boolean;
  has_unknown_time: boolean;
  busy_is_lower_bound: boolean;
  span_ns: number;
  nvml_utilization: number|null;
  not_profiled: {host: string; pid: number; name: string; ns: number}[];
  used: boolean;
  smi_model: number;
  memory_bytes: number|null;
  memory_peak_bytes: number|null;
  processes: {host: string; pid: number; name: string; alone_ns: number; contended_ns: number;}[];
}

export interface LedgerEntry {
  counter: string;
  value: number;
  severity: string;
  help: string;
}

export interface OperationDevice {
  operation: string;
  device: string;
  wall_ns: number;
  busy_ns: number;
  idle_ns: number;
  unknown_ns: number;
  busy_is_upper_bound: boolean;
}

// What the run would take with the time of one part multiplied.
export interface Saving {
  of: 'iteration'|'run';
  part: string;
  name: string;
  shown?: string;  // of a kernel: its name demangled
  factor: number;
  wall_ns: number;
  saves: number;
  saves_low: number;
  saves_high: number;
}

export interface Diagnosis {
  kind: string;
  operation: string;  // that limits the run; empty: none does
  finding: string;
  action: string;
  gain: string;  // what the action would bring; empty: nobody knows
  saving: Saving|null;
}

export interface CriticalPath {
  wall_ns: number;
  loop_ns: number;
  parts: {host: string; pid: number; operation: string; layer: string; ns: number;
          loop_ns: number}[];
}

// Ranks whose time lies apart from that of the others.
export interface OutlierGroup {
  processes: number;
  of: {rank: number|null; host: string; pid: number}[];  // some of them
  hosts: string[];                                       // it is all ranks of these, unless empty
  local_rank: number|null;
  gpu: string|null;
  times: {operation: string; median_ns: number; others_median_ns: number}[];
}

export interface Rank {
  rank: number|null;
  host: string;
  pid: number;
  ordinal: number;
  collectives: number;
  comm_sum_ns: number;
  peer_wait_ns: number;
  moving_ns: number;
  unmatched_ns: number;
  late: number;
  waited_for_ns: number;
  while_late: Activity[];
  peer_wait_is_upper_bound: boolean;
  peer_wait_is_lower_bound: boolean;
  late_is_doubtful: boolean;
}

export interface Report {
  device_kind: string;
  run: {
    root: number|null; root_host: string | null; wall_ns: number; devices_used: number;
    gpu_busy_share: number;
    compute_share: number;
    comm_share: number;
    copy_share: number;
    gpu_limited_share: number | null;
    savings: Saving[];
    what_if: Saving[];  // the same at other factors than a half
    critical_path: CriticalPath | null;
    verdict: string;
    headline: string;
    headline_ns: number;
    nvml_utilization: number | null;
    whole_gpu_busy_share: number;
    gpu_busy_is_upper_bound: boolean;
    whole_gpu_busy_is_upper_bound: boolean;
    whole_unknown_share: number;
    gpu_busy_is_lower_bound: boolean;
    parts: {part: string; wall_ns: number; gpu_busy_ns: number}[];
    devices_unused: string[];
    training:
        {targets: Target[]; work: Work[]; samples: Samples | null; roles: Roles | null} | null;
  };
  diagnosis: Diagnosis[];
  processes: ReportProcess[];
  devices: Device[];
  ledger: LedgerEntry[];
  not_counted: {counter: string; why: string}[];
  operation_devices: OperationDevice[];
  ranks: Rank[];
  distribution: {outlier_groups: OutlierGroup[]};
}

// first number, count, begin, end, shortest, longest, GPU busy, last number, and time of the first
// operations of Iterations::operations in the mean one, that of all others last; none where that is
// not known
export type IterationPoint =
    [number, number, number, number, number, number, number, number, number[]];

export interface DeviceWork {
  count: number;
  sum_ns: number;
  sm_filled_ns: number;
  sm_fill_is_upper_bound: boolean;
}

export interface Kernel extends DeviceWork {
  name: string;
  class: string;
  nodes?: {name: string; class: string | null; count: number; captured_in: string}[];
  mean_ns: number;
  median_ns: number;
  p95_ns: number;
}

// Work that API calls of the operation launched; the kernels that take longest.
export interface OperationKernels extends DeviceWork {
  operation: string;
  kernels_total: number;
  kernels: Kernel[];
}

// Position of its caller in the list, plus one (0: none); of names: function, library (-1: the
// program's own) and file; line, looks, looks of its own.
export type FrameRow = [number, number, number, number, number, number, number];

export interface Stacks {
  operation: string;
  start_up: boolean;
  looks: number;
  runnable_share: number;
  frames: FrameRow[];
}

export interface PageProcess {
  detailed: boolean;  // else it has the times of its operations alone (thin.ts)
  offset_ns: number;
  end: string;
  version: string;
  command: string[];
  correction: string;
  waiting: string;
  operation_kernels: OperationKernels[];
  iterations: IterationPoint[];
  unknown: [number, number][];
  causes: Record<string, CauseWords>;  // of those of its idle time
  stacks: {names: string[]; operations: Stacks[]};
}

// A cause of idle GPU time in words, and what to do about it.
export interface CauseWords {
  text: string;
  action: string;
}

export interface TrackData {
  process: number;
  kind: 'device'|'stream'|'thread'|'calls';
  title: string;
  ordinal: number;
  tid: number;
  reporting: boolean;
  seen: number;
  kept: number;
  band: string;
  events: string;
  links: string;  // of calls and streams: numbers that a call shares with what it launched
  cut: [number, number][];  // which events go on unseen: 1 before their begin, 2 behind their end
  thinned: [number, number][];  // of a thread: where its events were removed
}

export interface TimelineData {
  span_ns: number;
  bucket_ns: number;
  buckets: number;
  whole: boolean;
  windows: [number, number, string][];
  thinned: [number, number][];  // where events were removed
  names: string[];
  comm_names: number[];  // of collectives and of copies, as indices
  copy_names: number[];
  wait_names: number[];
  tracks: TrackData[];
  counters: CounterData[];
  idle: IdleData[];
}

// What was sampled, or what the program counted, over time.
export interface CounterData {
  process: number;
  title: string;
  unit: string;
  points: [number, number][];  // time and value, ascending
}

// The longest stretches in which a device of a process was idle: begin, end and cause, ascending.
export interface IdleData {
  process: number;
  ordinal: number;
  gaps: [number, number, string][];
}

// What the text report says of the run, in its words, and the shares that are in them.
export interface Summary {
  headline: string;
  scope: string;
  wall: string;
  main_process: number|null;
  told_process: number|null;
  smi_model: number;
  own_share: number|null;
  unknown_share: number;
  unknown_is_upper_bound: boolean;
  headline_is_part: boolean;  // its figures are not those of the whole run
  sm_filled_ns: number;       // of the told process's GPU busy time
}

// What the text report says of the training, in its words.
export interface TrainingWords {
  process: number|null;  // that |flops| and |weight_sync| are about
  targets: string[];     // as those of the report; likewise |work|
  work: string[];
  bubbles?: string;
  overlap?: string;
  bound?: string;
  tail?: string;
  inferred?: string;
  staleness?: string;
  waste?: string;
  goodput?: string;
  flops?: string;
  weight_sync?: string;
}

export interface PageData {
  format: 'gpubound.page.v1';
  run: {
    name: string; launched: boolean;
    command?: string[];
    cwd?: string;
    host?: string;
    version?: string;
    start_realtime_ns?: number;
    exit_code?: number | null;
    signal?: number | null; metadata: Record<string, string>;
  };
  summary: Summary;
  training: TrainingWords;
  report: Report;
  notes: string[];
  processes: PageProcess[];
  timeline: TimelineData;
}

export const NO_OPERATION = '(no operation)';

// As the text report does (EscapeName in analysis/base/text_table.cc, ShownName in
// analysis/base/short_name.cc): what could steer the text around a name is spelled out, byte by
// byte, and one in which there is nothing to see is marked.
const HARMFUL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

export function shownName(name: string): string {
  return /^ +$/.test(name) ?
      `"${name}"` :
      name.replace(
          HARMFUL,
          (character) => [...new TextEncoder().encode(character)]
                             .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
                             .join(''));
}

// Texts that are names wherever they stand, if empty ones.
const NAMES = ['operation', 'phase', 'operation_at_begin', 'operation_at_end'];

// Whether |key| of |owner| is a name: in a list of names, or of an operation that is compared.
const isName = (owner: object, key: string): boolean => NAMES.includes(key) ||
    Array.isArray(owner) ||
    (key === 'name' && 'figure' in owner && String(owner.figure).startsWith('operation_'));

// All of it can be shown: keys of the metadata are the only names that are not values.
export function readData(): PageData|ComparisonData {
  const element = document.getElementById('data');
  const show = function(this: object, key: string, value: unknown): unknown {
    if (value === '') return isName(this, key) ? '(empty name)' : value;
    return typeof value === 'string' ? shownName(value) : value;
  };
  return JSON.parse(element?.textContent ?? 'null', show) as PageData | ComparisonData;
}
