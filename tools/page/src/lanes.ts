// SPDX-License-Identifier: Apache-2.0
//
// Threads that annotate beside the reporting one.
import {Lane, Operation, ReportProcess} from './data';
import {element, listed, nameCell, othersName, rowOf, sumOf, table, timeCell} from './dom';

type Row = Pick<
    Operation,
    'operation'|'wall_ns'|'gpu_busy_ns'|'unknown_ns'|'cpu_only_ns'|'idle_ns'|'waiting_ns'|
    'gpu_busy_is_upper_bound'>;

function rowsOf(lane: Lane): Row[] {
  const {shown, others} = listed<Row>(lane.operations);
  if (others.length === 0) return shown;
  const sum = (of: (row: Row) => number): number => sumOf(others, of);
  const rest = {
    operation: othersName(others),
    wall_ns: sum((row) => row.wall_ns),
    gpu_busy_ns: sum((row) => row.gpu_busy_ns),
    unknown_ns: sum((row) => row.unknown_ns),
    cpu_only_ns: sum((row) => row.cpu_only_ns),
    idle_ns: sum((row) => row.idle_ns),
    waiting_ns: sum((row) => row.waiting_ns),
    gpu_busy_is_upper_bound: others.some((row) => row.gpu_busy_is_upper_bound),
  };
  return [...shown, rest];
}

function laneTable(lane: Lane): HTMLElement {
  const name =
      `thread ${lane.thread} ${lane.tid}${lane.handed_over ? ', which others hand work to' : ''}`;
  const result = table(
      name, [name, 'wall', 'GPU busy', 'CPU only', 'idle'],
      rowsOf(lane).map(
          (row) => rowOf(row.operation, [
            nameCell(row.operation),
            timeCell(row.wall_ns, 'wall_ns'),
            timeCell(
                row.gpu_busy_ns, 'gpu_busy_ns', row.gpu_busy_is_upper_bound, row.unknown_ns > 0),
            timeCell(row.cpu_only_ns, 'cpu_only_ns'),
            timeCell(row.idle_ns + row.waiting_ns, 'idle_ns'),
          ])));
  result.classList.add('lane');
  return result;
}

export function lanes(process: ReportProcess): HTMLElement[] {
  if (process.lanes.length === 0) return [];
  return [element('details', {}, [
    element('summary', {text: `Further threads that annotate: ${process.lanes.length}`}),
    ...process.lanes.map(laneTable),
  ])];
}
