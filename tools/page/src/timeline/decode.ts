// SPDX-License-Identifier: Apache-2.0
//
// Tracks of the timeline as typed arrays, out of the columns of analysis/base/byte_column.h. The
// other side of these formats: analysis/output/page/share_band.cc and EventColumn() of
// analysis/output/page/page_json.cc.
import {TimelineData, TrackData} from '../data';

class Column {
  private readonly bytes: Uint8Array;
  private at = 0;

  constructor(base64: string) {
    const text = atob(base64);
    this.bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; ++i) this.bytes[i] = text.charCodeAt(i);
  }
  get done(): boolean {
    return this.at >= this.bytes.length;
  }
  byte(): number {
    return this.bytes[this.at++];
  }
  // Beyond 32 bits too, so without shifts.
  varint(): number {
    let value = 0;
    for (let scale = 1;; scale *= 128) {
      const byte = this.bytes[this.at++];
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
    }
  }
  signed(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }
}

// Shares of names in each bucket: those of bucket i are entries starts[i] .. starts[i + 1].
export interface Band {
  starts: Uint32Array;
  names: Uint32Array;
  shares: Uint8Array;
}

// Events that do not overlap, in order of time.
export interface Lane {
  begins: Float64Array;
  ends: Float64Array;
  names: Uint32Array;
  links: Uint32Array;        // the same number: a call and the work that it launched; 0: none
  cut: Map<number, number>;  // those that go on unseen, as TrackData has it
}

export interface Track {
  data: TrackData;
  band: Band;
  lanes: Lane[];
}

export function decodeBand(base64: string, buckets: number): Band {
  const column = new Column(base64);
  const starts = new Uint32Array(buckets + 1);
  const names: number[] = [];
  const shares: number[] = [];
  let bucket = 0;
  while (!column.done && bucket < buckets) {
    const length = column.varint();
    const count = column.varint();
    const entries: [number, number][] = [];
    for (let i = 0; i < count; ++i) entries.push([column.varint(), column.byte()]);
    for (let i = 0; i < length && bucket < buckets; ++i) {
      starts[bucket++] = names.length;
      for (const [name, share] of entries) {
        names.push(name);
        shares.push(share);
      }
    }
  }
  starts.fill(names.length, bucket);
  return {starts, names: Uint32Array.from(names), shares: Uint8Array.from(shares)};
}

interface OpenLane {
  begins: number[];
  ends: number[];
  names: number[];
  links: number[];
  cut: Map<number, number>;
}

// Lanes by depth; what overlaps within a depth goes to the first lane that is free.
export function decodeLanes(data: TrackData): Lane[] {
  const column = new Column(data.events);
  const linkColumn = new Column(data.links);
  const cutOf = new Map(data.cut);
  const lanes: OpenLane[] = [];
  let begin = 0;
  let link = 0;
  for (let i = 0; i < data.kept && !column.done; ++i) {
    begin += column.signed();
    const end = begin + column.varint();
    const name = column.varint();
    let at = column.varint();
    if (!linkColumn.done) link += linkColumn.signed();
    while (lanes[at] && lanes[at].ends[lanes[at].ends.length - 1] > begin) ++at;
    while (lanes.length <= at)
      lanes.push({begins: [], ends: [], names: [], links: [], cut: new Map()});
    const cut = cutOf.get(i);
    if (cut !== undefined) lanes[at].cut.set(lanes[at].begins.length, cut);
    lanes[at].begins.push(begin);
    lanes[at].ends.push(end);
    lanes[at].names.push(name);
    lanes[at].links.push(link);
  }
  return lanes.filter((lane) => lane.begins.length > 0).map((lane) => ({
                                                              begins:
                                                                  Float64Array.from(lane.begins),
                                                              ends: Float64Array.from(lane.ends),
                                                              names: Uint32Array.from(lane.names),
                                                              links: Uint32Array.from(lane.links),
                                                              cut: lane.cut,
                                                            }));
}

// The coarse level of |track|; that of a device's only stream is the device's.
function bandOf(track: TrackData, tracks: TrackData[]): string {
  if (track.band !== '' || track.kind !== 'stream') return track.band;
  const device = tracks.find(
      ({kind, process, ordinal}) =>
          kind === 'device' && process === track.process && ordinal === track.ordinal);
  return device?.band ?? '';
}

// A device has the events of all its streams, one lane upon the other.
export function decodeTracks(data: TimelineData): Track[] {
  const tracks = data.tracks.map((track) => ({
                                   data: track,
                                   band: decodeBand(bandOf(track, data.tracks), data.buckets),
                                   lanes: decodeLanes(track),
                                 }));
  for (const device of tracks.filter((track) => track.data.kind === 'device')) {
    device.lanes = tracks
                       .filter(
                           ({data: {kind, process, ordinal}}) => kind === 'stream' &&
                               process === device.data.process && ordinal === device.data.ordinal)
                       .flatMap((stream) => stream.lanes);
  }
  return tracks;
}

// Index of the first event of |lane| that ends after |timeNs|.
export function firstAfter(lane: Lane, timeNs: number): number {
  let low = 0;
  let high = lane.ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane.ends[middle] > timeNs) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// Likewise, or that has no length and is at |timeNs|.
export function firstFrom(lane: Lane, timeNs: number): number {
  let index = firstAfter(lane, timeNs);
  while (index > 0 && lane.begins[index - 1] === timeNs && lane.ends[index - 1] === timeNs) --index;
  return index;
}

// Where a walk over |lane| begins: at the first event between |beginNs| and |endNs| or behind, and
// backwards (|step| below 0) at the last one there or before. Without one it is beyond the lane.
export function firstOfWalk(lane: Lane, beginNs: number, endNs: number, step: number): number {
  if (step > 0) return firstFrom(lane, beginNs);
  const last = firstAfter(lane, endNs);
  return last < lane.begins.length && lane.begins[last] < endNs ? last : last - 1;
}
