// SPDX-License-Identifier: Apache-2.0
//
// A counter over time, drawn as an area from 0, or from its lowest value where that is below.
import {CounterData} from '../data';
import {formatBytes, formatCount, formatTime} from '../format';

import {Frame} from './draw';

const TEXT = 11;

export function counterText(value: number, unit: string): string {
  if (unit === 'bytes') return formatBytes(value);
  if (unit === 'ns') return formatTime(value);
  const isPlain = Number.isInteger(value) && value >= 0;
  const figure = isPlain ? formatCount(value) : String(Number(value.toPrecision(4)));
  return unit ? `${figure} ${unit}` : figure;
}

// What the counter was last said to be at |ns|; null before it was first.
export function valueAt({points}: CounterData, ns: number): number|null {
  let low = 0;
  let high = points.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (points[middle][0] > ns)
      high = middle;
    else
      low = middle + 1;
  }
  return low > 0 ? points[low - 1][1] : null;
}

export function drawCounter(
    frame: Frame, counter: CounterData, top: number, height: number, color: string,
    ink: string): void {
  const {context, visible, width} = frame;
  const {points, unit} = counter;
  let lowest = 0;
  let highest = 0;
  for (const [, value] of points) {
    lowest = Math.min(lowest, value);
    highest = Math.max(highest, value);
  }
  const range = highest - lowest || 1;
  const x = (ns: number): number => (ns - visible.begin) / (visible.end - visible.begin) * width;
  const y = (value: number): number => top + height - (value - lowest) / range * height;
  context.fillStyle = color;
  points.forEach(([ns, value], i) => {
    const from = Math.max(0, x(ns));
    const until = Math.min(width, x(i + 1 < points.length ? points[i + 1][0] : frame.visible.end));
    if (until <= from) return;
    const [high, low] = [y(Math.max(0, value)), y(Math.min(0, value))];
    context.fillRect(from, high, until - from, Math.max(1, low - high));
  });
  context.fillStyle = ink;
  context.fillText(`up to ${counterText(highest, unit)}`, 4, top + TEXT);
}
