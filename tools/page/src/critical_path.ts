// SPDX-License-Identifier: Apache-2.0
//
// What the length of the run hangs on.
import {CriticalPath, PageData} from './data';
import {barCell, element, nameCell, rowOf, shareCell, table, timeCell} from './dom';
import {formatTime, share} from './format';
import {processName} from './names';

const MOST_ROWS = 12;

function partTable(path: CriticalPath, {report, summary}: PageData): HTMLElement {
  const owner = report.processes[summary.told_process ?? 0];
  const others = path.parts.some(({host, pid}) => pid !== owner.pid || host !== owner.host);
  const shown = path.parts.length > MOST_ROWS + 1 ? path.parts.slice(0, MOST_ROWS) : path.parts;
  const row = (name: string, process: string, layer: string, ns: number): HTMLElement =>
      rowOf(`${name} ${process} ${layer}`, [
        nameCell(name),
        ...(others ? [element('td', {class: 'name', text: process, title: process})] : []),
        element('td', {text: layer}),
        barCell('c-plain', share(ns, shown[0].ns)),
        timeCell(ns, 'ns'),
        shareCell(share(ns, path.wall_ns)),
      ]);
  const nameOf = (host: string, pid: number): string => {
    const named = report.processes.find((process) => process.pid === pid && process.host === host);
    return named ? processName(report, named, '') : `process (${pid})`;
  };
  const rows = shown.map(
      ({operation, host, pid, layer, ns}) => row(operation, nameOf(host, pid), layer, ns));
  const restNs = path.parts.slice(shown.length).reduce((sum, {ns}) => sum + ns, 0);
  if (restNs > 0) rows.push(row(`${path.parts.length - shown.length} others`, '', '', restNs));
  const result = table(
      'Critical path', ['operation', ...(others ? ['process'] : []), 'layer', '', 'time', 'of it'],
      rows);
  result.classList.add('path');
  return result;
}

// Whose path it is: by name where that is not the run's own, since its root was not recorded or
// only launches.
function ownerName({report, summary}: PageData): string {
  const main = report.processes[summary.told_process ?? 0];
  const isRoot = main.pid === report.run.root && main.host === report.run.root_host;
  return isRoot ? 'the main process' : processName(report, main);
}

export function criticalPath(path: CriticalPath, data: PageData): HTMLElement[] {
  const owner = ownerName(data);
  return [
    element('p', {
      class: 'note',
      text: `The chain of what waited for what, from the end of ${owner} back to its begin: ${
          formatTime(path.wall_ns)}. What is not on it can take longer at no cost.`,
    }),
    partTable(path, data),
  ];
}
