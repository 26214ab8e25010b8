// SPDX-License-Identifier: Apache-2.0
//
// The first thing on the page: what limits the run and what to do, four figures, what an iteration
// is made of, and what would help.
import {withCommands} from './commands';
import {PageData, Report, ReportProcess} from './data';
import {element, part} from './dom';
import {bounded, exactNs, formatCount, formatShare, formatTime, share, upTo} from './format';
import {meanIteration} from './mean_iteration';
import {Palette} from './palette';
import {intervalOf, savingsTable} from './savings';

interface Tile {
  label: string;
  value: string;
  note: string;
  title?: string;
  bar?: HTMLElement;
}

function tile({label, value, note, title, bar}: Tile): HTMLElement {
  return element('div', {class: 'tile'}, [
    element('dt', {text: label}),
    element(
        'dd', {title},
        [
          element('strong', {text: value}),
          ...(bar ? [bar] : []),
          element('span', {class: 'note', text: note}),
        ]),
  ]);
}

function throughputTile({run}: Report, process: ReportProcess): Tile {
  const [work] = process.throughput;
  if (!work)
    return {
      label: 'Wall time',
      value: formatTime(run.wall_ns),
      note: 'of the whole run',
      title: exactNs(run.wall_ns)
    };
  const name = work.counter.replace('_', ' ');
  return {
    label: 'Throughput',
    value: `${formatCount(Math.round(work.per_second))} ${name}/s`,
    note: `${formatCount(work.total)} in ${formatTime(work.ns)}`,
  };
}

// Of none there is no typical length.
function iterationTile({iterations: figures}: ReportProcess): Tile[] {
  if (!figures || figures.count === 0) return [];
  return [{
    label: 'Iteration, median',
    value: formatTime(figures.median_ns),
    note: `p95 ${formatTime(figures.p95_ns)}, ${figures.count} after ${figures.warm_up} of warm-up`,
    title: exactNs(figures.median_ns),
  }];
}

interface Part {
  css: string;
  name: string;
  share: number;  // of the bar
  said: string;
}

// Classes may run side by side: each is said whole, and of the bar collectives and copies get what
// computation leaves. Of a shared device the main process and its peers are told apart.
function busyParts({summary, report: {run}}: PageData): Part[] {
  const part = (css: string, name: string, whole: number, drawn: number): Part =>
      ({css, name, share: drawn, said: formatShare(whole)});
  const own = summary.own_share;
  if (own !== null) {
    const peers = Math.max(0, run.gpu_busy_share - own);
    return [part('w-compute', 'main process', own, own), part('c-peers', 'peers', peers, peers)];
  }
  const rest = Math.max(0, run.gpu_busy_share - run.compute_share);
  const beside = run.comm_share + run.copy_share;
  const scale = beside > rest ? rest / beside : 1;
  return [
    part('w-compute', 'compute', run.compute_share, run.compute_share),
    part('w-comm', 'communication', run.comm_share, run.comm_share * scale),
    part('w-copy', 'copy', run.copy_share, run.copy_share * scale),
  ];
}

function busyBar(parts: Part[]): HTMLElement {
  const shown = parts.filter((part) => part.share > 0);
  const text = ({name, said}: Part): string => `${name} ${said}`;
  return element(
      'div',
      {class: 'bar thin', attributes: {role: 'img', 'aria-label': parts.map(text).join(', ')}},
      shown.map((part) => {
        const piece = element('span', {class: part.css, title: text(part)});
        piece.style.width = `${Math.min(part.share, 1) * 100}%`;
        return piece;
      }));
}

function busyTile(data: PageData): Tile {
  const {report: {run}, summary} = data;
  const own = summary.own_share;
  const shown = own ?? run.gpu_busy_share;
  const others = run.gpu_busy_is_lower_bound && own === null;
  const isLeast = summary.unknown_share > 0 || others;
  const most = run.gpu_busy_is_upper_bound;
  const figure = formatShare(shown);
  const value =
      isLeast && most ? `about ${figure}` : (isLeast ? 'at least ' : '') + upTo(most, figure);
  const smi = run.nvml_utilization !== null ?
      `nvidia-smi showed ${formatShare(run.nvml_utilization)}` :
      `nvidia-smi would show up to ${formatShare(summary.smi_model)}`;
  const notes = [
    own === null ? '' : `of ${formatShare(run.gpu_busy_share)} by all processes`,
    summary.unknown_share > 0 ?
        `unknown ${upTo(summary.unknown_is_upper_bound, formatShare(summary.unknown_share))}` :
        '',
    run.devices_used > 0 ? smi : '',
  ];
  return {
    label: 'GPU busy',
    value,
    note: notes.filter(Boolean).join('; '),
    bar: busyBar(busyParts(data)),
  };
}

// What would be left with a GPU that takes no time.
function limitedText(run: Report['run'], isPart: boolean): string {
  if (run.gpu_limited_share === null) return '';
  const share = bounded(
      run.whole_gpu_busy_is_upper_bound, run.whole_unknown_share > 0,
      formatShare(run.gpu_limited_share));
  return `an infinitely fast GPU would save ${share}${isPart ? ' of the whole run' : ''}`;
}

function fillTile({summary, report}: PageData, process: ReportProcess): Tile {
  const known = summary.sm_filled_ns > 0 && process.gpu_busy_ns > 0;
  const fill = known ? formatShare(share(summary.sm_filled_ns, process.gpu_busy_ns)) : '\u2013';
  return {
    label: 'Filled (SM fill of busy time)',
    value: known ? upTo(process.sm_fill_is_upper_bound, fill) : fill,
    note: limitedText(report.run, summary.headline_is_part),
  };
}

function tiles(data: PageData, process: ReportProcess): HTMLElement {
  const {devices_used: used} = data.report.run;
  const hasGpu = used > 0 || data.summary.unknown_share > 0;
  return element('dl', {class: 'tiles'}, [
    throughputTile(data.report, process),
    ...iterationTile(process),
    ...(hasGpu ? [busyTile(data)] : []),
    ...(used > 0 ? [fillTile(data, process)] : []),
  ].map(tile));
}

// What the replay says would help most, with its interval.
function whatWouldHelp(data: PageData): HTMLElement {
  const {run, diagnosis} = data.report;
  const saving = diagnosis[0]?.saving;
  const corrected = data.report.processes[data.summary.main_process ?? 0]?.corrected;
  const savings = savingsTable(run.savings);
  const nodes: HTMLElement[] = [];
  if (savings) nodes.push(savings);
  if (!savings) {
    nodes.push(element('p', {
      class: 'note',
      text: run.critical_path ? 'No single part would save 1 % of the time were it twice as fast.' :
                                'Not known: the run was not replayed.',
    }));
  }
  if (saving)
    nodes.push(element('p', {
      class: 'note',
      text: `Replayed; the largest saves ${intervalOf(saving)} with 95 % probability.`,
    }));
  if (corrected)
    nodes.push(element('p', {
      class: 'note',
      text: `Without the profiler the run takes ${formatTime(corrected.span_ns)} (${
          formatTime(corrected.span_ns_low)} to ${formatTime(corrected.span_ns_high)}).`,
    }));
  return part('What would help', nodes);
}

function further(data: PageData): HTMLElement|null {
  const others = data.report.diagnosis.slice(1);
  if (others.length === 0) return null;
  return element(
      'ul', {class: 'advice', attributes: {'aria-label': 'Further findings'}},
      others.map(
          ({finding, action}) =>
              element('li', {text: `${finding} ${withCommands(action, data.run.name)}`.trim()})));
}

// The same in the words of the text report.
function inWords({summary, report}: PageData): HTMLElement {
  const quality = `Data quality: ${report.run.verdict}`;
  return element('details', {}, [
    element('summary', {text: 'In words'}),
    ...[summary.headline, summary.scope, summary.wall, quality].filter(Boolean).map(
        (text) => element('p', {class: 'note', text})),
  ]);
}

export function summary(data: PageData, palette: Palette): HTMLElement {
  const [first] = data.report.diagnosis;
  const process = data.report.processes[data.summary.told_process ?? 0];
  const block =
      element('section', {id: 'headline', attributes: {'aria-labelledby': 'headline-title'}}, [
        element('h2', {class: 'hidden', id: 'headline-title', text: 'Summary'}),
        element('p', {class: 'lead', text: first.finding}),
        first.action ?
            element('p', {class: 'action', text: withCommands(first.action, data.run.name)}) :
            null,
        first.gain ? element('p', {class: 'gain', text: first.gain}) : null,
      ]);
  if (process) {
    block.append(tiles(data, process), element('div', {class: 'halves'}, [
                   meanIteration(process, data.report.diagnosis[0].operation, palette),
                   whatWouldHelp(data),
                 ]));
  }
  const more = further(data);
  if (more) block.append(more);
  block.append(inWords(data));
  return block;
}
