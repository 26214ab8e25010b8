// SPDX-License-Identifier: Apache-2.0
//
// Draws one track for one stretch of time: single events where they are known and can be told
// apart, else shares of names in steps of a bucket, or of a pixel where that is longer. The work is
// bounded by the pixels and the buckets, whatever the length of the run.
import {inkOn} from '../palette';

import {Band, firstAfter, Lane, Track} from './decode';

export interface Stretch {
  begin: number;  // ns
  end: number;
}

export interface Frame {
  context: CanvasRenderingContext2D;
  visible: Stretch;
  left: number;  // of the pixels that |visible| has
  width: number;
}

export interface Grid {
  bucketNs: number;
  buckets: number;
}

export type ColorOf = (name: number) => string;

const LANE_MOST = 6;
const LANE_HEIGHT = {
  device: 28,
  stream: 18,
  thread: 15,
  calls: 16
};
export const laneHeight = (track: Track): number => LANE_HEIGHT[track.data.kind];
// Lane of a track at |y| of it; those of a device lie upon each other.
export const lanesAt = (track: Track, y: number): number[] => {
  if (track.data.kind === 'device') return track.lanes.map((_, i) => i);
  const at = Math.floor(y / laneHeight(track));
  return at >= 0 && at < Math.min(LANE_MOST, track.lanes.length) ? [at] : [];
};
const laneCount = (track: Track): number =>
    track.data.kind === 'device' ? 1 : Math.max(1, Math.min(LANE_MOST, track.lanes.length));
export const trackHeight = (track: Track): number => laneCount(track) * laneHeight(track) + 2;

const toX = (frame: Frame, ns: number): number => frame.left +
    (ns - frame.visible.begin) / (frame.visible.end - frame.visible.begin) * frame.width;

// More events than this a pixel look like noise, and a window of fewer pixels like a fault: there
// shares say more.
const EVENTS_PER_PIXEL = 1.5;
const FEWEST_PIXELS = 160;

function eventsIn(track: Track, stretch: Stretch): number {
  return track.lanes.reduce(
      (sum, lane) => sum + firstAfter(lane, stretch.end) - firstAfter(lane, stretch.begin), 0);
}

export function showsEvents(track: Track, stretch: Stretch, pixels: number): boolean {
  return track.lanes.length > 0 && pixels >= FEWEST_PIXELS &&
      eventsIn(track, stretch) <= pixels * EVENTS_PER_PIXEL;
}

function drawLane(
    frame: Frame, lane: Lane, stretch: Stretch, top: number, height: number, names: string[],
    color: ColorOf): void {
  const {context} = frame;
  const from = Math.max(frame.left, toX(frame, stretch.begin));
  const until = Math.min(frame.left + frame.width, toX(frame, stretch.end));
  let drawnUntil = -1;
  for (let i = firstAfter(lane, stretch.begin);
       i < lane.begins.length && lane.begins[i] < stretch.end; ++i) {
    const x0 = Math.max(from, toX(frame, lane.begins[i]));
    const x1 = Math.min(until, toX(frame, lane.ends[i]));
    if (x1 <= drawnUntil) continue;  // within a pixel that has something
    const width = Math.max(1, x1 - x0 - (x1 - x0 > 3 ? 0.5 : 0));
    const fill = color(lane.names[i]);
    context.fillStyle = fill;
    context.fillRect(x0, top, width, height - 1);
    drawnUntil = Math.max(x0 + 1, x1);
    if (width > 34) {
      context.save();
      context.beginPath();
      context.rect(x0, top, width - 3, height);
      context.clip();
      context.fillStyle = inkOn(fill);
      context.fillText(names[lane.names[i]] ?? '', x0 + 4, top + height - 4);
      context.restore();
    }
  }
}

export interface Hatch {
  color: string;
  step: number;    // pixels between lines
  rises: boolean;  // to the right
}

// Lines over a stretch, |top| to |top| + |height|.
export function drawHatch(
    frame: Frame, stretch: Stretch, top: number, height: number, hatch: Hatch): void {
  const {context, left, width} = frame;
  const from = Math.max(left, toX(frame, stretch.begin));
  const until = Math.min(left + width, toX(frame, stretch.end));
  if (until <= from) return;
  context.save();
  context.beginPath();
  context.rect(from, top, Math.max(1, until - from), height);
  context.clip();
  context.strokeStyle = hatch.color;
  context.lineWidth = 1;
  context.beginPath();
  const [begin, end] = hatch.rises ? [top + height, top] : [top, top + height];
  // From the canvas's edge, so that lines of neighbours meet.
  for (let x = Math.floor((from - height) / hatch.step) * hatch.step; x < until; x += hatch.step) {
    context.moveTo(x, begin);
    context.lineTo(x + height, end);
  }
  context.stroke();
  context.restore();
}

// Shares from bucket |first| to before |last|, by name, each in buckets.
function sumOf(band: Band, first: number, last: number): Map<number, number> {
  const sums = new Map<number, number>();
  for (let i = band.starts[first]; i < band.starts[last]; ++i) {
    sums.set(band.names[i], (sums.get(band.names[i]) ?? 0) + band.shares[i] / 255);
  }
  return sums;
}

function drawBand(
    frame: Frame, band: Band, grid: Grid, stretch: Stretch, top: number, height: number,
    color: ColorOf): void {
  const {context} = frame;
  const perPixel = (frame.visible.end - frame.visible.begin) / frame.width / grid.bucketNs;
  const step = Math.max(1, Math.ceil(perPixel));
  const firstBucket = Math.max(0, Math.floor(stretch.begin / grid.bucketNs / step) * step);
  const lastBucket = Math.min(grid.buckets, Math.ceil(stretch.end / grid.bucketNs));
  const from = Math.max(frame.left, toX(frame, stretch.begin));
  const until = Math.min(frame.left + frame.width, toX(frame, stretch.end));
  for (let bucket = firstBucket; bucket < lastBucket; bucket += step) {
    const next = Math.min(grid.buckets, bucket + step);
    const x0 = Math.max(from, toX(frame, bucket * grid.bucketNs));
    const x1 = Math.min(until, toX(frame, next * grid.bucketNs));
    if (x1 <= x0) continue;
    let bottom = top + height;
    for (const [name, sum] of [...sumOf(band, bucket, next)].sort((a, b) => a[0] - b[0])) {
      const part = Math.min(bottom - top, sum / (next - bucket) * height);
      context.fillStyle = color(name);
      context.fillRect(x0, bottom - part, x1 - x0 + 0.4, part);
      bottom -= part;
    }
  }
}

// |detail|: the stretches whose single events are known, ascending.
export function drawTrack(
    frame: Frame, track: Track, grid: Grid, detail: Stretch[], top: number, names: string[],
    color: ColorOf): void {
  const height = trackHeight(track) - 2;
  const pixelsPerNs = frame.width / (frame.visible.end - frame.visible.begin);
  let done = frame.visible.begin;
  const bandUntil = (end: number): void => {
    if (end > done) drawBand(frame, track.band, grid, {begin: done, end}, top, height, color);
  };
  const stacked = track.data.kind !== 'device';
  for (const window of detail) {
    const begin = Math.max(window.begin, frame.visible.begin);
    const end = Math.min(window.end, frame.visible.end);
    if (end <= begin || !showsEvents(track, {begin, end}, (end - begin) * pixelsPerNs)) continue;
    bandUntil(begin);
    track.lanes.slice(0, stacked ? LANE_MOST : undefined).forEach((lane, i) => {
      const laneTop = stacked ? top + i * laneHeight(track) : top;
      drawLane(frame, lane, {begin, end}, laneTop, laneHeight(track), names, color);
    });
    done = end;
  }
  bandUntil(frame.visible.end);
}
