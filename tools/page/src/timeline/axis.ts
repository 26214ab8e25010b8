// SPDX-License-Identifier: Apache-2.0
//
// The time axis above the tracks.
import {axisTop} from 'd3-axis';
import {ScaleLinear, scaleLinear} from 'd3-scale';
import {Selection} from 'd3-selection';

import {Stretch} from './draw';

export type Svg = Selection<SVGSVGElement, unknown, null, undefined>;

const HEIGHT = 24;

// Seconds from the run's begin, with the decimals that |stepNs| needs.
export function instant(ns: number, stepNs: number): string {
  if (ns === 0) return '0 s';
  const decimals = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(stepNs, 1)))));
  return `${(ns / 1e9).toFixed(decimals)} s`;
}

// The largest unit of which |endNs| is one or more.
const UNITS: [string, number][] = [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]];
const unitOf = (endNs: number): [string, number] =>
    UNITS.find(([, ns]) => endNs >= ns) ?? UNITS[UNITS.length - 1];

// Of a tick, in the unit of the last one.
function tickText(ns: number, stepNs: number, endNs: number): string {
  const [unit, size] = unitOf(endNs);
  const decimals = Math.max(0, Math.ceil(Math.log10(size / Math.max(stepNs, 1)) - 1e-9));
  return `${(ns / size).toFixed(decimals)} ${unit}`;
}

// Of 11 pixels high, in the widest of the fonts that style.css names.
const LETTER = 7;
const APART = 10;
const BEYOND = 16;  // that a label may stand out to the right

interface Ticks {
  seconds: number[];
  stepNs: number;
  labelPixels: number;
}

// Where |scale| has about |count| round numbers. Far from the run's begin labels are long.
function ticksOf(scale: ScaleLinear<number, number>, count: number): Ticks {
  const seconds = scale.ticks(count);
  const [begin, end] = scale.domain();
  const stepNs = (seconds.length > 1 ? seconds[1] - seconds[0] : end - begin) * 1e9;
  const label = tickText(end * 1e9, stepNs, end * 1e9);
  return {seconds, stepNs, labelPixels: label.length * LETTER};
}

export function paintAxis(svg: Svg, visible: Stretch, width: number): void {
  svg.attr('width', width).attr('height', HEIGHT).attr('viewBox', `0 0 ${width} ${HEIGHT}`);
  const scale = scaleLinear([visible.begin / 1e9, visible.end / 1e9], [0, width]);
  let count = Math.max(2, Math.floor(width / 130));
  let ticks = ticksOf(scale, count);
  const isCrowded = ({seconds, labelPixels}: Ticks): boolean =>
      seconds.length > 1 && scale(seconds[1]) - scale(seconds[0]) < labelPixels + APART;
  while (count > 1 && isCrowded(ticks)) ticks = ticksOf(scale, --count);
  const {seconds, stepNs, labelPixels} = ticks;
  // One that would stand out is moved, or left out where it would meet the one before.
  const isOut = (s: number): boolean => scale(s) + labelPixels / 2 > width + BEYOND;
  const isFree = (s: number, i: number): boolean => !isOut(s) || i === 0 ||
      scale(seconds[i - 1]) + labelPixels / 2 + APART < width + BEYOND - labelPixels;
  svg.selectAll<SVGGElement, null>('g')
      .data([null])
      .join('g')
      .attr('transform', `translate(0,${HEIGHT - 1})`)
      .call(axisTop(scale).tickValues(seconds).tickFormat(
          (s, i) => isFree(Number(s), i) ? tickText(Number(s) * 1e9, stepNs, visible.end) : ''))
      .selectAll<SVGTextElement, number>('.tick text')
      .attr('text-anchor', (s) => (isOut(s) ? 'end' : 'middle'))
      .attr('dx', (s) => (isOut(s) ? width + BEYOND - scale(s) : 0));
}
