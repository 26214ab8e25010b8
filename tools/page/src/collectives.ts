// SPDX-License-Identifier: Apache-2.0
//
// Ranks of collectives: who waited for whom, and what the late ones did meanwhile.
import {Rank} from './data';
import {countCell, element, longTable, MOST_ROWS, nameCell, rowOf, shareCell, timeCell} from './dom';
import {bounded, share} from './format';
import {rankName} from './names';
import {activityText} from './waits';

// Puts |mark| before the figures of |cells|, and beside them |why|.
function marked(cells: HTMLTableCellElement[], mark: string, why: string): HTMLTableCellElement[] {
  if (mark === '') return cells;
  for (const cell of cells) {
    cell.prepend(mark);
    cell.title = [cell.title, why].filter(Boolean).join(', ');
  }
  return cells;
}

function waitCells(rank: Rank): HTMLTableCellElement[] {
  const cells = [
    timeCell(rank.peer_wait_ns, 'peer_wait_ns'),
    shareCell(share(rank.peer_wait_ns, rank.comm_sum_ns))
  ];
  const why = rank.peer_wait_is_lower_bound ?
      'the clocks of the hosts may be off by more than a hundredth of it' :
      'at most: some of these collectives may be several';
  return marked(
      cells, bounded(rank.peer_wait_is_upper_bound, rank.peer_wait_is_lower_bound, ''), why);
}

function lateCells(rank: Rank): HTMLTableCellElement[] {
  const cells = [countCell(rank.late), timeCell(rank.waited_for_ns, 'waited_for_ns')];
  return marked(cells, rank.late_is_doubtful ? '~' : '', 'if the clocks of the hosts agree');
}

function rankRow(rank: Rank, ranks: Rank[]): HTMLElement {
  const onHost = ranks.some(({host}) => host !== rank.host) ? ` of ${rank.host}` : '';
  const name = `${rankName(rank)} on device ${rank.ordinal}${onHost}`;
  return rowOf(name, [
    nameCell(name),
    countCell(rank.collectives),
    timeCell(rank.comm_sum_ns, 'comm_sum_ns'),
    ...waitCells(rank),
    timeCell(rank.moving_ns, 'moving_ns'),
    timeCell(rank.unmatched_ns, 'unmatched_ns'),
    ...lateCells(rank),
    element('td', {class: 'wide', text: activityText(rank.while_late)}),
  ]);
}

export function collectives(ranks: Rank[]): HTMLElement[] {
  // Where not all are shown at once, those that came last most often come first.
  const order = ranks.length > MOST_ROWS ? [...ranks].sort((a, b) => b.late - a.late) : ranks;
  return [longTable(
      'Collectives',
      [
        'rank', 'collectives', 'time', 'waiting for peers', 'share', 'moving data', 'unmatched',
        'came last', 'others waited', 'what it did when late'
      ],
      order, (rank) => rankRow(rank, ranks), 'collectives')];
}
