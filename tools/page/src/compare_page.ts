// SPDX-License-Identifier: Apache-2.0
//
// How runs differ: a table for each group against the first, with an interval beside each
// difference. Only what is significant is coloured, and marked by a word and a sign as well.
import {ComparedFigure, ComparedValue, ComparisonData} from './comparison_data';
import {NO_OPERATION} from './data';
import {element, listed, section, table} from './dom';
import {bounded, exactNs, formatShare, formatTime} from './format';
import {causeText} from './headline';
import {themeButton} from './theme';

const TITLES: Record<string, string> = {
  'run_wall': 'Whole run',
  'iteration_median': 'Iteration, median',
  'iteration_mean': 'Iteration, mean',
  'process_gpu_busy': 'Iteration, GPU busy',
  'gpu_busy': 'GPU busy',
};
// The same within a sentence.
const PHRASES: Record<string, string> = {
  'run_wall': 'whole run',
  'iteration_median': 'median iteration',
  'iteration_mean': 'mean iteration',
  'process_gpu_busy': 'GPU busy in iterations',
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
  const moreIsBetter = figure === 'gpu_busy' || figure === 'process_gpu_busy';
  if (!value.significant) return null;
  if (figure === 'operation_gpu_busy') return 'differs';
  return (value.difference > 0) === moreIsBetter ? 'better' : 'worse';
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
  const change = difference / valueOf(figure.groups[0]) * 100;
  // What is not all gone has not fallen by all of it; likewise formatShare().
  if (change < -99 && change > -99.95) return signed(Math.ceil(change * 10) / 10, 1, '%');
  return signed(change, Math.abs(change) < 9.95 ? 1 : 0, '%');
}

const valueOf = (group: ComparedValue): number => group.value ?? 0;

// What is known as a bound says which.
function valueText(figure: ComparedFigure, group: ComparedValue): string {
  if (group.value === null) return '-';
  const text =
      figure.unit === 'share' ? formatShare(group.value) : formatTime(Math.round(group.value));
  return bounded(group.is_upper_bound, group.is_lower_bound, text);
}

// A cell that carries the number as the JSON has it.
function numberCell(key: string, value: number|null, text: string, unit: string): HTMLElement {
  if (value === null) return element('td', {class: 'figure', text});
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
  const before = valueOf(figure.groups[0]);
  return before > 0 ? difference / before : 0;
}

// The interval on a line with zero in its middle.
function intervalCell(
    figure: ComparedFigure, value: ComparedValue, verdict: Verdict|null,
    axis: number): HTMLElement {
  const track = element('div', {class: 'interval', attributes: {'aria-hidden': 'true'}});
  const place = (end: number): number =>
      50 + 50 * Math.max(-1, Math.min(1, partOf(figure, end) / axis));
  track.append(element('i', {class: 'zero'}));
  if (valueOf(figure.groups[0]) > 0 && value.low !== null && value.high !== null) {
    const line = element('span', {class: verdict ?? 'unsure'});
    line.style.left = `${place(value.low)}%`;
    line.style.width = `${place(value.high) - place(value.low)}%`;
    const point = element('b', {class: verdict ?? 'unsure'});
    point.style.left = `${place(value.difference)}%`;
    track.append(line, point);
  }
  return element('td', {class: 'bar-cell'}, [track]);
}

// Where there is nothing to divide by: the figure is of one group only, or of neither.
function presence(figure: ComparedFigure, value: ComparedValue): string {
  const before = figure.groups[0].value;
  if (before === null || value.value === null) return '';
  if (before === 0) return value.value === 0 ? '' : 'new';
  return value.value === 0 ? 'gone' : '';
}

function changeCells(
    figure: ComparedFigure, value: ComparedValue, verdict: Verdict|null): HTMLElement[] {
  const before = figure.groups[0].value;
  if (!before || !value.value) {
    const blank = element('td', {class: 'figure'});
    return [
      numberCell('difference', value.difference, presence(figure, value), figure.unit), blank
    ];
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
  const before = figure.groups[0];
  const node = element('tr', {}, [
    element('th', {class: 'name', text: name, title: name, attributes: {scope: 'row'}}),
    numberCell('before', before.value, valueText(figure, before), figure.unit),
    numberCell('value', value.value, valueText(figure, value), figure.unit),
    ...changeCells(figure, value, verdict),
    intervalCell(figure, value, verdict, axis),
    element('td', {class: verdict ?? '', text: verdict ? `${SIGNS[verdict]} ${verdict}` : ''}),
  ]);
  node.dataset.row = `${figure.figure} ${figure.name}`.trim();
  return node;
}

// Of many figures those that are listed: what is significant, then what takes longest.
function worthARow(figures: ComparedFigure[], group: number): ComparedFigure[] {
  const size = (figure: ComparedFigure): number =>
      Math.max(valueOf(figure.groups[0]), valueOf(figure.groups[group]));
  const rank = (figure: ComparedFigure): number => (figure.groups[group].significant ? 0 : 1);
  const {shown} = listed([...figures].sort((a, b) => rank(a) - rank(b) || size(b) - size(a)));
  const wanted = new Set(shown);
  return figures.filter((figure) => wanted.has(figure));
}

function tables(data: ComparisonData, group: number): HTMLElement[] {
  const nodes: HTMLElement[] = [];
  const add = (title: string, figures: ComparedFigure[]): void => {
    if (figures.length === 0) return;
    const shown = worthARow(figures, group);
    const axis = axisOf(shown, group);
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
        shown.map((figure) => row(figure, group, axis))));
    const more = figures.length - shown.length;
    if (more > 0)
      nodes.push(element('p', {class: 'note', text: `and ${more} more: gpubound compare --json`}));
  };
  add('The run', data.figures.filter((figure) => figure.figure in TITLES));
  for (const [kind, title] of KINDS) {
    add(title, data.figures.filter((figure) => figure.figure === kind));
  }
  return nodes;
}

const MOST_NAMED = 4;
const LONGEST_NAME = 40;

function shortened(name: string): string {
  const letters = [...name];
  if (letters.length <= LONGEST_NAME) return name;
  const side = LONGEST_NAME / 2;
  return `${letters.slice(0, side).join('')}\u2026${letters.slice(-side + 1).join('')}`;
}

// "median iteration +3.0 %", as part of a sentence.
function phrase(figure: ComparedFigure, group: number): string {
  const value = figure.groups[group];
  const name = PHRASES[figure.figure] ?? shortened(figure.name);
  return `${name} ${presence(figure, value) || changeText(figure, value.difference)}`;
}

// What is significant, the run's own figures first, then operations by their time.
function differing(data: ComparisonData, group: number, verdict: Verdict): ComparedFigure[] {
  const all =
      data.figures.filter((figure) => verdictOf(figure.figure, figure.groups[group]) === verdict);
  const ofRun = all.filter((figure) => figure.figure in TITLES);
  // A mean that goes where the median goes says nothing more, nor do iterations where the run does.
  const saidBy: Record<string, string> = {
    'iteration_mean': 'iteration_median',
    'process_gpu_busy': 'gpu_busy',
  };
  const telling =
      ofRun.filter(({figure}) => !ofRun.some((other) => other.figure === saidBy[figure]));
  const size = (figure: ComparedFigure): number => Math.abs(figure.groups[group].difference);
  const operations =
      all.filter((figure) => figure.figure === 'operation_wall' && figure.name !== NO_OPERATION)
          .sort((a, b) => size(b) - size(a));
  return [...telling, ...operations];
}

// What differs, in one sentence for each direction.
function lead(data: ComparisonData, group: number): string {
  const who = `${data.groups[group].name} against ${data.groups[0].name}`;
  if (data.groups[group].resampled === 'nothing')
    return `${who}: whether they differ by more than chance is not known.`;
  const say = (word: string, verdict: Verdict): string => {
    const figures = differing(data, group, verdict);
    if (figures.length === 0) return '';
    const named = figures.slice(0, MOST_NAMED).map((figure) => phrase(figure, group)).join(', ');
    const more = figures.length - MOST_NAMED;
    return ` ${word}: ${named}${more > 0 ? ` and ${more} more` : ''}.`;
  };
  const said = say('Worse', 'worse') + say('Better', 'better');
  return said ? `${who}.${said}` : `${who}: no significant difference.`;
}

// Above everything, where GPU times are not those of hardware.
function simulatedMark(data: ComparisonData): HTMLElement|null {
  const simulated = data.groups.filter((group) => group.simulated);
  if (simulated.length === 0) return null;
  const all = simulated.length === data.groups.length;
  const whose = all ? '' : ` of ${simulated.map((group) => group.name).join(', ')}`;
  return element('p', {
    class: 'simulated',
    text: `SIMULATED DEVICE: GPU times${whose} are those of a model, not of hardware.`,
    attributes: {role: 'note'},
  });
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
  const mark = simulatedMark(data);
  document.getElementById('top')?.append(
      ...(mark ? [mark] : []), element('div', {class: 'bar-top'}, [
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
