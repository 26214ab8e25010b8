// SPDX-License-Identifier: Apache-2.0
//
// The shape of the page's data: gpubound.page.v1 with a gpubound.report.v1 in it (docs/report.md).
// Times are integer nanoseconds.

export interface Cell {
  phase: string;
  operation: string;
  layer: string;
  gpu: string;
  ns: number;
  waiting_ns: number;
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
  slowest: SlowIteration[];
}

export interface ReportProcess {
  host: string;
  pid: number;
  name: string;
  parent: number|null;
  start_ns: number;
  span_ns: number;
  cells: Cell[];
  operations: Operation[];
  gpu_busy_ns: number;
  iterations: Iterations|null;
  gaps: Gap[];
  corrected_why_not: string;
}

export interface Device {
  uuid: string;
  name: string;
  busy_ns: number;
  span_ns: number;
  nvml_utilization: number|null;
  used: boolean;
  smi_model: number;
}

export interface LedgerEntry {
  counter: string;
  value: number;
  severity: string;
  help: string;
}

export interface OperationDevice {
  wall_ns: number;
  busy_ns: number;
  idle_ns: number;
  unknown_ns: number;
}

export interface Report {
  device_kind: string;
  run: {
    root: number|null; wall_ns: number; devices_used: number; gpu_busy_share: number;
    compute_share: number;
    comm_share: number;
    copy_share: number;
    verdict: string;
    headline: string;
    headline_ns: number;
    whole_gpu_busy_share: number;
    parts: {part: string; wall_ns: number; gpu_busy_ns: number}[];
    devices_unused: string[];
  };
  processes: ReportProcess[];
  devices: Device[];
  ledger: LedgerEntry[];
  operation_devices: OperationDevice[];
}

// first number, count, begin, end, shortest, longest, GPU busy
export type IterationPoint = [number, number, number, number, number, number, number];

export interface DeviceWork {
  count: number;
  sum_ns: number;
  sm_filled_ns: number;
  sm_fill_is_upper_bound: boolean;
}

export interface Kernel extends DeviceWork {
  name: string;
  class: string;
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

export interface PageProcess {
  offset_ns: number;
  end: string;
  version: string;
  command: string[];
  kernels_total: number;
  kernels: Kernel[];
  operation_kernels: OperationKernels[];
  iterations: IterationPoint[];
  unknown: [number, number][];
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
}

export interface TimelineData {
  span_ns: number;
  bucket_ns: number;
  buckets: number;
  whole: boolean;
  windows: [number, number, string][];
  names: string[];
  tracks: TrackData[];
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
  report: Report;
  notes: string[];
  processes: PageProcess[];
  timeline: TimelineData;
}

// A group's value and how it differs from the first group's: gpubound.compare.v1.
export interface ComparedValue {
  value: number;
  difference: number;
  low: number|null;
  high: number|null;
  significant: boolean;
}

export interface ComparedFigure {
  figure: string;
  name: string;  // of an operation or cause; empty for figures of the run
  unit: 'ns'|'share';
  groups: ComparedValue[];
}

export interface ComparisonData {
  format: 'gpubound.compare.v1';
  per_iteration: boolean;
  seed: number;
  replicates: number;
  groups: {name: string; runs: string[]; resampled: 'runs' | 'iterations' | 'nothing'}[];
  figures: ComparedFigure[];
  notes: string[];
}

export const NO_OPERATION = '(no operation)';

export function readData(): PageData|ComparisonData {
  const element = document.getElementById('data');
  return JSON.parse(element?.textContent ?? 'null') as PageData | ComparisonData;
}

// The process that a reader wants first: the one whose GPU time is longest, else the root.
export function firstProcess(report: Report): number {
  let first = Math.max(0, report.processes.findIndex((p) => p.pid === report.run.root));
  report.processes.forEach((process, i) => {
    if (process.gpu_busy_ns > report.processes[first].gpu_busy_ns) first = i;
  });
  return first;
}
