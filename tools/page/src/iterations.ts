// SPDX-License-Identifier: Apache-2.0
//
// Iterations over time: how long each took, and how much of it the GPU worked.
import {axisBottom, axisLeft} from 'd3-axis';
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {area, curveStepAfter} from 'd3-shape';

import {IterationPoint, Iterations, PageProcess, ReportProcess} from './data';
import {button, element, listed, nameCell, othersName, rowOf, sumOf, table, timeCell} from './dom';
import {bounded, formatShare, formatTime, share} from './format';

// Of the picture, whose text is as large as it should be where it is shown as wide as this.
const WIDEST = 1000;
const NARROWEST = 240;
const HEIGHT = 240;
const MARGIN = {
  top: 10,
  right: 12,
  bottom: 34,
  left: 64
};

export type Show = (beginNs: number, endNs: number) => void;

interface Sample {
  from: number;  // iterations, counted from the first one here
  to: number;
  mean: number;
  busy: number;  // of one iteration
  point: IterationPoint;
}

function samplesOf(points: IterationPoint[]): Sample[] {
  let passed = 0;
  return points.map((point) => {
    const [, count, begin, end, , , busy] = point;
    const sample =
        {from: passed, to: passed + count, mean: (end - begin) / count, busy: busy / count, point};
    passed += count;
    return sample;
  });
}

// |unknown|: times in which more may have run.
function describe(sample: Sample, isUpperBound: boolean, unknown: [number, number][]): string {
  const [first, count, start, stop, shortest, longest, , last] = sample.point;
  const which = count === 1 ? `iteration ${first}` : `iterations ${first} to ${last}`;
  const spread = count === 1 ? '' : ` (${formatTime(shortest)} to ${formatTime(longest)})`;
  const busy = bounded(
      isUpperBound && sample.busy > 0, unknown.some(([begin, end]) => begin < stop && end > start),
      formatTime(sample.busy));
  return `${which}: ${formatTime(sample.mean)}${spread}, GPU busy ${busy} ` +
      `= ${formatShare(share(sample.busy, sample.mean))}`;
}

// The program's number of the iteration at |place|, counted from the first one here.
function numberAt(samples: Sample[], place: number): number {
  const sample = samples.find(({to}) => place < to) ?? samples[samples.length - 1];
  const [first, count, , , , , , last] = sample.point;
  const step = count > 1 ? (last - first) / (count - 1) : 0;
  return Math.round(first + (place - sample.from) * step);
}

// Some |most| places to name on the axis: at round numbers where the program counts one by one.
function namedPlaces(samples: Sample[], most: number): number[] {
  const first = samples[0].point[0];
  const {to: count, point: {7: last}} = samples[samples.length - 1];
  const ticks = last - first === count - 1 ?
      scaleLinear().domain([first, last]).ticks(most).map((number) => number - first) :
      scaleLinear().domain([0, count - 1]).ticks(most);
  return ticks.filter(Number.isInteger);
}

function chartOf(
    process: ReportProcess, page: PageProcess, warmUp: number, show: Show,
    width: number): HTMLElement {
  const points = page.iterations;
  const samples = samplesOf(points);
  const last = samples[samples.length - 1];
  const longest = Math.max(...samples.map((sample) => sample.point[5]));
  const x = scaleLinear([0, last.to], [MARGIN.left, width - MARGIN.right]);
  const y = scaleLinear([0, longest], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
  const drawn = [...samples, {...last, from: last.to}];  // the last step needs its end

  const holder = element('div', {class: 'chart'});
  const svg = select(holder)
                  .append('svg')
                  .attr('viewBox', `0 0 ${width} ${HEIGHT}`)
                  .attr('role', 'img')
                  .attr(
                      'aria-label',
                      `Length of ${last.to} iterations, number ${points[0][0]} to ${
                          last.point[7]}, and the GPU's part of each`);
  const shape = (top: (s: Sample) => number, bottom: (s: Sample) => number): string =>
      area<Sample>()
          .x((s) => x(s.from))
          .y0((s) => y(bottom(s)))
          .y1((s) => y(top(s)))
          .curve(curveStepAfter)(drawn) ??
      '';
  svg.append('path')
      .attr('class', 'it-spread')
      .attr('d', shape((s) => s.point[5], (s) => s.point[4]));
  svg.append('path').attr('class', 'it-length').attr('d', shape((s) => s.mean, () => 0));
  svg.append('path').attr('class', 'it-busy').attr('d', shape((s) => s.busy, () => 0));
  if (warmUp > 0) {
    svg.append('rect')
        .attr('class', 'it-warm-up')
        .attr('x', x(0))
        .attr('y', MARGIN.top)
        .attr('width', x(Math.min(warmUp, last.to)) - x(0))
        .attr('height', HEIGHT - MARGIN.top - MARGIN.bottom);
  }
  svg.append('g')
      .attr('class', 'axis')
      .attr('transform', `translate(0,${HEIGHT - MARGIN.bottom})`)
      .call(
          axisBottom(x)
              .tickValues(
                  namedPlaces(samples, Math.min(10, width / 60)).map((place) => place + 0.5))
              .tickFormat(
                  (middle) => numberAt(samples, Math.floor(Number(middle))).toLocaleString('en')));
  svg.append('g')
      .attr('class', 'axis')
      .attr('transform', `translate(${MARGIN.left},0)`)
      .call(axisLeft(y).ticks(4).tickFormat((ns) => formatTime(Number(ns))));
  svg.append('text')
      .attr('class', 'axis-name')
      .attr('x', (MARGIN.left + width) / 2)
      .attr('y', HEIGHT - 2)
      .text('iteration');
  const cursor = svg.append('rect')
                     .attr('class', 'it-cursor')
                     .attr('y', MARGIN.top)
                     .attr('height', HEIGHT - MARGIN.top - MARGIN.bottom)
                     .attr('width', 0);

  const said = element('p', {class: 'note', text: '\u00a0', attributes: {'aria-live': 'polite'}});
  let chosen = -1;
  const choose = (index: number): void => {
    chosen = Math.max(0, Math.min(samples.length - 1, index));
    const sample = samples[chosen];
    cursor.attr('x', x(sample.from)).attr('width', Math.max(2, x(sample.to) - x(sample.from)));
    const figures = describe(sample, process.gpu_busy_is_upper_bound, page.unknown);
    said.textContent = `${figures}. Click or press Enter to see it on the timeline.`;
  };
  const go = (): void => {
    if (chosen < 0) return;
    const [, , begin, end] = samples[chosen].point;
    show(begin, end);
  };
  const node = svg.node();
  holder.tabIndex = 0;
  holder.setAttribute('role', 'group');
  holder.setAttribute(
      'aria-label', 'Iterations; arrow keys choose one, Enter shows it on the timeline');
  holder.addEventListener('pointermove', (event) => {
    if (!node) return;
    const frame = node.getBoundingClientRect();
    const at = x.invert((event.clientX - frame.left) / frame.width * width);
    choose(samples.findIndex((sample) => at < Math.max(sample.to, sample === last ? Infinity : 0)));
  });
  holder.addEventListener('click', go);
  holder.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (step) choose(chosen + step);
    if (event.key === 'Enter') go();
    if (step || event.key === 'Enter') event.preventDefault();
  });
  return element('div', {}, [
    element(
        'ul', {class: 'legend'},
        [
          element(
              'li', {},
              [
                element('span', {class: 'swatch it-length'}),
                'length (mean where neighbours share a step)'
              ]),
          element('li', {}, [element('span', {class: 'swatch it-busy'}), 'GPU busy']),
          element('li', {}, [element('span', {class: 'swatch it-warm-up'}), 'warm-up']),
        ]),
    holder,
    said,
  ]);
}

// A picture that is as wide as the window, so that its text can be read in a narrow one.
function chart(process: ReportProcess, page: PageProcess, warmUp: number, show: Show): HTMLElement {
  const holder = element('div');
  let width = 0;
  const lay = (): void => {
    const room = Math.min(WIDEST, Math.max(NARROWEST, holder.clientWidth || WIDEST));
    if (room === width) return;
    width = room;
    holder.replaceChildren(chartOf(process, page, warmUp, show, width));
  };
  lay();
  new ResizeObserver(lay).observe(holder);
  return holder;
}

// The operations of a mean iteration.
function meanTable(figures: Iterations, isUpperBound: boolean): HTMLElement {
  const each = (ns: number): number => Math.floor(ns / Math.max(1, figures.count));
  const {shown, others} = listed(figures.operations);
  if (others.length > 0) {
    shown.push({
      operation: othersName(others),
      wall_ns: sumOf(others, (row) => row.wall_ns),
      gpu_busy_ns: sumOf(others, (row) => row.gpu_busy_ns),
      unknown_ns: sumOf(others, (row) => row.unknown_ns),
    });
  }
  const result = table(
      'The mean iteration', ['mean iteration', 'wall', 'GPU busy', 'unknown'],
      shown.map((row) => rowOf(row.operation, [
                  nameCell(row.operation),
                  timeCell(each(row.wall_ns), 'wall_ns'),
                  timeCell(
                      each(row.gpu_busy_ns), 'gpu_busy_ns', isUpperBound && row.gpu_busy_ns > 0,
                      row.unknown_ns > 0),
                  timeCell(each(row.unknown_ns), 'unknown_ns'),
                ])));
  result.classList.add('mean-iteration');
  return result;
}

export function iterations(process: ReportProcess, page: PageProcess, show: Show): HTMLElement {
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
    element('summary', {text: `The ${figures.slowest.length} slowest`}),
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
    chart(process, page, figures.warm_up, show),
    ...(figures.count === 0 ? [] : [meanTable(figures, bound), slowestPart]),
  ]);
}
