// SPDX-License-Identifier: Apache-2.0
//
// Which stretch of the run is seen, within what can be seen.
import {Stretch} from './draw';

const SHORTEST_NS = 200;  // that can be seen at once

export class Camera {
  private view: Stretch;

  // |changed| is called after every move.
  constructor(readonly spanNs: number, private readonly changed: () => void) {
    this.view = {begin: 0, end: spanNs};
  }

  get seen(): Stretch {
    return this.view;
  }
  get lengthNs(): number {
    return this.view.end - this.view.begin;
  }
  isWhole(): boolean {
    return this.view.begin === 0 && this.view.end === this.spanNs;
  }

  // |place|: 0 at the left edge, 1 at the right one.
  timeAt(place: number): number {
    return this.view.begin + place * this.lengthNs;
  }

  moveTo(begin: number, end: number): void {
    const length = Math.min(this.spanNs, Math.max(Math.min(SHORTEST_NS, this.spanNs), end - begin));
    // What is too short grows around its middle.
    const from = begin + (end - begin - length) / 2;
    const at = Math.min(Math.max(0, from), this.spanNs - length);
    this.view = {begin: at, end: at + length};
    this.changed();
  }

  showAll(): void {
    this.moveTo(0, this.spanNs);
  }

  // |stretch| with some of what surrounds it.
  moveAround({begin, end}: Stretch): void {
    const around = Math.max((end - begin) * 0.3, SHORTEST_NS);
    this.moveTo(begin - around, end + around);
  }

  centreOn(ns: number): void {
    const half = this.lengthNs / 2;
    this.moveTo(ns - half, ns + half);
  }

  panBy(share: number): void {
    const step = this.lengthNs * share;
    this.moveTo(this.view.begin + step, this.view.end + step);
  }

  // What is at |place| stays there.
  zoomBy(factor: number, place = 0.5): void {
    const least = Math.min(SHORTEST_NS, this.spanNs);
    const length = Math.min(this.spanNs, Math.max(least, this.lengthNs / factor));
    const begin = this.timeAt(place) - place * length;
    this.moveTo(begin, begin + length);
  }
}
