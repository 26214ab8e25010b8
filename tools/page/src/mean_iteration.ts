// SPDX-License-Identifier: Apache-2.0
//
// Where a mean iteration goes, or the whole run where none are known: one bar of its operations, and
// a table with what the GPU did in each.
import {ReportProcess} from './data';
import {element, listed, nameCell, othersName, part, rowOf, sumOf, table, timeCell} from './dom';
import {bounded, exactNs, formatShare, formatTime, share} from './format';
import {inkOn, Palette} from './palette';

interface Row {
  operation: string;
  wall_ns: number;
  gpu_busy_ns: number;
  unknown_ns: number;
  fill: number|null;
}

interface Rows {
  title: string;
  each: number;  // iterations that the times are sums of
  wall_ns: number;
  rows: Row[];
}

const LETTERS = 28;  // of a name in the table
const MOST = 8;
const ROOM = 40;  // characters that the bar has room for

function fillOf(process: ReportProcess, operation: string): number|null {
  if (process.sm_fill_is_upper_bound) return null;
  const row = process.operations.find((one) => one.operation === operation);
  return row && row.gpu_busy_ns > 0 && row.sm_filled_ns > 0 ?
      share(row.sm_filled_ns, row.gpu_busy_ns) :
      null;
}

function rowsOf(process: ReportProcess): Rows {
  const {iterations} = process;
  const counted = iterations !== null && iterations.count > 0;
  const all =
      counted ? iterations.operations : process.operations.filter((row) => !row.other_threads_only);
  const {shown, others} = listed<Row>(
      all.map(
          ({operation, wall_ns, gpu_busy_ns, unknown_ns}) =>
              ({operation, wall_ns, gpu_busy_ns, unknown_ns, fill: fillOf(process, operation)})),
      MOST);
  if (others.length > 0) {
    shown.push({
      operation: othersName(others),
      wall_ns: sumOf(others, (row) => row.wall_ns),
      gpu_busy_ns: sumOf(others, (row) => row.gpu_busy_ns),
      unknown_ns: sumOf(others, (row) => row.unknown_ns),
      fill: null,
    });
  }
  return counted ? {
    title:
        `Where an iteration goes: ${formatTime(iterations.mean_ns)}, mean of ${iterations.count}`,
    each: iterations.count,
    wall_ns: iterations.total_ns,
    rows: shown,
  } :
                   {
                     title: `Where the run goes: ${formatTime(process.span_ns)}`,
                     each: 1,
                     wall_ns: process.span_ns,
                     rows: shown,
                   };
}

// The GPU's part of an operation in its colour, the rest of it paler.
function bar({rows, wall_ns}: Rows, palette: Palette): HTMLElement {
  const said = rows.map((row) => `${row.operation} ${formatShare(share(row.wall_ns, wall_ns))}`);
  const node = element(
      'div',
      {class: 'bar tall iteration', attributes: {role: 'img', 'aria-label': said.join(', ')}});
  for (const row of rows) {
    const color = palette.ofScope(row.operation);
    const add = (ns: number, what: string, paler: boolean): void => {
      if (ns <= 0) return;
      const piece =
          element('span', {title: `${row.operation}, ${what}: ${formatShare(share(ns, wall_ns))}`});
      piece.style.width = `${share(ns, wall_ns) * 100}%`;
      piece.style.background = color;
      if (paler) piece.classList.add('paler');
      const label = paler || share(ns, wall_ns) * ROOM < row.operation.length ? '' : row.operation;
      if (label) {
        const text = element('b', {text: label});
        text.style.color = inkOn(color);
        piece.append(text);
      }
      node.append(piece);
    };
    add(row.gpu_busy_ns, 'GPU busy', false);
    add(row.wall_ns - row.gpu_busy_ns, 'GPU not busy', true);
  }
  return node;
}

function nameOf(row: Row, limiting: string, palette: Palette): HTMLElement {
  const cell = nameCell(row.operation, '', LETTERS);
  const swatch = element('span', {class: 'swatch', attributes: {'aria-hidden': 'true'}});
  swatch.style.background = palette.ofScope(row.operation);
  cell.prepend(swatch);
  if (limiting !== '' && row.operation === limiting) {
    cell.append(element('small', {text: ' limits the run'}));
  }
  return cell;
}

// |limiting|: the operation that limits the run; empty: none does.
export function meanIteration(
    process: ReportProcess, limiting: string, palette: Palette): HTMLElement {
  const all = rowsOf(process);
  const each = (ns: number): number => Math.floor(ns / all.each);
  const result = table(
      all.title, ['operation', 'time', 'share', 'GPU busy', 'GPU idle', 'filled'],
      all.rows.map((row) => {
        const idle = Math.max(0, row.wall_ns - row.gpu_busy_ns - row.unknown_ns);
        const busy = element('td', {
          class: 'figure',
          text: bounded(
              process.gpu_busy_is_upper_bound && row.gpu_busy_ns > 0, row.unknown_ns > 0,
              formatShare(share(row.gpu_busy_ns, row.wall_ns))),
          title: exactNs(each(row.gpu_busy_ns)),
        });
        busy.dataset.key = 'gpu_busy_ns';
        busy.dataset.ns = String(each(row.gpu_busy_ns));
        return rowOf(row.operation, [
          nameOf(row, limiting, palette),
          timeCell(each(row.wall_ns), 'wall_ns'),
          element('td', {class: 'figure', text: formatShare(share(row.wall_ns, all.wall_ns))}),
          busy,
          timeCell(each(idle), 'idle_ns'),
          element(
              'td', {class: 'figure', text: row.fill === null ? '\u2013' : formatShare(row.fill)}),
        ]);
      }));
  result.classList.add('mean-iteration');
  return part(all.title, [bar(all, palette), result]);
}
