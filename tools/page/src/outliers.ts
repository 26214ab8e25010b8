// SPDX-License-Identifier: Apache-2.0
//
// Groups of ranks whose time lies apart from that of the others.
import {OutlierGroup} from './data';
import {element, longTable, nameCell, part, rowOf, timeCell} from './dom';
import {rankName} from './names';

// By what its ranks have in common and no other has, else by the first of them.
function groupName({processes, of, hosts, local_rank: place, gpu}: OutlierGroup): string {
  let name = `${rankName(of[0])} on ${of[0].host}`;
  if (processes > 1) {
    if (hosts.length > 0)
      name =
          `all ${processes} on ${hosts.length > 2 ? `${hosts.length} machines` : hosts.join(', ')}`;
    else if (place !== null)
      name = `local rank ${place} of each machine`;
    else
      name += ` and ${processes - 1} more`;
  }
  return gpu === null ? name : `${name}, on ${gpu}`;
}

// Nothing where all ranks are alike.
export function outlierGroups(groups: OutlierGroup[]): HTMLElement[] {
  if (groups.length === 0) return [];
  const rows = groups.flatMap((group) => group.times.map((time) => ({group, ...time})));
  return [part('Ranks apart from the others', [
    longTable(
        'Ranks apart from the others', ['ranks', 'operation', 'median', 'of the others'], rows,
        ({group, operation, median_ns: median, others_median_ns: others}) => rowOf(
            `${groupName(group)} ${operation}`,
            [
              nameCell(groupName(group)),
              nameCell(operation),
              timeCell(median, 'median_ns'),
              timeCell(others, 'others_median_ns'),
            ]),
        'outliers'),
    element('p', {
      class: 'note',
      text:
          'Apart: further from the others than these are from each other, by 2\u00a0% of a rank\u2019s time at least.'
    }),
  ])];
}
