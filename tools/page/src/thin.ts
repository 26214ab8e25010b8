// SPDX-License-Identifier: Apache-2.0
//
// Processes of which a page of very many has the times of the operations alone: what is missing is
// filled in, so that nothing else has to know (the other side:
// analysis/output/page/thin_processes.cc).
import {NO_TIME} from './breakdown';
import {Operation, PageData, PageProcess, ReportProcess} from './data';
import {element} from './dom';

const NO_OPERATION_TIME: Omit<Operation, 'operation'> = {
  ...NO_TIME,
  gpu_caused_ns: 0,
  sm_filled_ns: 0,
  count: 0,
  transitions: {},
  device_idle: {},
  inherited: false,
  gpu_busy_is_upper_bound: false,
  gpu_caused_is_upper_bound: false,
  gpu_caused_is_lower_bound: false,
  scopes_missing: false,
  other_threads_only: false,
  cpu: null,
};

const NO_DETAIL = {
  cells: [],
  iterations: null,
  gaps: [],
  lanes: [],
  waits: [],
  awaited: [],
  counters: [],
  devices: [],
  throughput: [],
  training: null,
  corrected: null,
  corrected_why_not: '',
  sm_fill_is_upper_bound: false,
};

const NO_PAGE_DETAIL = {
  version: '',
  command: [],
  correction: '',
  waiting: '',
  operation_kernels: [],
  iterations: [],
  unknown: [],
  causes: {},
  stacks: {names: [], operations: []},
};

export function filled(data: PageData): PageData {
  const isThin = (index: number): boolean => !data.processes[index].detailed;
  const operations = (rows: Operation[]): Operation[] =>
      rows.map((row) => ({...NO_OPERATION_TIME, ...row}));
  const processes = data.report.processes.map(
      (process, i): ReportProcess =>
          (isThin(i) ? {...NO_DETAIL, ...process, operations: operations(process.operations)} :
                       process));
  return {
    ...data,
    report: {...data.report, processes},
    processes: data.processes.map(
        (process, i): PageProcess => (isThin(i) ? {...NO_PAGE_DETAIL, ...process} : process)),
  };
}

// null where the page has all figures of the process.
export function thinNote({processes}: PageData, index: number): HTMLElement|null {
  if (processes[index].detailed) return null;
  const detailed = processes.filter((process) => process.detailed).length;
  return element('p', {
    class: 'note',
    text: `Of ${processes.length} processes the page has all figures of ${
        detailed}, and of this one the times of its operations: gpubound report --json has the rest.`,
  });
}
