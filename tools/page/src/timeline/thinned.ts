// SPDX-License-Identifier: Apache-2.0
//
// Where events of a long run were removed, in words.
import {TimelineData} from '../data';
import {element} from '../dom';
import {formatTime} from '../format';

import {Lane} from './decode';
import {Stretch} from './draw';

// Where the last stretch ends whose events were removed; 0 where there is none.
export function newestDetail({thinned}: TimelineData): number {
  return thinned.length > 0 ? thinned[thinned.length - 1][1] : 0;
}

export const isIn = (stretches: Stretch[], ns: number): boolean =>
    stretches.some(({begin, end}) => ns >= begin && ns < end);

// Hidden where nothing was removed.
export function thinnedNote(timeline: TimelineData): HTMLElement {
  const {thinned} = timeline;
  const note = element('p', {class: 'note', id: 'thinned'});
  note.hidden = thinned.length === 0;
  if (note.hidden) return note;
  const stretches = thinned.length - (thinned[0][0] > 0 ? 0 : 1);
  const left = stretches === 0 ? 'none are left' :
      stretches === 1          ? 'one stretch is left' :
                                 `${stretches} stretches are left`;
  note.textContent = `Events before ${formatTime(newestDetail(timeline))} were thinned: ` +
      `${left} of them, and the timeline is hatched where they are gone. ` +
      'All figures and the chart of iterations are of the whole run.';
  return note;
}

// Of an event that goes on where events are missing the length is a bound.
export const atLeast = (lane: Lane, index: number): string =>
    lane.cut.has(index) ? 'at least ' : '';

export function cutText(lane: Lane, index: number): string {
  switch (lane.cut.get(index)) {
    case undefined:
      return '';
    case 1:
      return ', its begin was not recorded';
    case 2:
      return ', its end was not recorded';
    default:
      return ', neither its begin nor its end was recorded';
  }
}
