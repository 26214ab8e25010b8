// SPDX-License-Identifier: Apache-2.0
//
// Where the time went: a stacked bar for each operation, layer or phase, with the figures beside
// it.
import {Cell, Operation, ReportProcess} from './data';
import {element, listed, nameCell, othersName, table, timeCell} from './dom';
import {exactNs, formatShare, formatTime, share} from './format';
import {Column, COLUMNS} from './palette';

const LETTERS = 26;  // of a name
const ROOM = 44;     // letters that the longest bar has room for

export type Grouping = 'operation'|'layer'|'phase'|'operation and layer';
export const GROUPINGS: Grouping[] = ['operation', 'layer', 'phase', 'operation and layer'];

type Times = Record<Column['key']|'wall_ns'|'gpu_busy_ns', number>&{gpu_caused_ns?: number};
interface Row {
  name: string;
  times: Times;
  inherited: boolean;
  isUpperBound: boolean;  // GPU busy
  causedIsUpperBound: boolean;
  causedIsLowerBound: boolean;
  scopesMissing: boolean;
}

// The columns of a cell (SPEC: the cells partition the span, and so do the columns).
function addCell(cell: Cell, times: Times): void {
  times.wall_ns += cell.ns;
  const waits = cell.layer === 'cuda_sync' || cell.layer === 'wait';
  if (cell.gpu === 'unknown') {
    times.unknown_ns += cell.ns;
  } else if (cell.gpu === 'idle') {
    times.waiting_ns += cell.waiting_ns;
    times[waits ? 'idle_ns' : 'cpu_only_ns'] += cell.ns - cell.waiting_ns;
  } else {
    times[waits ? 'gpu_only_ns' : 'cpu_gpu_ns'] += cell.ns;
    times.gpu_busy_ns += cell.ns;
  }
}

export const NO_TIME: Times = {
  wall_ns: 0,
  cpu_only_ns: 0,
  cpu_gpu_ns: 0,
  gpu_only_ns: 0,
  waiting_ns: 0,
  idle_ns: 0,
  unknown_ns: 0,
  gpu_busy_ns: 0,
};

export function rowsOf(process: ReportProcess, grouping: Grouping): Row[] {
  if (grouping === 'operation') {
    const rows = process.operations.filter((row: Operation) => !row.other_threads_only);
    return rows.map((row: Operation) => ({
                      name: row.operation,
                      times: row,
                      inherited: row.inherited,
                      isUpperBound: row.gpu_busy_is_upper_bound,
                      causedIsUpperBound: row.gpu_caused_is_upper_bound,
                      causedIsLowerBound: row.gpu_caused_is_lower_bound,
                      scopesMissing: row.scopes_missing,
                    }));
  }
  const scopesMissing = process.operations.some((row) => row.scopes_missing);
  const rows = new Map<string, Row>();
  for (const cell of process.cells) {
    const name = grouping === 'layer' ? cell.layer :
        grouping === 'phase'          ? cell.phase :
                                        `${cell.operation} \u203a ${cell.layer}`;
    let row = rows.get(name);
    if (!row) {
      row = {
        name,
        times: {...NO_TIME},
        inherited: false,
        isUpperBound: false,
        causedIsUpperBound: false,
        causedIsLowerBound: false,
        scopesMissing
      };
      rows.set(name, row);
    }
    addCell(cell, row.times);
    row.isUpperBound ||= cell.gpu_busy_is_upper_bound;
  }
  return [...rows.values()].sort((a, b) => b.times.wall_ns - a.times.wall_ns);
}

export function longestRows(rows: Row[]): Row[] {
  const {shown, others: rest} = listed([...rows].sort((a, b) => b.times.wall_ns - a.times.wall_ns));
  if (rest.length === 0) return rows;
  const times: Times = {...NO_TIME};
  for (const row of rest) {
    for (const key of Object.keys(NO_TIME) as (keyof typeof NO_TIME)[]) {
      times[key] = (times[key] ?? 0) + (row.times[key] ?? 0);
    }
  }
  return [
    ...shown, {
      name: othersName(rest),
      times,
      inherited: false,
      isUpperBound: rest.some((row) => row.isUpperBound),
      causedIsUpperBound: rest.some((row) => row.causedIsUpperBound),
      causedIsLowerBound: rest.some((row) => row.causedIsLowerBound),
      scopesMissing: rest.some((row) => row.scopesMissing),
    }
  ];
}

function stackedBar(row: Row, scaleNs: number): HTMLElement {
  const said = COLUMNS.filter((c) => row.times[c.key] > 0)
                   .map((c) => `${c.name} ${formatTime(row.times[c.key])}`)
                   .join(', ');
  const bar = element(
      'div', {class: 'bar', attributes: {role: 'img', 'aria-label': `${row.name}: ${said}`}});
  for (const column of COLUMNS) {
    const ns = row.times[column.key];
    if (ns <= 0) continue;
    const piece = element('span', {
      class: column.css,
      title: `${column.name}: ${formatTime(ns)}, ${formatShare(share(ns, row.times.wall_ns))} of ${
          row.name} (${exactNs(ns)})`,
    });
    piece.style.width = `${share(ns, scaleNs) * 100}%`;
    if (share(ns, scaleNs) * ROOM >= column.name.length + 2)
      piece.append(element('b', {text: column.name}));
    bar.append(piece);
  }
  return bar;
}

// What the columns and colours that |rows| have time of mean.
function legend(rows: Row[], caused: boolean): HTMLElement {
  const seen = COLUMNS.filter(({key}) => rows.some(({times}) => times[key] > 0));
  return element('ul', {class: 'legend'}, [
    ...seen.map(
        (column) => element(
            'li', {title: column.help},
            [
              element('span', {class: `swatch ${column.css}`}),
              `${column.name}: ${column.help}`,
            ])),
    caused ? element('li', {text: 'caused: GPU time of the work that the operation launched'}) :
             null,
  ]);
}

export function breakdown(process: ReportProcess, grouping: Grouping): HTMLElement {
  const rows = longestRows(rowsOf(process, grouping));
  const longest = Math.max(1, ...rows.map((row) => row.times.wall_ns));
  const nodes = rows.map((row) => {
    const name = nameCell(row.name, '', LETTERS);
    if (row.inherited)
      name.append(element(
          'small',
          {text: ' inherited', title: 'the operation of a process that waited for this one'}));
    const wall = timeCell(row.times.wall_ns, 'wall_ns');
    if (row.scopesMissing) {
      wall.prepend('~');
      wall.title += ', of a thread some of whose scopes are missing: see the notes';
    }
    const node = element('tr', {}, [
      name,
      element('td', {class: 'bar-cell'}, [stackedBar(row, longest)]),
      wall,
      element(
          'td', {class: 'figure', text: formatShare(share(row.times.wall_ns, process.span_ns))}),
      timeCell(row.times.gpu_busy_ns, 'gpu_busy_ns', row.isUpperBound, row.times.unknown_ns > 0),
      ...(grouping !== 'operation' ? [] :
              row.times.gpu_caused_ns === undefined ?
                                     [element('td', {class: 'figure', text: '\u2013'})] :
                                     [timeCell(
                                         row.times.gpu_caused_ns, 'gpu_caused_ns',
                                         row.causedIsUpperBound, row.causedIsLowerBound)]),
      ...COLUMNS.map((column) => timeCell(row.times[column.key], column.key)),
    ]);
    node.dataset.row = row.name;
    return node;
  });
  const heads = [
    grouping, '', 'wall', 'of span', 'GPU busy', ...(grouping === 'operation' ? ['caused'] : []),
    ...COLUMNS.map((column) => column.name)
  ];
  const result = table(`Time by ${grouping}`, heads, nodes);
  result.classList.add('breakdown');
  const caused = grouping === 'operation' && rows.some(({times}) => (times.gpu_caused_ns ?? 0) > 0);
  return element('div', {}, [legend(rows, caused), result]);
}
