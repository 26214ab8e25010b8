// SPDX-License-Identifier: Apache-2.0
//
// Arrows from a call to the device work that it launched.
import {Frame} from './draw';

export interface Arrow {
  fromNs: number;
  fromY: number;
  toNs: number;
  toY: number;
}

const HEAD = 5;

export function drawArrows(frame: Frame, arrows: Arrow[], color: string): void {
  const {context, visible, width} = frame;
  const x = (ns: number): number => (ns - visible.begin) / (visible.end - visible.begin) * width;
  context.strokeStyle = color;
  context.fillStyle = color;
  context.lineWidth = 1.5;
  for (const {fromNs, fromY, toNs, toY} of arrows) {
    const [x0, x1] = [x(fromNs), x(toNs)];
    const bend = Math.max(12, Math.abs(x1 - x0) / 2);
    context.beginPath();
    context.moveTo(x0, fromY);
    context.bezierCurveTo(x0 + bend, fromY, x1 - bend, toY, x1, toY);
    context.stroke();
    context.beginPath();
    context.moveTo(x1, toY);
    context.lineTo(x1 - HEAD, toY - HEAD);
    context.lineTo(x1 - HEAD, toY + HEAD);
    context.fill();
  }
}
