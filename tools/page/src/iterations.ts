// SPDX-License-Identifier: Apache-2.0
//
// The iterations of the training loop: figures, the chart, and the slowest.
import {PageProcess, ReportProcess} from './data';
import {button, element, table, timeCell} from './dom';
import {bounded, formatShare, formatTime, share} from './format';
import {iterationChart, Show} from './iteration_chart';
import {Palette} from './palette';

export function iterations(
    process: ReportProcess, page: PageProcess, palette: Palette, show: Show): HTMLElement {
  const figures = process.iterations;
  if (!figures || page.iterations.length === 0) {
    return element('p', {
      text:
          'The program does not say what an iteration is: call gpubound.step() at the end of each.'
    });
  }
  const fact = (key: string, text: string, ns: number): HTMLElement => {
    const value = element('dd', {text: formatTime(ns), title: `${ns} ns`});
    value.dataset.key = key;
    value.dataset.ns = String(ns);
    return element('div', {}, [element('dt', {text}), value]);
  };
  const bound = process.gpu_busy_is_upper_bound;
  const least = figures.operations.some((row) => row.unknown_ns > 0);
  const rows = figures.slowest.map((slow) => {
    const begin = slow.begin_ns + page.offset_ns;
    return element('tr', {}, [
      element('th', {attributes: {scope: 'row'}}, [button(
                                                      `iteration ${slow.number}`,
                                                      () => show(begin, begin + slow.ns),
                                                      'Show on the timeline')]),
      timeCell(slow.ns, 'ns'),
      element('td', {class: 'figure', text: `${share(slow.ns, figures.median_ns).toFixed(2)} x`}),
      timeCell(slow.gpu_busy_ns, 'gpu_busy_ns', bound, least),
      element('td', {
        class: 'figure',
        text: bounded(bound, least, formatShare(share(slow.gpu_busy_ns, slow.ns))),
      }),
    ]);
  });
  const slowest =
      table('Slowest iterations', ['iteration', 'length', 'of median', 'GPU busy', 'share'], rows);
  slowest.classList.add('slowest');
  const slowestPart = element('details', {}, [
    element('summary', {
      text: figures.slowest.length === 1 ? 'The slowest' : `The ${figures.slowest.length} slowest`
    }),
    slowest,
  ]);
  // Of none there is no typical length.
  const typical = figures.count === 0 ? [] : [
    fact('mean_ns', 'mean', figures.mean_ns),
    fact('median_ns', 'median', figures.median_ns),
    fact('p95_ns', '95 % within', figures.p95_ns),
  ];
  return element('div', {}, [
    element(
        'dl', {class: 'facts'},
        [
          element(
              'div', {},
              [
                element('dt', {text: 'iterations'}),
                element('dd', {text: `${figures.count} after ${figures.warm_up} of warm-up`})
              ]),
          ...typical,
          fact('start_up_ns', 'start-up', figures.start_up_ns),
          fact('warm_up_ns', 'warm-up', figures.warm_up_ns),
          fact('shutdown_ns', 'shutdown', figures.shutdown_ns),
        ]),
    ...(page.iterations.length > 1 ? [iterationChart(process, page, figures, palette, show)] : []),
    ...(figures.count === 0 ? [] : [slowestPart]),
  ]);
}
