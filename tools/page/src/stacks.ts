// SPDX-License-Identifier: Apache-2.0
//
// The Python stacks of each operation as icicles: a bar for each function, as wide as the share of
// looks that saw it, below the one that called it. A click makes one as wide as the whole.
import {FrameRow, PageProcess, Stacks} from './data';
import {element} from './dom';
import {counted, formatShare} from './format';

const FEW_LOOKS = 20;    // of fewer a share says next to nothing
const MOST_ROWS = 24;    // of an icicle; what is deeper shows when one is clicked
const SMALLEST = 0.002;  // of the width
const WORTH_A_NAME = .03;
const ONLY_CALLS = 0.97;  // of a function's looks in one that it calls

interface Frame {
  name: string;
  library: string;
  file: string;
  line: number;
  looks: number;
  own: number;
  called: Frame[];
  caller: Frame|null;
}

const baseName = (file: string): string => file.slice(file.lastIndexOf('/') + 1);

// The outermost frames.
function treeOf(rows: FrameRow[], names: string[]): Frame[] {
  const frames: Frame[] = [];
  const outermost: Frame[] = [];
  for (const [calledBy, name, library, file, line, looks, own] of rows) {
    const caller = calledBy === 0 ? null : frames[calledBy - 1];
    const frame: Frame = {
      name: names[name],
      library: names[library] ?? '',
      file: names[file] ?? '',
      line,
      looks,
      own,
      called: [],
      caller,
    };
    frames.push(frame);
    (caller ? caller.called : outermost).push(frame);
  }
  return outermost;
}

// Without the callers that all of it has in common.
function parted(frames: Frame[], looks: number): Frame[] {
  let at = frames;
  while (at.length === 1 && at[0].looks >= ONLY_CALLS * looks && at[0].called.length > 0 &&
         at[0].called[0].looks >= ONLY_CALLS * looks) {
    at = at[0].called;
  }
  return at;
}

function label(frame: Frame, all: number): string {
  const {name, file, line, looks, own} = frame;
  const place = file ? `${file}:${line}` : '';
  return `${name}${place ? `, ${place}` : ''}: ${formatShare(looks / all)} of the looks, ` +
      `${formatShare(own / all)} itself`;
}

class Icicle {
  readonly node = element('div', {class: 'icicle'});
  private readonly stacks: Stacks;
  private readonly outermost: Frame[];
  private readonly bars = new Map<Frame, HTMLElement>();  // that are shown

  constructor(stacks: Stacks, names: string[]) {
    this.stacks = stacks;
    this.outermost = parted(treeOf(stacks.frames, names), stacks.looks);
    this.show(null);
  }

  private show(root: Frame|null): void {
    const bars: HTMLElement[] = [];
    this.bars.clear();
    const looks = root ? root.looks : this.stacks.looks;
    let depth = 0;
    const add = (frame: Frame, left: number, row: number): void => {
      const width = frame.looks / looks;
      if (row >= MOST_ROWS || width < SMALLEST) return;
      depth = Math.max(depth, row + 1);
      bars.push(this.bar(frame, left, width, row, frame === root));
      let at = left;
      for (const called of frame.called) {
        add(called, at, row + 1);
        at += called.looks / looks;
      }
    };
    let at = 0;
    for (const frame of root ? [root] : this.outermost) {
      add(frame, at, 0);
      at += frame.looks / looks;
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
      title: label(frame, this.stacks.looks),
      attributes: {type: 'button', 'aria-label': label(frame, this.stacks.looks)},
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

function operation(stacks: Stacks, names: string[], open: boolean): HTMLElement {
  const title = stacks.start_up ? 'start-up' : stacks.operation;
  const node = element('details', {}, [
    element('summary', {
      text: `${title}: ${counted(stacks.looks, 'look')}; the thread ran, or was ready to, in ` +
          `${formatShare(stacks.runnable_share)} of them`,
    }),
    new Icicle(stacks, names).node,
  ]);
  node.open = open;
  return node;
}

export function stacks(process: PageProcess): HTMLElement[] {
  const seen =
      process.stacks.operations.filter((row) => row.looks >= FEW_LOOKS && row.frames.length > 0);
  if (seen.length === 0) return [];
  const longest = seen.reduce((most, row) => (row.looks > most.looks ? row : most));
  return [
    ...seen.map((row) => operation(row, process.stacks.names, row === longest)),
    element('p', {
      class: 'note',
      text: 'As wide as the share of the looks at the primary thread in that operation. Light ' +
          'ones are functions of libraries. A click shows one in full width, another click all.',
    }),
  ];
}
