// SPDX-License-Identifier: Apache-2.0
//
// Threads that annotate beside the reporting one.
import {Lane, ReportProcess} from './data';
import {element, nameCell, rowOf, table, timeCell} from './dom';

function laneTable(lane: Lane): HTMLElement {
  const name = `thread ${lane.thread} ${lane.tid}`;
  const result = table(
      name, [name, 'wall', 'GPU busy', 'CPU only', 'idle'],
      lane.operations.map(
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
