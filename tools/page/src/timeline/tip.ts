// SPDX-License-Identifier: Apache-2.0
//
// What a tip says of a place on a track: the event there, else the shares of the step; of a counter
// its value, of a gap its cause.
import {CounterData, IdleData, PageData, TimelineData} from '../data';
import {element} from '../dom';
import {formatShare, formatTime} from '../format';

import {instant} from './axis';
import {counterText, valueAt} from './counter';
import {Track} from './decode';
import {Stretch, sumOf} from './draw';
import {atLeast, cutText, isIn} from './thinned';

export function eventTip(
    names: string[], track: Track,
    {lane: at, index}: {lane: number; index: number}): HTMLElement[] {
  const lane = track.lanes[at];
  const length = formatTime(lane.ends[index] - lane.begins[index]);
  return [
    element('strong', {text: names[lane.names[index]]}), element('div', {
      text: `${atLeast(lane, index)}${length} at ${instant(lane.begins[index], 1000)}${
          cutText(lane, index)}`
    })
  ];
}

// A byte of a band is 1 for all that is less than one and a half.
function shareText(share: number): string {
  if (share * 255 >= 1.5) return formatShare(share);
  const most = Math.ceil(share * 1.5 * 1000) / 1000;
  return `<${formatShare(most)}`;
}

// Of the steps that are drawn as one. |thinned|: where events of the track were removed.
export function bandTip(
    timeline: TimelineData, track: Track, ns: number, step: number,
    thinned: Stretch[]): HTMLElement[] {
  const {names, bucket_ns, buckets} = timeline;
  const bucket = Math.min(buckets - 1, Math.max(0, Math.floor(ns / bucket_ns)));
  const first = Math.floor(bucket / step) * step;
  const last = Math.min(buckets, first + step);
  const shares = [...sumOf(track.band, first, last)].sort((a, b) => b[1] - a[1]);
  const lines = shares.map(
      ([name, sum]) =>
          element('div', {text: `${names[name]}: ${shareText(sum / (last - first))}`}));
  if (lines.length === 0) {
    const gone = isIn(thinned, ns);
    lines.push(element('div', {text: gone ? 'events were thinned here' : 'nothing'}));
  }
  const stepNs = bucket_ns * (last - first);
  const when = `${formatTime(stepNs)} at ${instant(first * bucket_ns, stepNs)}`;
  return [element('strong', {text: when}), ...lines];
}

export function counterTip(counter: CounterData, ns: number): HTMLElement[] {
  const value = valueAt(counter, ns);
  return [
    element('strong', {text: counter.title}),
    element('div', {text: value === null ? 'not sampled yet' : counterText(value, counter.unit)})
  ];
}

export function idleTip({process, gaps}: IdleData, ns: number, data: PageData): HTMLElement[] {
  const gap = gaps.find(([begin, end]) => ns >= begin && ns < end);
  if (!gap) return [element('div', {text: 'none of the longest gaps'})];
  const [begin, end, cause] = gap;
  return [
    element('strong', {text: `idle for ${formatTime(end - begin)}`}),
    element('div', {text: data.processes[process].causes[cause]?.text ?? cause})
  ];
}
