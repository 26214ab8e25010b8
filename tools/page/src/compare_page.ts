// SPDX-License-Identifier: Apache-2.0
//
// How runs differ: a table for each group against the first, with an interval beside each
// difference. Only what is significant is coloured, and marked by a word and a sign as well.
import {ComparedFigure, ComparedValue, ComparisonData, NO_OPERATION} from './data';
import {element, section, table} from './dom';
import {exactNs, formatShare, formatTime} from './format';
import {causeText} from './headline';
import {themeButton} from './theme';

const TITLES: Record<string, string> = {
  'run_wall': 'Whole run',
  'iteration_median': 'Iteration, median',
  'iteration_mean': 'Iteration, mean',
  'gpu_busy': 'GPU busy',
};
const KINDS: [string, string][] = [
  ['operation_wall', 'Wall time of operations'],
  ['operation_gpu_busy', 'GPU busy in operations'],
  ['gpu_idle', 'GPU idle by cause'],
];
const RESAMPLED: Record<string, string> = {
  'runs': '95 % bootstrap intervals over runs',
  'iterations': '95 % bootstrap intervals over iterations',
  'nothing': 'no interval: that takes several runs of each, or more iterations',
};

type Verdict = 'better'|'worse'|'differs';

// Less time is better; so is a busier GPU. How the GPU's own time changes is neither.
export function verdictOf(figure: string, value: ComparedValue): Verdict|null {
  if (!value.significant) return null;
  if (figure === 'operation_gpu_busy') return 'differs';
  return (value.difference > 0) === (figure === 'gpu_busy') ? 'better' : 'worse';
}

const SIGNS: Record<Verdict, string> = {
  better: '\u2713',
  worse: '\u2717',
  differs: '\u2260'
};

function signed(value: number, digits: number, unit: string): string {
  return `${value < 0 ? '\u2212' : '+'}${Math.abs(value).toFixed(digits)} ${unit}`;
}

// A difference as a part of what was before, or in points of a share.
function changeText(figure: ComparedFigure, difference: number): string {
  if (figure.unit === 'share') return signed(difference * 100, 1, 'pt');
  const change = difference / figure.groups[0].value * 100;
  return signed(change, Math.abs(change) < 9.95 ? 1 : 0, '%');
}

function valueText(figure: ComparedFigure, value: number): string {
  return figure.unit === 'share' ? formatShare(value) : formatTime(Math.round(value));
}

// A cell that carries the number as the JSON has it.
function numberCell(key: string, value: number, text: string, unit: string): HTMLElement {
  const cell = element('td', {
    class: 'figure',
    text,
    title: unit === 'ns' ? exactNs(value) : String(value),
  });
  cell.dataset.key = key;
  cell.dataset.value = String(value);
  return cell;
}

// How far from zero the axis of the intervals goes: to the farthest end, of shares in points and of
// times in parts of what was before, but no farther than to twice as much.
function axisOf(figures: ComparedFigure[], group: number): number {
  const MOST = 1;
  let far = 0.01;
  for (const figure of figures) {
    const value = figure.groups[group];
    for (const end of [value.difference, value.low, value.high]) {
      if (end !== null) far = Math.max(far, Math.abs(partOf(figure, end)));
    }
  }
  return Math.min(far, MOST);
}

function partOf(figure: ComparedFigure, difference: number): number {
  if (figure.unit === 'share') return difference;
  return figure.groups[0].value > 0 ? difference / figure.groups[0].value : 0;
}

// The interval on a line with zero in its middle.
function intervalCell(
    figure: ComparedFigure, value: ComparedValue, verdict: Verdict|null,
    axis: number): HTMLElement {
  const track = element('div', {class: 'interval', attributes: {'aria-hidden': 'true'}});
  const place = (end: number): number =>
      50 + 50 * Math.max(-1, Math.min(1, partOf(figure, end) / axis));
  track.append(element('i', {class: 'zero'}));
  if (figure.groups[0].value > 0 && value.low !== null && value.high !== null) {
    const line = element('span', {class: verdict ?? 'unsure'});
    line.style.left = `${place(value.low)}%`;
    line.style.width = `${place(value.high) - place(value.low)}%`;
    const point = element('b', {class: verdict ?? 'unsure'});
    point.style.left = `${place(value.difference)}%`;
    track.append(line, point);
  }
  return element('td', {class: 'bar-cell'}, [track]);
}

function changeCells(
    figure: ComparedFigure, value: ComparedValue, verdict: Verdict|null): HTMLElement[] {
  const before = figure.groups[0].value;
  if (before === 0 || value.value === 0) {
    const word = before === value.value ? '' : before === 0 ? 'new' : 'gone';
    const blank = element('td', {class: 'figure'});
    return [numberCell('difference', value.difference, word, figure.unit), blank];
  }
  const change =
      numberCell('difference', value.difference, changeText(figure, value.difference), figure.unit);
  if (verdict) change.classList.add(verdict);
  const interval = element('td', {class: 'figure'});
  if (value.low !== null && value.high !== null) {
    interval.textContent = `${changeText(figure, value.low)} to ${changeText(figure, value.high)}`;
    interval.dataset.key = 'interval';
    interval.dataset.low = String(value.low);
    interval.dataset.high = String(value.high);
  }
  return [change, interval];
}

function row(figure: ComparedFigure, group: number, axis: number): HTMLElement {
  const value = figure.groups[group];
  const verdict = verdictOf(figure.figure, value);
  const name = TITLES[figure.figure] ??
      (figure.figure === 'gpu_idle' ? causeText(figure.name) : figure.name);
  const before = figure.groups[0].value;
  const node = element('tr', {}, [
    element('th', {class: 'name', text: name, title: name, attributes: {scope: 'row'}}),
    numberCell('before', before, valueText(figure, before), figure.unit),
    numberCell('value', value.value, valueText(figure, value.value), figure.unit),
    ...changeCells(figure, value, verdict),
    intervalCell(figure, value, verdict, axis),
    element('td', {class: verdict ?? '', text: verdict ? `${SIGNS[verdict]} ${verdict}` : ''}),
  ]);
  node.dataset.row = `${figure.figure} ${figure.name}`.trim();
  return node;
}

function tables(data: ComparisonData, group: number): HTMLElement[] {
  const nodes: HTMLElement[] = [];
  const add = (title: string, figures: ComparedFigure[]): void => {
    if (figures.length === 0) return;
    const axis = axisOf(figures, group);
    const reach = figures.some((figure) => figure.unit === 'ns') ?
        `\u00b1${formatShare(axis)}` :
        `\u00b1${(axis * 100).toFixed(0)} pt`;
    nodes.push(element('h3', {text: title}));
    nodes.push(table(
        `${title}: ${data.groups[group].name} against ${data.groups[0].name}`,
        [
          data.per_iteration ? 'each iteration' : '', data.groups[0].name, data.groups[group].name,
          'change', '95 % interval', reach, ''
        ],
        figures.map((figure) => row(figure, group, axis))));
  };
  add('The run', data.figures.filter((figure) => figure.figure in TITLES));
  for (const [kind, title] of KINDS) {
    add(title, data.figures.filter((figure) => figure.figure === kind));
  }
  return nodes;
}

// What differs, in one sentence.
function lead(data: ComparisonData, group: number): string {
  const names = (verdict: Verdict): string[] =>
      data.figures.filter((figure) => figure.figure === 'operation_wall' || figure.figure in TITLES)
          .filter((figure) => figure.name !== NO_OPERATION)
          .filter((figure) => verdictOf(figure.figure, figure.groups[group]) === verdict)
          .map((figure) => TITLES[figure.figure] ?? figure.name);
  const [better, worse] = [names('better'), names('worse')];
  const who = `${data.groups[group].name} against ${data.groups[0].name}`;
  if (better.length + worse.length === 0) return `${who}: no significant difference.`;
  const say = (verdict: string, list: string[]): string =>
      list.length === 0 ? '' : ` ${verdict}: ${list.join(', ')}.`;
  return `${who}.${say('Better', better)}${say('Worse', worse)}`;
}

function groupList(data: ComparisonData): HTMLElement {
  return element(
      'dl', {class: 'facts stacked'},
      data.groups.map((group) => element('div', {}, [
                        element('dt', {text: group.name}),
                        element('dd', {text: group.runs.join(', ')}),
                      ])));
}

export function showComparison(data: ComparisonData): void {
  const title = data.groups.map((group) => group.name).join(' / ');
  document.title = `gpubound: ${title}`;
  document.getElementById('top')?.append(element('div', {class: 'bar-top'}, [
    element(
        'h1', {},
        [element('span', {class: 'brand', text: 'gpubound'}), element('span', {text: title})]),
    themeButton(() => undefined),
  ]));
  const main = document.getElementById('main') as HTMLElement;
  for (let group = 1; group < data.groups.length; ++group) {
    const id = `group-${group}`;
    main.append(section(id, `${data.groups[group].name} against ${data.groups[0].name}`, [
      element('p', {class: 'lead', text: lead(data, group)}),
      element('p', {class: 'note', text: `${RESAMPLED[data.groups[group].resampled]}.`}),
      ...tables(data, group),
    ]));
  }
  main.append(section('groups', 'What was compared', [
    groupList(data),
    element('p', {
      class: 'note',
      text: `${data.replicates} replicates, seed ${data.seed}. ` +
          'A difference is significant when its interval excludes zero.',
    }),
    ...data.notes.map((text) => element('p', {class: 'note', text})),
  ]));
  document.documentElement.dataset.ready = 'true';
}
