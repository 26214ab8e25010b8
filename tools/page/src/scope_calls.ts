// SPDX-License-Identifier: Apache-2.0
//
// What the nested scopes of a thread add up to by caller: in traces of other tools these are every
// Python function and every operator. Only where the page has all events of the thread.
import {PageData} from './data';
import {element} from './dom';
import {formatShare, formatTime} from './format';
import {Frame, frameOf, Icicle} from './icicle';
import {decodeLanes, Lane} from './timeline/decode';

// "torch/nn/modules/module.py(1532): _call_impl"
const FUNCTION = /^(.*)\((\d+)\): (.*)$/;

function frame(text: string, caller: Frame|null): Frame {
  const [, file, line, name] = FUNCTION.exec(text) ?? [];
  return name ? frameOf({name, file, line: Number(line), caller}) :
                frameOf({name: text, library: 'operator', caller});
}

// The outermost frames of |lanes|, the deeper ones after those that they are in. Calls of the same
// function by the same callers are one.
export function callsOf(lanes: Lane[], names: string[]): Frame[] {
  const outermost = new Map<string, Frame>();
  const called = new Map<Frame, Map<string, Frame>>();
  const frames: Frame[][] = [];  // of each event, by lane
  const at = lanes.map(() => 0);
  // The innermost event above |depth| in which |begin| to |end| is.
  const callerOf = (depth: number, begin: number, end: number): Frame|null => {
    for (let above = depth - 1; above >= 0; --above) {
      const {begins, ends} = lanes[above];
      const next = (i: number): boolean => i + 1 < begins.length && begins[i + 1] <= begin;
      while (next(at[above])) ++at[above];
      const i = at[above];
      if (begins[i] <= begin && ends[i] >= end) return frames[above][i];
    }
    return null;
  };
  lanes.forEach((lane, depth) => {
    at.fill(0);
    frames.push([]);
    lane.begins.forEach((begin, i) => {
      const caller = callerOf(depth, begin, lane.ends[i]);
      const alike = caller ? called.get(caller) ?? new Map<string, Frame>() : outermost;
      if (caller) called.set(caller, alike);
      const name = names[lane.names[i]];
      const one = alike.get(name) ?? frame(name, caller);
      if (!alike.has(name)) caller?.called.push(one);
      alike.set(name, one);
      const ns = lane.ends[i] - begin;
      one.weight += ns;
      one.own += ns;
      if (caller) caller.own -= ns;
      frames[depth].push(one);
    });
  });
  const sorted =
      (frames: Iterable<Frame>): Frame[] => [...frames].sort((a, b) => b.weight - a.weight);
  for (const one of called.keys()) one.called = sorted(one.called);
  return sorted(outermost.values());
}

export function scopeCalls({report, timeline}: PageData, process: number): HTMLElement[] {
  if (report.device_kind !== 'imported' || !timeline.whole) return [];
  const track = timeline.tracks.find(
      (one) => one.process === process && one.kind === 'thread' && one.reporting);
  if (!track || track.kept < track.seen || track.thinned.length > 0) return [];
  const frames = callsOf(decodeLanes(track), timeline.names);
  if (!frames.some(({called}) => called.length > 0)) return [];
  const whole = frames.reduce((sum, {weight}) => sum + weight, 0);
  const share = (ns: number): string => `${formatShare(ns / whole)} (${formatTime(ns)})`;
  const said = ({weight, own}: Frame): string =>
      `${share(weight)}, ${share(Math.max(0, own))} itself`;
  return [
    new Icicle(frames, whole, said).node,
    element('p', {
      class: 'note',
      text: `Each is as wide as all of its calls together, below what called it: ${
                formatTime(
                    whole)} of the primary thread. Light ones are no Python functions. A click ` +
          'shows one in full width, another click all.',
    }),
  ];
}
