// SPDX-License-Identifier: Apache-2.0
//
// Why the GPU was idle: causes, and the longest gaps with a way to each on the timeline.
import {PageProcess, Report, ReportProcess, unknownNs} from './data';
import {button, element, table, timeCell} from './dom';
import {formatShare, formatTime, share, shortName} from './format';
import {blamesPython, causeText, idleCauses} from './headline';
import {Show} from './iterations';

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

export function causes(report: Report, process: number): HTMLElement {
  const rows = idleCauses(report, process);
  if (rows.length === 0)
    return element('p', {text: `No cause: ${noneIdle(report.processes[process])}`});
  const python = blamesPython(report, process);
  const total = rows.reduce((sum, [, ns]) => sum + ns, 0);
  const caption = sharesADevice(report, report.processes[process]) ?
      'Time without GPU work of its own, by cause' :
      'Idle time by cause';
  const result = table(caption, ['cause', '', 'time', 'of idle'], rows.map(([cause, ns]) => {
    const piece = element('span', {class: `i-${cause}`});
    piece.style.width = `${share(ns, rows[0][1]) * 100}%`;
    const row = element('tr', {}, [
      element('th', {
        class: 'name',
        text: causeText(cause, python),
        title: cause,
        attributes: {scope: 'row'}
      }),
      element(
          'td', {class: 'bar-cell'},
          [element('div', {class: 'bar', attributes: {'aria-hidden': 'true'}}, [piece])]),
      timeCell(ns, 'ns'),
      element('td', {class: 'figure', text: formatShare(share(ns, total))}),
    ]);
    row.dataset.row = cause;
    return row;
  }));
  result.classList.add('causes');
  return result;
}

const place = (operation: string, layer: string): string =>
    `${shortName(operation)} \u203a ${layer}`;

export function gaps(report: Report, index: number, page: PageProcess, show: Show): HTMLElement {
  const process = report.processes[index];
  if (process.gaps.length === 0) return element('p', {text: `No gaps: ${noneIdle(process)}`});
  const rows = process.gaps.map((gap) => {
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
      element('td', {text: causeText(gap.cause, blamesPython(report, index))}),
      element('td', {class: 'wide', text: at === until ? at : `${at} \u2192 ${until}`}),
      element('td', {
        class: 'wide',
        text:
            `${shortName(gap.work_before) || 'begin'} \u2192 ${shortName(gap.work_after) || 'end'}`,
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
