// SPDX-License-Identifier: Apache-2.0
//
// Device work by kernel and the operation whose calls launched it: how long, and how much of the
// device it could fill. Rows can be sorted, filtered and copied.
import {DeviceWork, Kernel, PageProcess} from './data';
import {button, countCell, element, nameCell, nameText, rowOf, shareCell, sumOf, table, timeCell} from './dom';
import {counted, formatShare, share} from './format';

interface Row extends DeviceWork {
  operation: string;
  name: string;
  kernel: Kernel|null;  // null: what several kernels come to
  fills: boolean;       // there are kernels in it; copies fill nothing
}

const LONGEST_NAME = 52;  // letters
const LONGEST_OPERATION = 28;

interface Column {
  head: string;
  css: string;
  cell: (row: Row, whole: number) => HTMLElement;
  of: (row: Row, whole: number) => number | string;  // what it is sorted by, and copied as
}

// A kernel that nothing is known of but sums has no lengths.
const lengthCell = (row: Row, key: 'mean_ns'|'median_ns'|'p95_ns'): HTMLElement =>
    row.kernel ? timeCell(row.kernel[key], key) : element('td', {class: 'figure', text: '\u2013'});
const lengthOf = (row: Row, key: 'mean_ns'|'median_ns'|'p95_ns'): number =>
    row.kernel ? row.kernel[key] : 0;

function fillCell(row: Row): HTMLElement {
  const fill = formatShare(share(row.sm_filled_ns, row.sum_ns));
  const cell = element('td', {
    class: 'figure',
    text: !row.fills               ? '\u2013' :
        row.sm_fill_is_upper_bound ? `\u2264 ${fill}` :
                                     fill,
    title: row.sm_fill_is_upper_bound ? 'work of unknown geometry was taken as filling the device' :
                                        '',
  });
  cell.dataset.key = 'sm_filled_ns';
  cell.dataset.ns = String(row.sm_filled_ns);
  return cell;
}

// A bar that the figure beside it says in words.
function shareBar(row: Row, whole: number): HTMLElement {
  const cell = shareCell(share(row.sum_ns, whole));
  const bar = element('span', {class: 'share-bar', attributes: {'aria-hidden': 'true'}});
  bar.style.width = `${share(row.sum_ns, whole) * 100}%`;
  cell.append(bar);
  return cell;
}

// What a graph that was recorded as a whole runs.
function titleOf(kernel: Kernel): string {
  const nodes = (kernel.nodes ??
                 []).map((node) => `${node.count} x ${node.name}, captured in ${node.captured_in}`);
  return [kernel.name, ...nodes].join('\n');
}

function kernelCell(row: Row): HTMLElement {
  const cell = nameCell(row.name, '', LONGEST_NAME);
  if (row.kernel?.nodes) cell.title = titleOf(row.kernel);
  return cell;
}

const COLUMNS: Column[] = [
  {head: 'device work', css: '', cell: kernelCell, of: (row) => row.name},
  {
    head: 'operation',
    css: '',
    cell: (row) => element(
        'td', {class: 'name', title: row.operation}, [nameText(row.operation, LONGEST_OPERATION)]),
    of: (row) => row.operation
  },
  {
    head: 'class',
    css: '',
    cell: (row) => element('td', {text: row.kernel?.class ?? ''}),
    of: (row) => row.kernel?.class ?? ''
  },
  {
    head: 'time',
    css: 'figure',
    cell: (row) => timeCell(row.sum_ns, 'sum_ns'),
    of: (row) => row.sum_ns
  },
  {head: 'share', css: 'figure', cell: shareBar, of: (row, whole) => share(row.sum_ns, whole)},
  {head: 'times', css: 'figure', cell: (row) => countCell(row.count), of: (row) => row.count},
  {
    head: 'mean',
    css: 'figure',
    cell: (row) => lengthCell(row, 'mean_ns'),
    of: (row) => lengthOf(row, 'mean_ns')
  },
  {
    head: 'median',
    css: 'figure',
    cell: (row) => lengthCell(row, 'median_ns'),
    of: (row) => lengthOf(row, 'median_ns')
  },
  {
    head: 'p95',
    css: 'figure',
    cell: (row) => lengthCell(row, 'p95_ns'),
    of: (row) => lengthOf(row, 'p95_ns')
  },
  {
    head: 'SM fill',
    css: 'figure',
    cell: fillCell,
    of: (row) => (row.fills ? share(row.sm_filled_ns, row.sum_ns) : -1)
  },
];
const TIME = COLUMNS.findIndex(({head}) => head === 'time');

// Every kernel that the page has, and of each operation what the others come to.
function rowsOf(page: PageProcess): Row[] {
  return page.operation_kernels.flatMap((all) => {
    const rows: Row[] = all.kernels.map((kernel) => ({
                                          ...kernel,
                                          operation: all.operation,
                                          kernel,
                                          fills: kernel.class !== 'copy',
                                        }));
    const more = all.kernels_total - all.kernels.length;
    if (more <= 0) return rows;
    const rest = (of: (work: DeviceWork) => number): number => of(all) - sumOf(all.kernels, of);
    return [
      ...rows, {
        operation: all.operation,
        name: `(${more} more with less time)`,
        kernel: null,
        fills: true,
        count: rest(({count}) => count),
        sum_ns: rest(({sum_ns}) => sum_ns),
        sm_filled_ns: rest(({sm_filled_ns}) => sm_filled_ns),
        sm_fill_is_upper_bound: all.sm_fill_is_upper_bound,
      }
    ];
  });
}

function sumRow(rows: Row[], name: string): Row {
  return {
    operation: '',
    name,
    kernel: null,
    fills: rows.some(({fills}) => fills),
    count: sumOf(rows, ({count}) => count),
    sum_ns: sumOf(rows, ({sum_ns}) => sum_ns),
    sm_filled_ns: sumOf(rows, ({sm_filled_ns}) => sm_filled_ns),
    sm_fill_is_upper_bound: rows.some((row) => row.sm_fill_is_upper_bound),
  };
}

// With what a spreadsheet would take for an end of a cell in quotes.
const csvCell = (value: number|string): string =>
    typeof value === 'number' ? String(value) : `"${value.replace(/"/g, '""')}"`;

function csvOf(rows: Row[], whole: number): string {
  const heads = COLUMNS.map(
      ({head, css}) =>
          csvCell(css && !['times', 'share', 'SM fill'].includes(head) ? `${head} (ns)` : head));
  const lines = rows.map((row) => COLUMNS.map(({of}) => csvCell(of(row, whole))).join(','));
  return `${[heads.join(','), ...lines].join('\n')}\n`;
}

const SHOWN_AT_FIRST = 40;

class KernelTable {
  readonly node = element('div', {class: 'kernels'});
  private readonly rows: Row[];
  private readonly whole: number;
  private readonly holder = element('div');
  private readonly filter = element('input', {
    class: 'search',
    attributes: {
      type: 'search',
      placeholder: 'Filter by name',
      'aria-label': 'Filter kernels by name or operation'
    }
  });
  private readonly copied = element('output', {class: 'note', attributes: {'aria-live': 'polite'}});
  private sortedBy = TIME;
  private ascending = false;
  private most = SHOWN_AT_FIRST;

  constructor(page: PageProcess) {
    this.rows = rowsOf(page);
    this.whole = sumOf(this.rows, ({sum_ns}) => sum_ns);
    this.filter.addEventListener('input', () => this.lay());
    this.node.append(
        element(
            'div', {class: 'tools'},
            [
              this.filter,
              button(
                  'Copy as CSV', () => void this.copy(),
                  'The rows that the filter leaves, in this order'),
              this.copied,
            ]),
        this.holder);
    this.lay();
  }

  private wanted(): Row[] {
    const text = this.filter.value.trim().toLowerCase();
    const {of} = COLUMNS[this.sortedBy];
    const sign = this.ascending ? 1 : -1;
    return this.rows
        .filter(({name, operation}) => `${name}\n${operation}`.toLowerCase().includes(text))
        .map((row): [number|string, Row] => [of(row, this.whole), row])
        .sort(
            ([a], [b]) => sign *
                (a < b     ? -1 :
                     a > b ? 1 :
                             0))
        .map(([, row]) => row);
  }

  private async copy(): Promise<void> {
    const rows = this.wanted();
    try {
      await navigator.clipboard.writeText(csvOf(rows, this.whole));
      this.copied.textContent = `${counted(rows.length, 'row')} copied`;
    } catch {
      this.copied.textContent = 'The browser does not let this page copy.';
    }
  }

  private sortBy(column: number): void {
    this.ascending = column === this.sortedBy ? !this.ascending : COLUMNS[column].css === '';
    this.sortedBy = column;
    this.lay();
    this.holder.querySelectorAll<HTMLElement>('thead button')[column]?.focus();
  }

  private lay(): void {
    const rows = this.wanted();
    const fits = rows.length <= this.most + 1;
    const shown = fits ? rows : rows.slice(0, this.most);
    const others = rows.slice(shown.length);
    if (others.length > 0) shown.push(sumRow(others, `(${others.length} others)`));
    const result = table(
        'Kernels and copies by the operation that launched them', COLUMNS.map(({head}) => head),
        shown.map(
            (row) => rowOf(
                `${row.operation} ${row.name}`.trim(),
                COLUMNS.map(({cell}) => cell(row, this.whole)))));
    result.querySelectorAll('thead th').forEach((head, i) => {
      const order = i !== this.sortedBy ? 'none' : this.ascending ? 'ascending' : 'descending';
      head.setAttribute('aria-sort', order);
      const mark = {none: '', ascending: ' \u25b4', descending: ' \u25be'}[order];
      head.replaceChildren(button(`${COLUMNS[i].head}${mark}`, () => this.sortBy(i)));
    });
    this.holder.replaceChildren(result);
    if (others.length > 0) {
      this.holder.append(button(`Show all ${rows.length}`, () => {
        this.most = Infinity;
        this.lay();
      }));
    }
  }
}

export function kernels(page: PageProcess): HTMLElement {
  if (page.operation_kernels.length === 0)
    return element('p', {text: 'No device work was recorded.'});
  return new KernelTable(page).node;
}
