// SPDX-License-Identifier: Apache-2.0
//
// Functions as an icicle: a bar for each, as wide as its part of the whole, below the one that called
// it. A click makes one as wide as the whole.
import {element} from './dom';

const MOST_ROWS = 24;    // of an icicle; what is deeper shows when one is clicked
const SMALLEST = 0.002;  // of the width
const WORTH_A_NAME = .03;
const ONLY_CALLS = 0.97;  // of a function's weight in one that it calls

export interface Frame {
  name: string;
  library: string;  // empty: the program's own
  file: string;
  line: number;
  weight: number;  // looks, or nanoseconds
  own: number;     // in none that it calls
  called: Frame[];
  caller: Frame|null;
}

export const frameOf = (known: Partial<Frame>): Frame => ({
  name: '',
  library: '',
  file: '',
  line: 0,
  weight: 0,
  own: 0,
  called: [],
  caller: null,
  ...known,
});

const baseName = (file: string): string => file.slice(file.lastIndexOf('/') + 1);

// Without the callers that all of it has in common.
function parted(frames: Frame[], whole: number): Frame[] {
  let at = frames;
  while (at.length === 1 && at[0].weight >= ONLY_CALLS * whole && at[0].called.length > 0 &&
         at[0].called[0].weight >= ONLY_CALLS * whole) {
    at = at[0].called;
  }
  return at;
}

export class Icicle {
  readonly node = element('div', {class: 'icicle'});
  private readonly outermost: Frame[];
  private readonly bars = new Map<Frame, HTMLElement>();  // that are shown

  // |said|: the weight of a frame in words.
  constructor(
      outermost: Frame[], private readonly whole: number,
      private readonly said: (frame: Frame) => string) {
    this.outermost = parted(outermost, whole);
    this.show(null);
  }

  private label(frame: Frame): string {
    const {name, file, line} = frame;
    return `${name}${file ? `, ${file}:${line}` : ''}: ${this.said(frame)}`;
  }

  private show(root: Frame|null): void {
    const bars: HTMLElement[] = [];
    this.bars.clear();
    const whole = root ? root.weight : this.whole;
    let depth = 0;
    const add = (frame: Frame, left: number, row: number): void => {
      const width = frame.weight / whole;
      if (row >= MOST_ROWS || width < SMALLEST) return;
      depth = Math.max(depth, row + 1);
      bars.push(this.bar(frame, left, width, row, frame === root));
      let at = left;
      for (const called of frame.called) {
        add(called, at, row + 1);
        at += called.weight / whole;
      }
    };
    let at = 0;
    for (const frame of root ? [root] : this.outermost) {
      add(frame, at, 0);
      at += frame.weight / whole;
    }
    this.node.style.height = `${depth * 1.4}rem`;
    this.node.replaceChildren(...bars);
  }

  private bar(frame: Frame, left: number, width: number, row: number, isRoot: boolean):
      HTMLElement {
    const {name, library, file, line} = frame;
    const node = element('button', {
      class: library ? 'frame library' : 'frame',
      text: width >= WORTH_A_NAME ? `${name} ${library ? '' : `${baseName(file)}:${line}`}` : '',
      title: this.label(frame),
      attributes: {type: 'button', 'aria-label': this.label(frame)},
    });
    node.style.left = `${left * 100}%`;
    node.style.width = `${width * 100}%`;
    node.style.top = `${row * 1.4}rem`;
    node.addEventListener('click', () => {
      this.show(isRoot ? null : frame);
      this.bars.get(frame)?.focus();
    });
    this.bars.set(frame, node);
    return node;
  }
}
