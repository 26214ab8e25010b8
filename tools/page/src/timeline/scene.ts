// SPDX-License-Identifier: Apache-2.0
//
// One picture of the timeline: tracks, counters, iterations, what is unknown, what is marked. Knows
// nothing of pointers and keys.
import {PageData} from '../data';
import {Palette} from '../palette';
import {isDark} from '../theme';

import {Arrow, drawArrows} from './arrows';
import {drawCounter} from './counter';
import {firstAfter, firstFrom, Track} from './decode';
import {bucketsInStep, ColorOf, drawHatch, drawTrack, Frame, Grid, Hatch, isTooDeep, laneMiddle, lanesAt, showsEvents, Stretch} from './draw';
import {Row, Rows} from './rows';
import {Place} from './search';

const UNKNOWN: Hatch = {
  color: '#8a8f98',
  step: 6,
  rises: true
};
// As .swatch.thinned of style.css.
const THINNED: Hatch = {
  color: '#c9a227',
  step: 9,
  rises: false
};
const THINNED_IN_DARK: Hatch = {
  color: '#7a6a2f',
  step: 9,
  rises: false
};

const stretches = (pairs: [number, number][]): Stretch[] =>
    pairs.map(([begin, end]) => ({begin, end}));

export interface Marked {
  stretch: Stretch;
  track: number;  // -1: all of them
}

// What a user has pointed out, on top of what the run holds.
export interface Overlay {
  marked: Marked|null;
  selected: Stretch|null;
  dragged: Stretch|null;  // a range while it is being dragged
  chosen: number;         // a track; -1: none
  place: Place|null;      // a chosen event,
  partners: Place[];      // and what it launched, or what launched it
  found: Set<number>;     // names; none: all of them count
}

export const NO_OVERLAY: Overlay = {
  marked: null,
  selected: null,
  dragged: null,
  chosen: -1,
  place: null,
  partners: [],
  found: new Set(),
};

// Of names that a search does not find.
const FADED = '#d5d9df';
const FADED_IN_DARK = '#343b46';
const COUNTER = '#7f9fc4';
const COUNTER_IN_DARK = '#46648a';

export class Scene {
  readonly grid: Grid;
  readonly detail: Stretch[];
  readonly thinned: Stretch[];  // where events were removed
  private readonly iterationEnds: number[];

  constructor(
      private readonly data: PageData, readonly tracks: Track[],
      private readonly palette: Palette) {
    const {timeline} = data;
    this.grid = {bucketNs: timeline.bucket_ns, buckets: timeline.buckets};
    this.detail = timeline.whole ? [{begin: -1, end: timeline.span_ns + 1}] :
                                   timeline.windows.map(([begin, end]) => ({begin, end}));
    this.thinned = stretches(timeline.thinned);
    const stepping = data.processes.find((process) => process.iterations.length > 0);
    this.iterationEnds = (stepping?.iterations ?? []).map((point) => point[3]);
  }

  // Of a thread it is known better than of the run.
  thinnedOf(track: number): Stretch[] {
    const {data} = this.tracks[track];
    return data.kind === 'thread' ? stretches(data.thinned) : this.thinned;
  }

  colorsOf(track: Track): ColorOf {
    const {names} = this.data.timeline;
    switch (track.data.kind) {
      case 'calls':
        return (name) => this.palette.ofCall(names[name]);
      case 'thread':
        return (name) => this.palette.ofScope(names[name]);
      case 'device':
        return (name) => this.palette.ofClass(names[name]);
      default:
        return (name) => this.palette.ofWork(names[name]);
    }
  }

  draw(
      context: CanvasRenderingContext2D, width: number, height: number, rows: Rows, scroll: number,
      visible: Stretch, overlay: Overlay): void {
    const dark = isDark();
    const frame: Frame = {context, visible, left: 0, width};
    context.clearRect(0, 0, width, height);
    context.font = '11px system-ui, sans-serif';
    for (const row of rows.between(scroll, scroll + height)) {
      const top = row.top - scroll;
      if (row.kind === 'head') {
        this.drawLife(frame, row, top, dark);
        continue;
      }
      context.fillStyle = dark ? '#20242b' : '#f1f3f5';
      context.fillRect(0, top, width, row.height - 4);
      if (row.kind === 'counter') {
        drawCounter(
            frame, this.data.timeline.counters[row.index], top + 1, row.height - 6,
            dark ? COUNTER_IN_DARK : COUNTER, dark ? '#e8eaed' : '#16191d');
      } else if (row.kind === 'idle') {
        this.drawIdle(frame, row, top);
      } else {
        this.drawRow(frame, row, top, overlay, dark);
      }
    }
    this.drawIterations(frame, height, dark);
    this.drawOverlay(frame, rows, scroll, height, overlay, dark);
  }

  private drawRow(frame: Frame, row: Row, top: number, {chosen, found}: Overlay, dark: boolean):
      void {
    const {context, width} = frame;
    const track = this.tracks[row.index];
    const color = this.colorsOf(track);
    const faded = dark ? FADED_IN_DARK : FADED;
    this.drawThinned(frame, row, top, dark);
    drawTrack(
        frame, track, this.grid, this.detail, top + 1, this.data.timeline.names,
        found.size > 0 ? (name) => (found.has(name) ? color(name) : faded) : color);
    if (track.data.kind === 'device' || track.data.kind === 'stream')
      this.drawUnknown(frame, row, top);
    if (row.index === chosen) {
      context.strokeStyle = dark ? '#8ab4f8' : '#1a56db';
      context.lineWidth = 2;
      context.strokeRect(1, top, width - 2, row.height - 4);
    }
  }

  // Why a device was idle: the longest gaps.
  private drawIdle(frame: Frame, row: Row, top: number): void {
    const {context, visible, width} = frame;
    const x = (ns: number): number => (ns - visible.begin) / (visible.end - visible.begin) * width;
    for (const [begin, end, cause] of this.data.timeline.idle[row.index].gaps) {
      const from = Math.max(0, x(begin));
      const until = Math.min(width, x(end));
      if (until - from < 0.5) continue;
      context.fillStyle = this.palette.ofCause(cause);
      context.fillRect(from, top + 1, Math.max(1, until - from), row.height - 6);
    }
  }

  private drawOverlay(
      frame: Frame, rows: Rows, scroll: number, height: number, overlay: Overlay,
      dark: boolean): void {
    if (overlay.selected) this.drawRange(frame, overlay.selected, height, dark);
    if (overlay.dragged) this.drawRange(frame, overlay.dragged, height, dark);
    if (overlay.marked) this.drawMarked(frame, rows, scroll, height, overlay.marked, dark);
    drawArrows(frame, this.arrowsOf(rows, scroll, overlay), dark ? '#ffd866' : '#b45309');
  }

  private drawRange(frame: Frame, {begin, end}: Stretch, height: number, dark: boolean): void {
    const {context, visible, width} = frame;
    const x = (ns: number): number => (ns - visible.begin) / (visible.end - visible.begin) * width;
    context.fillStyle = dark ? 'rgba(138,180,248,0.22)' : 'rgba(26,86,219,0.14)';
    context.fillRect(x(begin), 0, Math.max(1, x(end) - x(begin)), height);
    context.fillStyle = dark ? '#8ab4f8' : '#1a56db';
    for (const edge of [begin, end]) context.fillRect(x(edge) - 0.5, 0, 1, height);
  }

  // From the begin of a call to the begin of what it launched, where both have a row.
  private arrowsOf(rows: Rows, scroll: number, {place, partners}: Overlay): Arrow[] {
    if (!place) return [];
    const isCall = this.tracks[place.track].data.kind === 'calls';
    const y = ({track, lane}: Place): number|null => {
      const row = rows.rowOf(track);
      return row ? row.top - scroll + laneMiddle(this.tracks[track], lane) : null;
    };
    return partners.flatMap((partner) => {
      const [call, work] = isCall ? [place, partner] : [partner, place];
      const [fromY, toY] = [y(call), y(work)];
      if (fromY === null || toY === null) return [];
      return [{
        fromNs: this.tracks[call.track].lanes[call.lane].begins[call.index],
        fromY,
        toNs: this.tracks[work.track].lanes[work.lane].begins[work.index],
        toY,
      }];
    });
  }

  // The strip above: one track of the whole run, and which part of it is seen.
  drawStrip(context: CanvasRenderingContext2D, width: number, height: number, visible: Stretch):
      void {
    const whole = {begin: 0, end: this.data.timeline.span_ns};
    const dark = isDark();
    context.clearRect(0, 0, width, height);
    context.fillStyle = dark ? '#20242b' : '#f1f3f5';
    context.fillRect(0, 0, width, height);
    const strip: Frame = {context, visible: whole, left: 0, width};
    for (const stretch of this.thinned)
      drawHatch(strip, stretch, 0, height, dark ? THINNED_IN_DARK : THINNED);
    const track = this.tracks[0];
    if (track) {
      const shrunk: Track = {...track, lanes: []};
      drawTrack(strip, shrunk, this.grid, [], 0, [], this.colorsOf(track));
    }
    const x = (ns: number): number => ns / Math.max(whole.end, 1) * width;
    context.fillStyle = dark ? '#ffd866' : '#b45309';
    if (!this.data.timeline.whole) {
      for (const window of this.detail)
        context.fillRect(
            x(window.begin), height - 4, Math.max(2, x(window.end) - x(window.begin)), 4);
    }
    context.fillStyle = dark ? 'rgba(0,0,0,0.55)' : 'rgba(255,255,255,0.62)';
    context.fillRect(0, 0, x(visible.begin), height);
    context.fillRect(x(visible.end), 0, width - x(visible.end), height);
    context.strokeStyle = dark ? '#8ab4f8' : '#1a56db';
    context.lineWidth = 2;
    context.strokeRect(
        x(visible.begin) + 1, 1, Math.max(2, x(visible.end) - x(visible.begin) - 2), height - 2);
  }

  // At what resolution |visible| is drawn: how much of it as single events, and the step elsewhere;
  // whether some scopes are nested too deep to be drawn.
  resolution(rows: Rows, visible: Stretch, pixels: number):
      {events: number; stepNs: number; isTooDeep: boolean} {
    const length = visible.end - visible.begin;
    const shown =
        rows.rows.filter((row) => row.kind === 'track' && this.tracks[row.index].lanes.length > 0);
    let sum = 0;
    for (const row of shown) {
      for (const window of this.detail) {
        const begin = Math.max(window.begin, visible.begin);
        const end = Math.min(window.end, visible.end);
        if (end <= begin) continue;
        if (showsEvents(this.tracks[row.index], {begin, end}, (end - begin) / length * pixels))
          sum += (end - begin) / length;
      }
    }
    return {
      events: shown.length > 0 ? sum / shown.length : 0,
      stepNs: bucketsInStep(visible, pixels, this.grid.bucketNs) * this.grid.bucketNs,
      isTooDeep: shown.some((row) => isTooDeep(this.tracks[row.index])),
    };
  }

  // The event of |row| at a place, if single events are drawn there: lane and index.
  eventAt(row: Row, y: number, ns: number, visible: Stretch, pixels: number):
      {lane: number; index: number}|null {
    const track = this.tracks[row.index];
    const window = this.detail.find((stretch) => ns >= stretch.begin && ns < stretch.end);
    if (!window) return null;
    const seen = {
      begin: Math.max(window.begin, visible.begin),
      end: Math.min(window.end, visible.end)
    };
    const length = visible.end - visible.begin;
    if (!showsEvents(track, seen, (seen.end - seen.begin) / length * pixels)) return null;
    const lanes = lanesAt(track, y - row.top - 1);
    for (const at of lanes) {
      const lane = track.lanes[at];
      const index = firstAfter(lane, ns);
      if (index < lane.begins.length && lane.begins[index] <= ns) return {lane: at, index};
    }
    // None is there, but what is narrower than the pixel may be drawn in it.
    const pixelNs = length / pixels;
    const begin = visible.begin + Math.floor((ns - visible.begin) / pixelNs) * pixelNs;
    for (const at of lanes) {
      const lane = track.lanes[at];
      const index = firstFrom(lane, begin);
      if (index < lane.begins.length && lane.begins[index] < begin + pixelNs)
        return {lane: at, index};
    }
    return null;
  }

  private drawLife(frame: Frame, row: Row, top: number, dark: boolean): void {
    const {context, visible, width} = frame;
    const {offset_ns: begin} = this.data.processes[row.process];
    const x = (ns: number): number => (ns - visible.begin) / (visible.end - visible.begin) * width;
    const from = Math.max(0, x(begin));
    const until = Math.min(width, x(begin + this.data.report.processes[row.process].span_ns));
    context.fillStyle = dark ? '#4b5563' : '#9ca3af';
    if (until > from) context.fillRect(from, top + row.height / 2 - 1, until - from, 3);
  }

  private drawUnknown(frame: Frame, row: Row, top: number): void {
    for (const [begin, end] of this.data.processes[row.process].unknown)
      drawHatch(frame, {begin, end}, top, row.height - 4, UNKNOWN);
  }

  // Where events of |row|'s track were removed.
  private drawThinned(frame: Frame, row: Row, top: number, dark: boolean): void {
    const begin = this.data.processes[row.process].offset_ns;
    const end = begin + this.data.report.processes[row.process].span_ns;
    for (const gone of this.thinnedOf(row.index)) {
      const stretch = {begin: Math.max(gone.begin, begin), end: Math.min(gone.end, end)};
      drawHatch(frame, stretch, top, row.height - 4, dark ? THINNED_IN_DARK : THINNED);
    }
  }

  private drawIterations(frame: Frame, height: number, dark: boolean): void {
    const {context, visible, width} = frame;
    const seen = this.iterationEnds.filter((ns) => ns > visible.begin && ns < visible.end);
    if (seen.length * 8 > width) return;
    context.fillStyle = dark ? 'rgba(255,255,255,0.35)' : 'rgba(0,0,0,0.3)';
    for (const ns of seen) {
      context.fillRect((ns - visible.begin) / (visible.end - visible.begin) * width, 0, 1, height);
    }
  }

  private drawMarked(
      frame: Frame, rows: Rows, scroll: number, height: number, marked: Marked,
      dark: boolean): void {
    const {context, visible, width} = frame;
    const x = (ns: number): number => (ns - visible.begin) / (visible.end - visible.begin) * width;
    const from = Math.max(-2, x(marked.stretch.begin));
    const until = Math.min(width + 2, x(marked.stretch.end));
    if (until < from) return;
    const row = rows.rowOf(marked.track);
    const top = row && marked.track >= 0 ? row.top - scroll : 0;
    const tall = row && marked.track >= 0 ? row.height - 4 : height;
    context.fillStyle = dark ? 'rgba(255,216,102,0.14)' : 'rgba(213,94,0,0.10)';
    context.strokeStyle = dark ? '#ffd866' : '#b45309';
    context.lineWidth = 1.5;
    context.fillRect(from, top, until - from, tall);
    context.strokeRect(from, top + 1, Math.max(1, until - from), tall - 2);
  }
}
