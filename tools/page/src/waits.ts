// SPDX-License-Identifier: Apache-2.0
//
// For whom a process waited, and what they did meanwhile.
import {Activity, PageProcess, ReportProcess, Wait} from './data';
import {barCell, element, nameCell, nameText, rowOf, shareCell, table, timeCell} from './dom';
import {formatShare, share} from './format';

const MOST_ROWS = 12;
const MOST_ACTIVITIES = 2;
const MOST_PIDS = 8;

// What takes most of |activities|, with shares of all of them.
export function activityText(activities: Activity[]): string {
  const sums = new Map<string, number>();
  for (const {operation, layer, ns} of activities) {
    const name = `${operation} \u203a ${layer}`;
    sums.set(name, (sums.get(name) ?? 0) + ns);
  }
  const total = activities.reduce((sum, {ns}) => sum + ns, 0);
  return [...sums]
      .sort((a, b) => b[1] - a[1])
      .slice(0, MOST_ACTIVITIES)
      .map(([name, ns]) => `${name} ${formatShare(share(ns, total))}`.replace(/ %$/, '\u00a0%'))
      .join(', ');
}

function waitRow(wait: Wait, process: ReportProcess, longest: number): HTMLElement {
  const meanwhile =
      process.awaited
          .filter((row) => row.operation === wait.operation && wait.pids.includes(row.pid))
          .flatMap((row) => row.meanwhile);
  const more = wait.pids.length - MOST_PIDS;
  const who = wait.pids.slice(0, MOST_PIDS).join(', ') + (more > 0 ? ` and ${more} more` : '');
  return rowOf(`${wait.pids.join(' ')} ${wait.operation}`, [
    nameCell(who),
    element('td', {class: 'name', title: wait.operation}, [nameText(wait.operation)]),
    barCell('c-waiting', share(wait.ns, longest)),
    timeCell(wait.ns, 'ns'),
    shareCell(share(wait.ns, process.span_ns)),
    element('td', {class: 'wide', text: activityText(meanwhile)}),
  ]);
}

export function waits(process: ReportProcess, page: PageProcess): HTMLElement[] {
  const longest = [...process.waits].sort((a, b) => b.ns - a.ns);
  if (longest.length === 0) return [];
  const shown = longest.slice(0, MOST_ROWS);
  const result = table(
      'Waits for other processes',
      ['for process', 'in operation', '', 'time', 'of span', 'what they did meanwhile'],
      shown.map((wait) => waitRow(wait, process, longest[0].ns)));
  result.classList.add('waits');
  const more = longest.length - shown.length;
  return [
    element('p', {class: 'said', text: page.waiting}),
    result,
    ...(more > 0 ?
            [element('p', {class: 'note', text: `and ${more} more: gpubound report --json`})] :
            []),
  ];
}
