// SPDX-License-Identifier: Apache-2.0
//
// How runs differ: for each group against the first how fast it is and what made it so, a waterfall
// from the one to the other, and tables with an interval beside each difference. Only what is
// significant is coloured, and marked by a word and a sign as well.
import {causeText} from './cause_words';
import {ComparedFigure, ComparedValue, ComparisonData} from './comparison_data';
import {element, listed, nameCell, othersName, section, table} from './dom';
import {bounded, exactNs, formatCount, formatShare, formatTime} from './format';
import {distinctNames} from './names';
import {themeButton} from './theme';
import {waterfall} from './waterfall';

const TITLES: Record<string, string> = {
  'throughput': 'Throughput',
  'time_to_target': 'Time to a target',
  'run_wall': 'Whole run',
  'iteration_median': 'Iteration, median',
  'iteration_mean': 'Iteration, mean',
  'process_gpu_busy': 'Iteration, GPU busy',
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
  'nothing': 'No interval: that takes several runs of each, or more iterations',
};

const LETTERS = 40;       // of the name of a row
const HEAD_LETTERS = 20;  // of a group above a column
const MOST_RUNS = 4;      // that are named above the figures

type Verdict = NonNullable<ComparedValue['verdict']>;

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

// What a counter of work counts, as analysis/output/text/rates.h says it.
const workText = (counter: string): string => (counter === 'env_steps' ? 'env steps' : counter);

const rateText = (value: number): string =>
    value >= 999.5 ? formatCount(Math.round(value)) : String(Number(value.toPrecision(3)));

// What times are for.
function unitOf(data: ComparisonData): string {
  if (data.counter) return `1,000 ${workText(data.counter)}`;
  return data.per_iteration ? 'each iteration' : '';
}

// What is known as a bound says which.
function valueText(figure: ComparedFigure, group: ComparedValue): string {
  if (group.value === null) return '-';
  if (figure.unit === 'per_second') return rateText(group.value);
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

// Where an end of an interval lies: of shares in points, of all others as a factor, in doublings.
function placeOf(figure: ComparedFigure, difference: number): number {
  if (figure.unit === 'share') return difference;
  const before = valueOf(figure.groups[0]);
  return before > 0 ? Math.log2(1 + difference / before) : 0;
}

const endsOf = (value: ComparedValue): number[] => [value.difference, value.low, value.high].filter(
    (end): end is number => end !== null);

// How far to each side the axis goes: to the farthest end there is. What is all gone has none.
function axisOf(figures: ComparedFigure[], group: number): number {
  const LEAST = 0.01;
  const places = figures.flatMap(
      (figure) => endsOf(figure.groups[group]).map((end) => Math.abs(placeOf(figure, end))));
  return Math.max(LEAST, ...places.filter(Number.isFinite));
}

// "1/4 x to 4 x", or "-12 to +12 pt".
function reachOf(figures: ComparedFigure[], axis: number): string {
  if (figures.every((figure) => figure.unit === 'share')) {
    return `\u00b1${(axis * 100).toFixed(0)} pt`;
  }
  const factor = 2 ** axis;
  const text = factor < 1.995 ? factor.toFixed(2) : String(Number(factor.toPrecision(2)));
  return `1/${text} x to ${text} x`;
}

// The difference, with its interval, on a line with no change in its middle.
function intervalCell(
    figure: ComparedFigure, value: ComparedValue, verdict: Verdict|null,
    axis: number): HTMLElement {
  const track = element('div', {class: 'interval', attributes: {'aria-hidden': 'true'}});
  const place = (end: number): number =>
      Math.max(0, Math.min(100, 50 + 50 * placeOf(figure, end) / axis));
  track.append(element('i', {class: 'zero'}));
  const {low, high} = value;
  if (valueOf(figure.groups[0]) > 0) {
    if (low !== null && high !== null) {
      const line = element('span', {class: verdict ?? 'unsure'});
      line.style.left = `${place(low)}%`;
      line.style.width = `${place(high) - place(low)}%`;
      track.append(line);
    }
    if (low !== null || valueOf(value) > 0) {
      const point = element('b', {class: verdict ?? 'unsure'});
      point.style.left = `${place(value.difference)}%`;
      track.append(point);
    }
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
  const verdict = value.verdict;
  const name = figure.figure === 'throughput' ? `${workText(figure.name)} per second` :
      figure.figure === 'time_to_target' ? `Time to ${figure.name}` :
                                           TITLES[figure.figure] ??
          (figure.figure === 'gpu_idle' ? causeText(figure.name) : figure.name);
  const before = figure.groups[0];
  const node = element('tr', {}, [
    nameCell(name, '', LETTERS),
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
  const names = [data.groups[0].name, data.groups[group].name];
  const heads = distinctNames(names, HEAD_LETTERS);
  const add = (title: string, unit: string, figures: ComparedFigure[]): void => {
    if (figures.length === 0) return;
    const shown = worthARow(figures, group);
    const axis = axisOf(shown, group);
    const reach = reachOf(shown, axis);
    nodes.push(element('h3', {text: title}));
    nodes.push(table(
        `${title}: ${names[1]} against ${names[0]}`,
        [
          unit, ...names.map((name) => heads.get(name) ?? name), 'change', '95 % interval', reach,
          ''
        ],
        shown.map((figure) => row(figure, group, axis))));
    const more = figures.length - shown.length;
    if (more > 0)
      nodes.push(element('p', {class: 'note', text: `and ${more} more: gpubound compare --json`}));
  };
  const ofRun = data.figures.filter((figure) => figure.figure in TITLES);
  const isShare = (figure: ComparedFigure): boolean => figure.unit === 'share';
  add('The run', '', ofRun.filter((figure) => !isShare(figure)));
  add('GPU busy', '', ofRun.filter(isShare));
  for (const [kind, title] of KINDS) {
    add(title, unitOf(data), data.figures.filter((figure) => figure.figure === kind));
  }
  return nodes;
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

// Which runs |group| and the first are, where their names do not say so.
function whichRuns(data: ComparisonData, group: number): HTMLElement|null {
  const pair = [data.groups[0], data.groups[group]];
  if (pair.every(({name, runs}) => runs.length === 1 && runs[0] === name)) return null;
  const said = ({name, runs}: typeof pair[0]): string => {
    const {shown, others} = listed(runs, MOST_RUNS);
    return `${name}: ${[...shown, ...(others.length > 0 ? [othersName(others)] : [])].join(', ')}`;
  };
  return element('p', {class: 'note', text: pair.map(said).join('; ')});
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
    const {speed, resampled} = data.groups[group];
    const steps = waterfall(data, group, unitOf(data));
    main.append(section(id, `${data.groups[group].name} against ${data.groups[0].name}`, [
      element('p', {class: 'lead', text: speed?.finding ?? ''}),
      whichRuns(data, group),
      ...(speed?.reason ? [element('p', {class: 'reason', text: speed.reason})] : []),
      ...(steps ? [element('h3', {text: 'What makes the difference'}), steps] : []),
      element('p', {class: 'note', text: `${RESAMPLED[resampled]}.`}),
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
