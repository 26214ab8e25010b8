// SPDX-License-Identifier: Apache-2.0
//
// Ranks of collectives: who waited for whom, and what the late ones did meanwhile.
import {Rank} from './data';
import {countCell, element, nameCell, rowOf, shareCell, table, timeCell} from './dom';
import {share} from './format';
import {activityText} from './waits';

function rankRow(rank: Rank): HTMLElement {
  const name = `pid ${rank.pid} on device ${rank.ordinal}`;
  return rowOf(name, [
    nameCell(name),
    countCell(rank.collectives),
    timeCell(rank.comm_sum_ns, 'comm_sum_ns'),
    timeCell(rank.peer_wait_ns, 'peer_wait_ns'),
    shareCell(share(rank.peer_wait_ns, rank.comm_sum_ns)),
    timeCell(rank.moving_ns, 'moving_ns'),
    timeCell(rank.unmatched_ns, 'unmatched_ns'),
    countCell(rank.late),
    timeCell(rank.waited_for_ns, 'waited_for_ns'),
    element('td', {class: 'wide', text: activityText(rank.while_late)}),
  ]);
}

export function collectives(ranks: Rank[]): HTMLElement[] {
  const result = table(
      'Collectives',
      [
        'rank', 'collectives', 'time', 'waiting for peers', 'share', 'moving data', 'unmatched',
        'came last', 'others waited', 'what it did when late'
      ],
      ranks.map(rankRow));
  result.classList.add('collectives');
  return [result];
}
