// SPDX-License-Identifier: Apache-2.0
//
// What the colours of the timeline mean.
import {PageData} from '../data';
import {element} from '../dom';
import {distinctNames} from '../names';
import {Palette} from '../palette';

const MOST_OPERATIONS = 12;
const LETTERS = 32;  // of a name

function item(color: string, text: string, shown = text): HTMLElement {
  const swatch = element('span', {class: 'swatch'});
  swatch.style.background = color;
  return element('li', {title: text}, [swatch, shown]);
}

// One line for each kind of track that the run has.
export function timelineLegend(data: PageData, palette: Palette): HTMLElement {
  const {tracks, thinned, idle, names, comm_names: comm, copy_names: copies, wait_names: waits} =
      data.timeline;
  const classes =
      ['compute', ...(comm.length > 0 ? ['comm'] : []), ...(copies.length > 0 ? ['copy'] : [])];
  const operations = palette.operationNames().slice(0, MOST_OPERATIONS);
  const shown = distinctNames(operations, LETTERS);
  const kinds = new Set(tracks.map(({kind}) => kind));
  const causes = new Set(idle.flatMap(({gaps}) => gaps.map(([, , cause]) => cause)));
  const texts = data.processes.map((process) => process.causes);
  const textOf = (cause: string): string =>
      texts.find((known) => cause in known)?.[cause].text ?? cause;
  const group = (title: string, items: HTMLElement[]): HTMLElement[] =>
      items.length > 0 ? [element('li', {class: 'legend-group', text: title}), ...items] : [];
  return element('ul', {class: 'legend', attributes: {'aria-label': 'Colours of the timeline'}}, [
    ...group(
        'GPU:', kinds.has('device') ? classes.map((name) => item(palette.ofWork(name), name)) : []),
    ...group('GPU idle:', [...causes].map((cause) => item(palette.ofCause(cause), textOf(cause)))),
    ...group(
        'CUDA calls:',
        kinds.has('calls') ?
            [
              item(palette.ofCall('cudaLaunchKernel'), 'launch'),
              item(palette.ofCall('cudaMemcpyAsync'), 'copy'),
              item(palette.ofCall('cudaStreamSynchronize'), 'wait'),
              item(palette.ofCall(''), 'other'),
            ] :
            []),
    ...group(
        'Threads:',
        [
          ...operations.map((name) => item(palette.ofScope(name), name, shown.get(name))),
          ...(waits.length > 0 ? [item(palette.ofScope(names[waits[0]]), 'waiting')] : []),
        ]),
    ...(thinned.length > 0 ?
            [
              element(
                  'li', {},
                  [element('span', {class: 'swatch thinned'}), 'hatched: events were thinned here'])
            ] :
            []),
  ]);
}
