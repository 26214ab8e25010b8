// SPDX-License-Identifier: Apache-2.0
//
// What a tip says of a place on a track: the event there, else the shares of the step.
import {TimelineData} from '../data';
import {element} from '../dom';
import {formatShare, formatTime} from '../format';

import {instant} from './axis';
import {Track} from './decode';
import {Stretch} from './draw';
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

// |thinned|: where events of the track were removed.
export function bandTip(
    timeline: TimelineData, track: Track, ns: number, thinned: Stretch[]): HTMLElement[] {
  const {names, bucket_ns, buckets} = timeline;
  const bucket = Math.min(buckets - 1, Math.max(0, Math.floor(ns / bucket_ns)));
  const lines = [];
  for (let i = track.band.starts[bucket]; i < track.band.starts[bucket + 1]; ++i) {
    const share = formatShare(track.band.shares[i] / 255);
    lines.push(element('div', {text: `${names[track.band.names[i]]}: ${share}`}));
  }
  if (lines.length === 0) {
    const gone = isIn(thinned, ns);
    lines.push(element('div', {text: gone ? 'events were thinned here' : 'nothing'}));
  }
  const when = `${formatTime(bucket_ns)} at ${instant(bucket * bucket_ns, bucket_ns)}`;
  return [element('strong', {text: when}), ...lines];
}
