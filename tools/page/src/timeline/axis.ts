// SPDX-License-Identifier: Apache-2.0
//
// The time axis above the tracks.
import {axisTop} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {Selection} from 'd3-selection';

import {Stretch} from './draw';

export type Svg = Selection<SVGSVGElement, unknown, null, undefined>;

const HEIGHT = 24;

// Seconds from the run's begin, with the decimals that |stepNs| needs.
export function instant(ns: number, stepNs: number): string {
  const decimals = Math.min(9, Math.max(0, Math.ceil(9 - Math.log10(Math.max(stepNs, 1)))));
  return `${(ns / 1e9).toFixed(decimals)} s`;
}

export function paintAxis(svg: Svg, visible: Stretch, width: number): void {
  svg.attr('width', width).attr('height', HEIGHT).attr('viewBox', `0 0 ${width} ${HEIGHT}`);
  const count = Math.max(2, Math.floor(width / 130));
  const scale = scaleLinear([visible.begin / 1e9, visible.end / 1e9], [0, width]);
  const ticks = scale.ticks(count);
  const step = ticks.length > 1 ? (ticks[1] - ticks[0]) * 1e9 : visible.end - visible.begin;
  svg.selectAll<SVGGElement, null>('g')
      .data([null])
      .join('g')
      .attr('transform', `translate(0,${HEIGHT - 1})`)
      .call(axisTop(scale).ticks(count).tickFormat((s) => instant(Number(s) * 1e9, step)));
}
