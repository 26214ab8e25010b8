// SPDX-License-Identifier: Apache-2.0
//
// Why the GPU was idle: causes by operation with what to do about each, and the longest gaps with a
// way to each on the timeline.
import {PageData, PageProcess, Report, ReportProcess, unknownNs} from './data';
import {button, element, table, timeCell} from './dom';
import {exactNs, formatShare, formatTime, share} from './format';
import {Show} from './iteration_chart';
import {distinctNames} from './names';
import {Palette} from './palette';

const MOST_OPERATIONS = 4;  // that have a column
const WORTH_A_COLUMN = 0.005;
const WORTH_A_LOOK = 0.001;  // of the longest gap
const LETTERS = 18;          // of a name above one
const LONGEST_NAME = 44;     // of a gap

interface Cause {
  name: string;
  text: string;
  action: string;
  ns: number;
  byOperation: Map<string, number>;
}

function noneIdle(process: ReportProcess): string {
  const unknown = share(unknownNs(process), process.span_ns);
  return unknown > 0 ?
      `no device of this process is known to have been idle; its GPU time is unknown for ${
          formatShare(unknown)}.` :
      'no device of this process was idle.';
}

// Others' work may run on a device while it has none of the process's.
const sharesADevice = (report: Report, process: ReportProcess): boolean => report.devices.some(
    (device) => device.used && device.processes.length > 1 &&
        device.processes.some(({host, pid}) => host === process.host && pid === process.pid));

// Over the whole span of the process, longest first.
function causesOf(process: ReportProcess, page: PageProcess): Cause[] {
  const causes = new Map<string, Cause>();
  for (const row of process.operations) {
    for (const [name, ns] of Object.entries(row.device_idle)) {
      const words = page.causes[name];
      const cause = causes.get(name) ??
          {name, text: words.text, action: words.action, ns: 0, byOperation: new Map()};
      cause.ns += ns;
      cause.byOperation.set(row.operation, ns);
      causes.set(name, cause);
    }
  }
  return [...causes.values()].filter(({ns}) => ns > 0).sort((a, b) => b.ns - a.ns);
}

// Operations in whose time the devices were idle longest, of those in which it is much of |wholeNs|.
function idleOperations(causes: Cause[], wholeNs: number): string[] {
  const sums = new Map<string, number>();
  for (const {byOperation} of causes) {
    for (const [operation, ns] of byOperation) sums.set(operation, (sums.get(operation) ?? 0) + ns);
  }
  return [...sums]
      .filter(([, ns]) => ns > WORTH_A_COLUMN * wholeNs)
      .sort((a, b) => b[1] - a[1])
      .map(([name]) => name)
      .slice(0, MOST_OPERATIONS);
}

function shareOfRun(ns: number, wholeNs: number): HTMLElement {
  const cell = element('td', {
    class: 'figure',
    text: ns > 0 ? formatShare(share(ns, wholeNs)) : '',
    title: exactNs(ns),
  });
  cell.dataset.key = 'share';
  return cell;
}

// The devices' time: that which GPU busy and idle are shares of.
function deviceTime(process: ReportProcess): number {
  const devices =
      Math.max(1, new Set(process.devices.map(({uuid, ordinal}) => uuid || ordinal)).size);
  return process.span_ns * devices;
}

export function causes(data: PageData, index: number, palette: Palette): HTMLElement {
  const process = data.report.processes[index];
  const page = data.processes[index];
  const rows = causesOf(process, page);
  if (rows.length === 0) return element('p', {text: `No cause: ${noneIdle(process)}`});
  const wholeNs = deviceTime(process);
  const operations = idleOperations(rows, wholeNs);
  const shown = distinctNames(operations, LETTERS);
  const bar = element('div', {
    class: 'bar tall',
    attributes: {
      role: 'img',
      'aria-label':
          rows.map(({text, ns}) => `${text} ${formatShare(share(ns, wholeNs))}`).join(', '),
    },
  });
  for (const {name, text, ns} of rows) {
    const piece = element('span', {title: `${text} ${formatShare(share(ns, wholeNs))}`});
    piece.style.background = palette.ofCause(name);
    piece.style.width = `${share(ns, wholeNs) * 100}%`;
    bar.append(piece);
  }
  const caption = sharesADevice(data.report, process) ?
      'Time without GPU work of its own, by cause' :
      'GPU idle by cause, in per cent of the run';
  const result = table(
      caption,
      [
        'cause', 'time', 'of the run', ...operations.map((name) => `in ${shown.get(name)}`),
        'what to do'
      ],
      rows.map(({name, text, action, ns, byOperation}) => {
        const swatch = element('span', {class: 'swatch', attributes: {'aria-hidden': 'true'}});
        swatch.style.background = palette.ofCause(name);
        const row = element('tr', {}, [
          element('th', {class: 'name', title: name, attributes: {scope: 'row'}}, [swatch, text]),
          timeCell(ns, 'ns'),
          shareOfRun(ns, wholeNs),
          ...operations.map((operation) => shareOfRun(byOperation.get(operation) ?? 0, wholeNs)),
          element('td', {class: 'wide', text: action}),
        ]);
        row.dataset.row = name;
        return row;
      }));
  result.classList.add('causes');
  const total = rows.reduce((sum, {ns}) => sum + ns, 0);
  return element('div', {}, [
    element('p', {class: 'said', text: `${caption}: ${formatShare(share(total, wholeNs))} of it.`}),
    bar,
    result,
  ]);
}

export function gaps(report: Report, index: number, page: PageProcess, show: Show): HTMLElement {
  const process = report.processes[index];
  const longest = Math.max(0, ...process.gaps.map(({ns}) => ns));
  const worthALook = process.gaps.filter(({ns}) => ns >= WORTH_A_LOOK * longest);
  if (worthALook.length === 0) return element('p', {text: `No gaps: ${noneIdle(process)}`});
  const operations = distinctNames(
      worthALook.flatMap((gap) => [gap.operation_at_begin, gap.operation_at_end]), LONGEST_NAME);
  const works =
      distinctNames(worthALook.flatMap((gap) => [gap.work_before, gap.work_after]), LONGEST_NAME);
  const place = (operation: string, layer: string): string =>
      `${operations.get(operation)} \u203a ${layer}`;
  const rows = worthALook.map((gap) => {
    const begin = gap.begin_ns + page.offset_ns;
    const at = place(gap.operation_at_begin, gap.layer_at_begin);
    const until = place(gap.operation_at_end, gap.layer_at_end);
    const row = element('tr', {}, [
      element(
          'th', {attributes: {scope: 'row'}},
          [
            button(
                `at ${formatTime(gap.begin_ns)}`, () => show(begin, begin + gap.ns),
                'Show this gap on the timeline'),
          ]),
      timeCell(gap.ns, 'ns'),
      element('td', {text: `GPU ${gap.ordinal}`}),
      element('td', {text: page.causes[gap.cause]?.text ?? gap.cause}),
      element('td', {
        class: 'wide',
        text: at === until ? at : `${at} \u2192 ${until}`,
        title: `${gap.operation_at_begin} \u2192 ${gap.operation_at_end}`,
      }),
      element('td', {
        class: 'wide',
        text:
            `${works.get(gap.work_before) || 'begin'} \u2192 ${works.get(gap.work_after) || 'end'}`,
        title: `${gap.work_before || 'begin'} \u2192 ${gap.work_after || 'end'}`,
      }),
    ]);
    row.dataset.row = String(gap.begin_ns);
    return row;
  });
  const result = table(
      'The longest gaps',
      ['gap', 'length', 'device', 'cause', 'the CPU was in', 'work before and after'], rows);
  result.classList.add('gaps', 'plain');
  return result;
}
