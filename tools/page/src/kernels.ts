// SPDX-License-Identifier: Apache-2.0
//
// Device work by the operation whose calls launched it: how long, and how much of the device it
// could fill.
import {DeviceWork, Kernel, OperationKernels, PageProcess} from './data';
import {countCell, element, listed, othersName, sumOf, table, timeCell} from './dom';
import {formatShare, share} from './format';

const HEADS = ['device work', 'class', 'time', 'times', 'mean', 'median', 'p95', 'SM fill'];

// |fills|: there are kernels in it; copies fill nothing.
function fillCell(work: DeviceWork, fills: boolean): HTMLElement {
  const fill = formatShare(share(work.sm_filled_ns, work.sum_ns));
  const cell = element('td', {
    class: 'figure',
    text: !fills                    ? '\u2013' :
        work.sm_fill_is_upper_bound ? `\u2264 ${fill}` :
                                      fill,
    title: work.sm_fill_is_upper_bound ?
        'work of unknown geometry was taken as filling the device' :
        '',
  });
  cell.dataset.key = 'sm_filled_ns';
  cell.dataset.ns = String(work.sm_filled_ns);
  return cell;
}

function operationRow(row: OperationKernels): HTMLElement {
  const blank = (): HTMLElement => element('td', {class: 'figure'});
  const node = element('tr', {class: 'group'}, [
    element(
        'th',
        {class: 'name', text: row.operation, title: row.operation, attributes: {scope: 'row'}}),
    element('td'), timeCell(row.sum_ns, 'sum_ns'), countCell(row.count), blank(), blank(), blank(),
    fillCell(row, row.kernels.some((kernel) => kernel.class !== 'copy'))
  ]);
  node.dataset.row = row.operation;
  return node;
}

// What a graph that was recorded as a whole runs.
function titleOf(kernel: Kernel): string {
  const nodes = (kernel.nodes ??
                 []).map((node) => `${node.count} x ${node.name}, captured in ${node.captured_in}`);
  return [kernel.name, ...nodes].join('\n');
}

function kernelRow(operation: string, kernel: Kernel): HTMLElement {
  const node = element('tr', {}, [
    element('th', {
      class: 'name member',
      text: kernel.name,
      title: titleOf(kernel),
      attributes: {scope: 'row'},
    }),
    element('td', {text: kernel.class}), timeCell(kernel.sum_ns, 'sum_ns'), countCell(kernel.count),
    timeCell(kernel.mean_ns, 'mean_ns'), timeCell(kernel.median_ns, 'median_ns'),
    timeCell(kernel.p95_ns, 'p95_ns'), fillCell(kernel, kernel.class !== 'copy')
  ]);
  node.dataset.row = `${operation} ${kernel.name}`;
  return node;
}

function moreRow(row: OperationKernels): HTMLElement[] {
  const more = row.kernels_total - row.kernels.length;
  if (more <= 0) return [];
  const text = `and ${more} more with less time: gpubound report --json`;
  return [element(
      'tr', {}, [element('td', {class: 'note member', text, attributes: {colspan: '8'}})])];
}

// Operations with less time than those that are listed.
function othersRow(others: OperationKernels[]): HTMLElement[] {
  if (others.length === 0) return [];
  const sums: OperationKernels = {
    operation: othersName(others),
    count: sumOf(others, (row) => row.count),
    sum_ns: sumOf(others, (row) => row.sum_ns),
    sm_filled_ns: sumOf(others, (row) => row.sm_filled_ns),
    sm_fill_is_upper_bound: others.some((row) => row.sm_fill_is_upper_bound),
    kernels_total: 0,
    kernels: others.flatMap((row) => row.kernels),
  };
  return [operationRow(sums)];
}

export function kernels(page: PageProcess): HTMLElement {
  if (page.operation_kernels.length === 0)
    return element('p', {text: 'No device work was recorded.'});
  const {shown, others} = listed(page.operation_kernels);
  const rows = shown.flatMap(
      (row) =>
          [operationRow(row), ...row.kernels.map((kernel) => kernelRow(row.operation, kernel)),
           ...moreRow(row)]);
  rows.push(...othersRow(others));
  const result = table('Kernels and copies by the operation that launched them', HEADS, rows);
  result.classList.add('kernels');
  return result;
}
