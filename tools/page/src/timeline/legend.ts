// SPDX-License-Identifier: Apache-2.0
//
// What the colours of the timeline mean.
import {element} from '../dom';
import {Palette} from '../palette';

const MOST_OPERATIONS = 12;

function item(color: string, text: string): HTMLElement {
  const swatch = element('span', {class: 'swatch'});
  swatch.style.background = color;
  return element('li', {title: text}, [swatch, text]);
}

// |thinned|: events of the run were removed.
export function timelineLegend(palette: Palette, thinned: boolean): HTMLElement {
  const operations = palette.operationNames();
  return element('ul', {class: 'legend', attributes: {'aria-label': 'Colours of the timeline'}}, [
    element('li', {text: 'GPU:'}),
    ...['compute', 'comm', 'copy'].map((name) => item(palette.ofWork(name), name)),
    element('li', {text: 'CUDA calls:'}),
    item(palette.ofCall('cudaLaunchKernel'), 'launch'),
    item(palette.ofCall('cudaMemcpyAsync'), 'copy'),
    item(palette.ofCall('cudaStreamSynchronize'), 'wait'),
    item(palette.ofCall(''), 'other'),
    element('li', {text: 'Threads:'}),
    ...operations.slice(0, MOST_OPERATIONS).map((name) => item(palette.ofScope(name), name)),
    ...(thinned ?
            [
              element(
                  'li', {},
                  [element('span', {class: 'swatch thinned'}), 'hatched: events were thinned here'])
            ] :
            []),
  ]);
}
