// SPDX-License-Identifier: Apache-2.0
//
// Where the threads of operations were: on a CPU, ready without one, or blocked.
import {CpuTime, Operation, ReportProcess} from './data';
import {element, listed, nameCell, rowOf, table, timeCell} from './dom';
import {formatShare} from './format';

type Row = Operation&{cpu: CpuTime};

function cpuRow(row: Row, thread: string): HTMLElement {
  const {cpu} = row;
  const name = nameCell(row.operation);
  if (cpu.had_no_core) {
    name.append(element('small', {
      text: ` no core for ${formatShare(cpu.ready_share)}`,
      title: 'of the time in which it could have run. Give the run more cores, or start fewer ' +
          'processes and threads (OMP_NUM_THREADS).',
    }));
  }
  return rowOf(`${thread} ${row.operation}`, [
    name,
    element('td', {class: 'name', text: thread}),
    timeCell(row.wall_ns, 'wall_ns'),
    timeCell(cpu.on_cpu_ns, 'on_cpu_ns'),
    timeCell(cpu.ready_ns, 'ready_ns'),
    timeCell(cpu.blocked_ns, 'blocked_ns'),
    timeCell(cpu.unknown_ns, 'unknown_ns'),
    timeCell(cpu.error_ns, 'error_ns'),
  ]);
}

function rowsOf(operations: Operation[], thread: string): HTMLElement[] {
  const known = operations.filter((row): row is Row => row.cpu !== null && row.wall_ns > 0);
  const longest = known.sort((a, b) => b.wall_ns - a.wall_ns);
  return listed(longest).shown.map((row) => cpuRow(row, thread));
}

export function cpuTime(process: ReportProcess): HTMLElement[] {
  const rows = [
    ...rowsOf(process.operations, 'primary'),
    ...process.lanes.flatMap((lane) => rowsOf(lane.operations, `${lane.thread} ${lane.tid}`)),
  ];
  if (rows.length === 0) return [];
  const result = table(
      'Where the CPU was',
      ['operation', 'thread', 'wall', 'on CPU', 'ready', 'blocked', 'unknown', '\u00b1'], rows);
  result.classList.add('cpu-time');
  return [
    result,
    element('p', {
      class: 'note',
      text:
          'Estimated from looks at each thread: a time can be off by as much as the last column ' +
          'says. Ready: the thread could run, and no core was free for it.',
    }),
  ];
}
