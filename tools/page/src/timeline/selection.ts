// SPDX-License-Identifier: Apache-2.0
//
// What happened in a stretch that was selected, by name: exact where single events are known, else
// from the shares of the coarse level.
import {button, countCell, element, nameCell, rowOf, shareCell, table, timeCell} from '../dom';
import {counted, formatTime, share} from '../format';

import {instant} from './axis';
import {firstAfter, Track} from './decode';
import {Stretch, sumOf} from './draw';

export interface NameSum {
  name: number;
  kind: 'GPU'|'CUDA calls'|'thread';
  count: number;  // 0: not known
  ns: number;
}

const KINDS = {
  device: 'GPU',
  stream: 'GPU',
  calls: 'CUDA calls',
  thread: 'thread'
} as const;

// A device has the events of its streams, which are counted once.
function withoutDoubles(tracks: Track[]): Track[] {
  const streams = tracks.filter(({data}) => data.kind === 'stream');
  return tracks.filter(
      ({data}) => data.kind !== 'device' ||
          !streams.some(
              (stream) =>
                  stream.data.process === data.process && stream.data.ordinal === data.ordinal));
}

// Of |tracks| in |stretch|, longest first. Of events that reach beyond it the part inside counts.
// |exact|: single events are known all over the stretch.
export function sumsIn(
    tracks: Track[], stretch: Stretch, exact: boolean, bucketNs: number): NameSum[] {
  const sums = new Map<string, NameSum>();
  const add = (track: Track, name: number, count: number, ns: number): void => {
    const kind = KINDS[track.data.kind];
    const key = `${kind} ${name}`;
    const sum = sums.get(key) ?? {name, kind, count: 0, ns: 0};
    sum.count += count;
    sum.ns += ns;
    sums.set(key, sum);
  };
  for (const track of withoutDoubles(tracks)) {
    if (!exact) {
      const first = Math.floor(stretch.begin / bucketNs);
      const last = Math.min(track.band.starts.length - 1, Math.ceil(stretch.end / bucketNs));
      for (const [name, buckets] of sumOf(track.band, first, last))
        add(track, name, 0, Math.round(buckets * bucketNs));
      continue;
    }
    for (const lane of track.lanes) {
      for (let i = firstAfter(lane, stretch.begin);
           i < lane.begins.length && lane.begins[i] < stretch.end; ++i) {
        const ns = Math.min(lane.ends[i], stretch.end) - Math.max(lane.begins[i], stretch.begin);
        add(track, lane.names[i], 1, ns);
      }
    }
  }
  return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

const MOST_ROWS = 25;

// |zoom| shows the stretch, |close| forgets it.
export function selectionPanel(
    sums: NameSum[], stretch: Stretch, exact: boolean, names: string[], zoom: () => void,
    close: () => void): HTMLElement {
  const length = stretch.end - stretch.begin;
  const result = table(
      'Sums by name in the selected range', ['name', 'where', 'time', 'of range', 'times', 'mean'],
      sums.slice(0, MOST_ROWS).map((sum) => rowOf(`${sum.kind} ${names[sum.name]}`, [
                                     nameCell(names[sum.name]),
                                     element('td', {text: sum.kind}),
                                     timeCell(sum.ns, 'ns'),
                                     shareCell(share(sum.ns, length)),
                                     ...(sum.count > 0 ?
                                             [
                                               countCell(sum.count),
                                               timeCell(Math.round(sum.ns / sum.count), 'mean_ns')
                                             ] :
                                             [
                                               element('td', {class: 'figure', text: '\u2013'}),
                                               element('td', {class: 'figure', text: '\u2013'})
                                             ]),
                                   ])));
  const more = sums.length - MOST_ROWS;
  const how = exact ? 'scopes include those within them' :
                      'from shares, since single events are not kept here';
  return element(
      'div', {class: 'tl-selection', attributes: {role: 'region', 'aria-label': 'Selected range'}},
      [
        element(
            'div', {class: 'tools'},
            [
              element('strong', {
                text: `Selected: ${formatTime(Math.round(length))} from ${
                    instant(stretch.begin, length / 100)}`
              }),
              element('span', {class: 'note', text: how}),
              button('Zoom to it', zoom),
              button('Close', close, 'Forget the selection (Escape)'),
            ]),
        sums.length > 0 ? result : element('p', {class: 'note', text: 'Nothing happened in it.'}),
        more > 0 ?
            element('p', {class: 'note', text: `and ${counted(more, 'name')} with less time`}) :
            null,
      ]);
}
