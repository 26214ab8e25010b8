// SPDX-License-Identifier: Apache-2.0
//
// What the figures would have been without the profiler, with their 95 % intervals.
import {Corrected, Operation, PageProcess, ReportProcess, unknownNs} from './data';
import {element, listed, nameCell, othersName, rowOf, sumOf, table, timeCell} from './dom';
import {exactNs, formatTime} from './format';

interface Figure {
  key: string;
  recorded: number|undefined;
  ns: number;
  low: number;
  high: number;
  isMost?: boolean;  // bounds, as those of what was recorded
  isLeast?: boolean;
}

function cells(figure: Figure): HTMLElement[] {
  const {key, recorded, ns, low, high, isMost, isLeast} = figure;
  const interval = element('td', {
    class: 'figure soft',
    text: low === high ? '' : `${formatTime(low)} to ${formatTime(high)}`,
    title: low === high ? '' : `${exactNs(low)} to ${exactNs(high)}`,
  });
  interval.dataset.key = `${key}_interval`;
  interval.dataset.low = String(low);
  interval.dataset.high = String(high);
  return [
    recorded === undefined ? element('td', {class: 'figure'}) :
                             timeCell(recorded, `${key}_recorded`, isMost, isLeast),
    timeCell(ns, key, isMost, isLeast),
    interval,
  ];
}

interface OperationFigures {
  name: string;
  wall: Figure;
  busy: Figure;
}

// Intervals do not add up, so that of others together is left out.
function sumFigure(figures: Figure[]): Figure {
  const ns = sumOf(figures, (figure) => figure.ns);
  const recorded = sumOf(figures, (figure) => figure.recorded ?? 0);
  return {
    key: figures[0].key,
    recorded,
    ns,
    low: ns,
    high: ns,
    isMost: figures.some((figure) => figure.isMost),
    isLeast: figures.some((figure) => figure.isLeast),
  };
}

function operationFigures(process: ReportProcess, corrected: Corrected): OperationFigures[] {
  const recorded =
      new Map<string, Operation>(process.operations.map((row) => [row.operation, row]));
  const all = corrected.operations.filter((one) => !one.other_threads_only).map((operation) => {
    const before = recorded.get(operation.operation);
    return {
      name: operation.operation,
      wall: {
        key: 'wall_ns',
        recorded: before?.wall_ns,
        ns: operation.wall_ns,
        low: operation.wall_ns_low,
        high: operation.wall_ns_high,
      },
      busy: {
        key: 'gpu_busy_ns',
        recorded: before?.gpu_busy_ns,
        ns: operation.gpu_busy_ns,
        low: operation.gpu_busy_ns_low,
        high: operation.gpu_busy_ns_high,
        isMost: operation.gpu_busy_is_upper_bound,
        isLeast: operation.unknown_ns > 0,
      },
    };
  });
  const {shown, others} = listed<OperationFigures>(all);
  if (others.length > 0) {
    shown.push({
      name: othersName(others),
      wall: sumFigure(others.map(({wall}) => wall)),
      busy: sumFigure(others.map(({busy}) => busy)),
    });
  }
  return shown;
}

function rows(process: ReportProcess, corrected: Corrected): HTMLElement[] {
  const row = (name: string, wall: Figure, busy: Figure, css = ''): HTMLElement =>
      rowOf(name, [nameCell(name, css), ...cells(wall), ...cells(busy)]);
  return [
    row('whole span', {
      key: 'wall_ns',
      recorded: process.span_ns,
      ns: corrected.span_ns,
      low: corrected.span_ns_low,
      high: corrected.span_ns_high,
    },
        {
          key: 'gpu_busy_ns',
          recorded: process.gpu_busy_ns,
          ns: corrected.gpu_busy_ns,
          low: corrected.gpu_busy_ns_low,
          high: corrected.gpu_busy_ns_high,
          isMost: process.gpu_busy_is_upper_bound,
          isLeast: unknownNs(process) > 0,
        }),
    ...operationFigures(process, corrected)
        .map(({name, wall, busy}) => row(name, wall, busy, 'member')),
  ];
}

export function corrected(process: ReportProcess, page: PageProcess): HTMLElement[] {
  if (!process.corrected) {
    const why = process.corrected_why_not;
    return why ? [element('p', {class: 'note', text: `Not corrected for profiling: ${why}`})] : [];
  }
  const result = table(
      'Figures without what the profiler cost',
      ['', 'wall, recorded', 'corrected', '95 %', 'GPU busy, recorded', 'corrected', '95 %'],
      rows(process, process.corrected));
  result.classList.add('corrected');
  return [element('p', {class: 'said', text: page.correction}), result];
}
