// SPDX-License-Identifier: Apache-2.0
//
// Draws one track for one stretch of time: single events where they are known and can be told
// apart, else shares of names in steps of a bucket, or of a pixel where that is longer. The work is
// bounded by the pixels and the buckets, whatever the length of the run.
import {shortName} from '../format';
import {inkOn} from '../palette';

import {Band, firstAfter, firstFrom, Lane, Track} from './decode';

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

// The outermost scopes have room for their names. Those of a Python program that was recorded with
// its stacks go forty deep and more: what lies deeper is thin, and beyond LANES_MOST not drawn,
// which view.ts says.
const LANES_NAMED = 6;
const LANES_MOST = 64;
const THIN = 4;
const LANE_HEIGHT = {
  device: 28,
  stream: 18,
  thread: 15,
  calls: 16
};
const isStacked = (track: Track): boolean => track.data.kind !== 'device';
const laneHeight = (track: Track, lane: number): number =>
    lane < LANES_NAMED ? LANE_HEIGHT[track.data.kind] : THIN;
const laneTop = (track: Track, lane: number): number =>
    Math.min(lane, LANES_NAMED) * LANE_HEIGHT[track.data.kind] +
    Math.max(0, lane - LANES_NAMED) * THIN;
const laneCount = (track: Track): number =>
    isStacked(track) ? Math.max(1, Math.min(LANES_MOST, track.lanes.length)) : 1;
export const isTooDeep = (track: Track): boolean =>
    isStacked(track) && track.lanes.length > LANES_MOST;
// Lane of a track at |y| of it; those of a device lie upon each other.
export const lanesAt = (track: Track, y: number): number[] => {
  if (!isStacked(track)) return track.lanes.map((_, i) => i);
  const named = LANES_NAMED * LANE_HEIGHT[track.data.kind];
  const at =
      Math.floor(y < named ? y / LANE_HEIGHT[track.data.kind] : LANES_NAMED + (y - named) / THIN);
  return at >= 0 && at < Math.min(laneCount(track), track.lanes.length) ? [at] : [];
};
// The middle of a lane, from the track's top.
export const laneMiddle = (track: Track, lane: number): number => {
  const at = isStacked(track) ? Math.min(lane, LANES_MOST - 1) : 0;
  return 1 + laneTop(track, at) + laneHeight(track, at) / 2;
};
export const trackHeight = (track: Track): number => laneTop(track, laneCount(track)) + 2;

const toX = (frame: Frame, ns: number): number => frame.left +
    (ns - frame.visible.begin) / (frame.visible.end - frame.visible.begin) * frame.width;

const LETTER = 5.5;  // pixels of one on a bar, about

// Of what takes next to no time so much is seen even so.
const LOWEST = 3;

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

// What is narrower than a pixel: drawn as wide as one it would seem to take more time than it does,
// by far where there are many, so it is as high as its share of the pixel. Told in order of time.
class Slivers {
  private pixel = -1;
  private covered = 0;  // of the pixel
  private until = -1;   // that what was told reaches
  private color = '';

  constructor(
      private readonly context: CanvasRenderingContext2D, private readonly top: number,
      private readonly height: number) {}

  add(from: number, until: number, color: string): void {
    const pixel = Math.floor(from);
    if (pixel !== this.pixel) this.flush();
    if (this.covered === 0) this.color = color;
    this.pixel = pixel;
    this.covered += Math.max(0, until - Math.max(from, this.until), Number.MIN_VALUE);
    this.until = Math.max(this.until, until);
  }

  flush(): void {
    if (this.covered === 0) return;
    const tall = Math.min(this.height, Math.max(LOWEST, this.covered * this.height));
    this.context.fillStyle = this.color;
    this.context.fillRect(this.pixel, this.top + this.height - tall, 1, tall);
    this.covered = 0;
  }
}

// |narrow|: takes what is narrower than a pixel, in place of drawing it.
function drawLane(
    frame: Frame, lane: Lane, stretch: Stretch, top: number, height: number, names: string[],
    color: ColorOf, narrow: (from: number, until: number, name: number) => void): void {
  const {context} = frame;
  const from = Math.max(frame.left, toX(frame, stretch.begin));
  const until = Math.min(frame.left + frame.width, toX(frame, stretch.end));
  for (let i = firstFrom(lane, stretch.begin);
       i < lane.begins.length && lane.begins[i] < stretch.end; ++i) {
    const x0 = Math.max(from, toX(frame, lane.begins[i]));
    const x1 = Math.min(until, toX(frame, lane.ends[i]));
    if (x1 - x0 < 1) {
      narrow(x0, x1, lane.names[i]);
      continue;
    }
    const width = x1 - x0 - (x1 - x0 > 6 ? 0.5 : 0);
    const fill = color(lane.names[i]);
    context.fillStyle = fill;
    context.fillRect(x0, top, width, height - 1);
    if (width > 34 && height > THIN) {
      context.save();
      context.beginPath();
      context.rect(x0, top, width - 3, height);
      context.clip();
      context.fillStyle = inkOn(fill);
      const letters = Math.floor((width - 8) / LETTER);
      context.fillText(shortName(names[lane.names[i]] ?? '', letters), x0 + 4, top + height - 4);
      context.restore();
    }
  }
}

// |lanes| of a track upon each other; of what is narrow the union counts.
function drawLanes(
    frame: Frame, lanes: Lane[], stretch: Stretch, top: number, height: number, names: string[],
    color: ColorOf): void {
  const narrow: [number, number, number][] = [];
  for (const lane of lanes) {
    drawLane(
        frame, lane, stretch, top, height, names, color,
        (from, until, name) => narrow.push([from, until, name]));
  }
  if (lanes.length > 1) narrow.sort((a, b) => a[0] - b[0]);
  const slivers = new Slivers(frame.context, top, height - 1);
  for (const [from, until, name] of narrow) slivers.add(from, until, color(name));
  slivers.flush();
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

// Buckets that are drawn as one, so that a step is a pixel wide at least.
export const bucketsInStep = (visible: Stretch, pixels: number, bucketNs: number): number =>
    Math.max(1, Math.ceil((visible.end - visible.begin) / pixels / bucketNs));

// Shares from bucket |first| to before |last|, by name, each in buckets.
export function sumOf(band: Band, first: number, last: number): Map<number, number> {
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
  const step = bucketsInStep(frame.visible, frame.width, grid.bucketNs);
  const firstBucket = Math.max(0, Math.floor(stretch.begin / grid.bucketNs / step) * step);
  const lastBucket = Math.min(grid.buckets, Math.ceil(stretch.end / grid.bucketNs));
  const from = Math.max(frame.left, toX(frame, stretch.begin));
  const until = Math.min(frame.left + frame.width, toX(frame, stretch.end));
  for (let bucket = firstBucket; bucket < lastBucket; bucket += step) {
    const next = Math.min(grid.buckets, bucket + step);
    // Of whole pixels: two steps that shared one would both be seen in it, up to the higher one.
    const x0 = Math.round(Math.max(from, toX(frame, bucket * grid.bucketNs)));
    const x1 = Math.round(Math.min(until, toX(frame, next * grid.bucketNs)));
    if (x1 <= x0) continue;
    const parts = [...sumOf(band, bucket, next)].sort((a, b) => a[0] - b[0]);
    const total = parts.reduce((sum, [, part]) => sum + part, 0) / (next - bucket);
    const scale = Math.max(1, LOWEST / height / total) * height / (next - bucket);
    let bottom = top + height;
    for (const [name, sum] of parts) {
      const part = Math.min(bottom - top, sum * scale);
      context.fillStyle = color(name);
      context.fillRect(x0, bottom - part, x1 - x0, part);
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
  for (const window of detail) {
    const begin = Math.max(window.begin, frame.visible.begin);
    const end = Math.min(window.end, frame.visible.end);
    if (end <= begin || !showsEvents(track, {begin, end}, (end - begin) * pixelsPerNs)) continue;
    bandUntil(begin);
    const shown = {begin, end};
    if (isStacked(track)) {
      track.lanes.slice(0, LANES_MOST).forEach((lane, i) => {
        drawLanes(
            frame, [lane], shown, top + laneTop(track, i), laneHeight(track, i), names, color);
      });
    } else {
      drawLanes(frame, track.lanes, shown, top, LANE_HEIGHT[track.data.kind], names, color);
    }
    done = end;
  }
  bandUntil(frame.visible.end);
}
