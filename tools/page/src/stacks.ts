// SPDX-License-Identifier: Apache-2.0
//
// The Python stacks of each operation as icicles, as wide as the share of looks that saw them.
import {FrameRow, PageProcess, Stacks} from './data';
import {element} from './dom';
import {counted, formatShare} from './format';
import {Frame, frameOf, Icicle} from './icicle';

const FEW_LOOKS = 20;  // of fewer a share says next to nothing

// The outermost frames.
function treeOf(rows: FrameRow[], names: string[]): Frame[] {
  const frames: Frame[] = [];
  const outermost: Frame[] = [];
  for (const [calledBy, name, library, file, line, looks, own] of rows) {
    const caller = calledBy === 0 ? null : frames[calledBy - 1];
    const frame = frameOf({
      name: names[name],
      library: names[library] ?? '',
      file: names[file] ?? '',
      line,
      caller,
    });
    frame.weight = looks;
    frame.own = own;
    frames.push(frame);
    (caller ? caller.called : outermost).push(frame);
  }
  return outermost;
}

function operation(stacks: Stacks, names: string[], open: boolean): HTMLElement {
  const title = stacks.start_up ? 'start-up' : stacks.operation;
  const node = element('details', {}, [
    element('summary', {
      text: `${title}: ${counted(stacks.looks, 'look')}; the thread ran, or was ready to, in ` +
          `${formatShare(stacks.runnable_share)} of them`,
    }),
    new Icicle(
        treeOf(stacks.frames, names), stacks.looks,
        ({weight, own}) => `${formatShare(weight / stacks.looks)} of the looks, ` +
            `${formatShare(own / stacks.looks)} itself`)
        .node,
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
