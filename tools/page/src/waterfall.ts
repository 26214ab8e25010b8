// SPDX-License-Identifier: Apache-2.0
//
// From the first group's time for the same work to another group's, operation by operation: each
// bar begins where the one before ended. What differs most comes first, of many the rest is one bar,
// and what does not differ has none.
import {ComparedFigure, ComparisonData} from './comparison_data';
import {element, listed, nameCell, othersName, sumOf, table} from './dom';
import {exactNs, formatTime} from './format';

const MOST_BARS = 8;
const LETTERS = 64;        // of a name
const LEAST_STEP = 0.001;  // of the longer time

interface Bar {
  name: string;
  from: number;
  to: number;
  total: boolean;
}

const valueOf = (figure: ComparedFigure, group: number): number => figure.groups[group].value ?? 0;

function barsOf(figures: ComparedFigure[], group: number, names: string[]): Bar[] {
  const change = (figure: ComparedFigure): number => valueOf(figure, group) - valueOf(figure, 0);
  const sorted = [...figures].sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)));
  const [before, after] = [0, group].map((of) => sumOf(figures, (figure) => valueOf(figure, of)));
  const isSeen = (by: number): boolean => Math.abs(by) >= LEAST_STEP * Math.max(before, after);
  const {shown, others} = listed(sorted.filter((figure) => isSeen(change(figure))), MOST_BARS);
  const bars: Bar[] = [{name: names[0], from: 0, to: before, total: true}];
  let at = before;
  const add = (name: string, by: number): void => {
    bars.push({name, from: at, to: at + by, total: false});
    at += by;
  };
  for (const figure of shown) add(figure.name, change(figure));
  if (others.length > 0) add(othersName(others), sumOf(others, change));
  bars.push({name: names[group], from: 0, to: after, total: true});
  return bars;
}

function rowOf(bar: Bar, whole: number): HTMLElement {
  const by = bar.to - bar.from;
  const piece = element('span', {class: bar.total ? 'differs' : by < 0 ? 'better' : 'worse'});
  piece.style.left = `${Math.min(bar.from, bar.to) / whole * 100}%`;
  piece.style.width = `${Math.abs(by) / whole * 100}%`;
  const sign = bar.total ? '' : by < 0 ? '\u2212' : '+';
  const figure = element('td', {
    class: 'figure',
    text: `${sign}${formatTime(Math.round(Math.abs(by)))}`,
    title: exactNs(Math.round(by)),
  });
  figure.dataset.ns = String(by);
  const row = element('tr', {}, [
    nameCell(bar.name, '', LETTERS),
    figure,
    element(
        'td', {class: 'bar-cell'},
        [element('div', {class: 'interval step', attributes: {'aria-hidden': 'true'}}, [piece])]),
  ]);
  row.dataset.step = bar.name;
  return row;
}

// Null where operations are not compared, or take no time.
export function waterfall(data: ComparisonData, group: number, unit: string): HTMLElement|null {
  const figures = data.figures.filter(({figure}) => figure === 'operation_wall');
  const bars = barsOf(figures, group, data.groups.map(({name}) => name));
  const whole = Math.max(...bars.flatMap(({from, to}) => [from, to]));
  if (figures.length === 0 || whole <= 0) return null;
  const result = table(
      `From ${data.groups[0].name} to ${data.groups[group].name}`, [unit, 'time', ''],
      bars.map((bar) => rowOf(bar, whole)));
  result.classList.add('waterfall');
  return result;
}
