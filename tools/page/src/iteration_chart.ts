// SPDX-License-Identifier: Apache-2.0
//
// Iterations over time: how long each took, by operation, how much of it the GPU worked, and what
// stands out; their histogram beside them on the same scale.
import {axisBottom, axisLeft} from 'd3-axis';
import {ScaleLinear, scaleLinear} from 'd3-scale';
import {select, Selection} from 'd3-selection';
import {area, curveStepAfter, line} from 'd3-shape';

import {IterationPoint, Iterations, PageProcess, ReportProcess} from './data';
import {element} from './dom';
import {bounded, counted, formatShare, formatTime, share} from './format';
import {Change, histogram, outlierFence, stepChanges} from './iteration_stats';
import {distinctNames} from './names';
import {Palette} from './palette';

const HEIGHT = 260;
const HISTOGRAM = 110;
const WIDE_ENOUGH = 560;  // for a histogram beside it
const BINS = 40;
const MARGIN = {
  top: 12,
  right: 12,
  bottom: 34,
  left: 64
};
const LETTERS = 32;  // of a name in the legend
const STACKED = 7;   // operations with a colour of their own, as kStacked of iteration_series.h

export type Show = (beginNs: number, endNs: number) => void;
type Svg = Selection<SVGSVGElement, unknown, null, undefined>;

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

// What iterations after warm-up say of each other.
interface Standing {
  outliers: Sample[];
  changes: (Change&{sample: Sample})[];
}

function standingOut(samples: Sample[], warmUp: number): Standing {
  const steady = samples.filter(({from}) => from >= warmUp);
  const lengths = steady.map(({mean}) => mean);
  const fence = outlierFence(lengths);
  return {
    outliers: steady.filter(({point}) => point[5] > fence),
    changes: stepChanges(lengths).map((change) => ({...change, sample: steady[change.at]})),
  };
}

function standingText({outliers, changes}: Standing): string {
  const parts = changes.map(
      ({before, after, sample}) => `from iteration ${sample.point[0]} on they take ${
          formatTime(Math.round(after))} instead of ${formatTime(Math.round(before))}`);
  if (outliers.length > 0) {
    const one = outliers.length === 1;
    parts.push(`${outliers.length} ${one ? 'is an outlier' : 'are outliers'} (dots)`);
  }
  if (parts.length === 0) return 'No outliers, and no change that lasts.';
  const text = parts.join('; ');
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

class Chart {
  readonly node = element('div', {class: 'chart'});
  readonly standing: Standing;
  private readonly svg: Svg;
  private readonly samples: Sample[];
  private readonly x: ScaleLinear<number, number>;
  private readonly y: ScaleLinear<number, number>;
  private readonly right: number;

  constructor(
      page: PageProcess, private readonly figures: Iterations, private readonly palette: Palette,
      private readonly width: number) {
    this.samples = samplesOf(page.iterations);
    this.standing = standingOut(this.samples, figures.warm_up);
    this.right = width - MARGIN.right - (width >= WIDE_ENOUGH ? HISTOGRAM : 0);
    const longest = Math.max(...this.samples.map(({point}) => point[5]));
    this.x = scaleLinear([0, this.last.to], [MARGIN.left, this.right]);
    this.y = scaleLinear([0, longest], [HEIGHT - MARGIN.bottom, MARGIN.top]).nice(4);
    this.svg = select(this.node).append('svg');
    this.svg.attr('viewBox', `0 0 ${width} ${HEIGHT}`)
        .attr('role', 'img')
        .attr(
            'aria-label',
            `Length of ${counted(this.last.to, 'iteration')}, number ${
                this.samples[0].point[0]} to ${
                this.last.point[7]}, by operation, and the GPU's part of each`);
    this.drawLengths();
    this.drawLevels();
    this.drawAxes();
    if (width >= WIDE_ENOUGH) this.drawHistogram();
  }

  // Pixels of the picture for a place in time, and back.
  spanOf(index: number): [number, number] {
    const {from, to} = this.samples[index];
    return [this.x(from), Math.max(2, this.x(to) - this.x(from))];
  }
  sampleAt(pixel: number): number {
    const at = this.x.invert(pixel);
    const index = this.samples.findIndex(({to}) => at < to);
    return index < 0 ? this.samples.length - 1 : index;
  }
  sample(index: number): Sample {
    return this.samples[index];
  }
  get count(): number {
    return this.samples.length;
  }
  cursor(): Selection<SVGRectElement, unknown, null, undefined> {
    return this.svg.append('rect')
        .attr('class', 'it-cursor')
        .attr('y', MARGIN.top)
        .attr('height', HEIGHT - MARGIN.top - MARGIN.bottom)
        .attr('width', 0);
  }

  private get last(): Sample {
    return this.samples[this.samples.length - 1];
  }

  private shape(top: (s: Sample) => number, bottom: (s: Sample) => number): string {
    const drawn = [...this.samples, {...this.last, from: this.last.to}];  // the last step's end
    return area<Sample>()
               .x((s) => this.x(s.from))
               .y0((s) => this.y(bottom(s)))
               .y1((s) => this.y(top(s)))
               .curve(curveStepAfter)(drawn) ??
        '';
  }

  // Lengths in grey, upon them the operations of those iterations of which they are known.
  private drawLengths(): void {
    const {svg, figures} = this;
    svg.append('path')
        .attr('class', 'it-spread')
        .attr('d', this.shape((s) => s.point[5], (s) => s.point[4]));
    svg.append('path').attr('class', 'it-length').attr('d', this.shape((s) => s.mean, () => 0));
    const upTo = ({point}: Sample, count: number): number =>
        point[8].slice(0, count).reduce((sum, ns) => sum + ns, 0);
    const drawn = Math.min(figures.operations.length, STACKED + 1);
    for (let i = 0; i < drawn; ++i) {
      const path = svg.append('path')
                       .attr('class', 'it-operation')
                       .attr('d', this.shape((s) => upTo(s, i + 1), (s) => upTo(s, i)));
      if (i < STACKED) path.attr('fill', this.palette.ofScope(figures.operations[i].operation));
    }
    const busy =
        line<Sample>().x((s) => this.x(s.from)).y((s) => this.y(s.busy)).curve(curveStepAfter);
    svg.append('path')
        .attr('class', 'it-busy')
        .attr('d', busy([...this.samples, {...this.last, from: this.last.to}]) ?? '');
    if (figures.warm_up > 0) {
      svg.append('rect')
          .attr('class', 'it-warm-up')
          .attr('x', this.x(0))
          .attr('y', MARGIN.top)
          .attr('width', this.x(Math.min(figures.warm_up, this.last.to)) - this.x(0))
          .attr('height', HEIGHT - MARGIN.top - MARGIN.bottom);
    }
  }

  // Median and p95, outliers, and where the level changes.
  private drawLevels(): void {
    const {svg, figures} = this;
    if (figures.count === 0) return;
    const levels = [
      {name: 'median', ns: figures.median_ns, x: MARGIN.left + 4, anchor: 'start'},
      {name: 'p95', ns: figures.p95_ns, x: this.right - 4, anchor: 'end'},
    ];
    for (const {name, ns, x, anchor} of levels) {
      svg.append('line')
          .attr('class', `it-level it-${name}`)
          .attr('x1', MARGIN.left)
          .attr('x2', this.width - MARGIN.right)
          .attr('y1', this.y(ns))
          .attr('y2', this.y(ns));
      svg.append('text')
          .attr('class', 'it-level-name')
          .attr('text-anchor', anchor)
          .attr('x', x)
          .attr('y', this.y(ns) - 3)
          .text(`${name} ${formatTime(ns)}`);
    }
    for (const {from, to, point} of this.standing.outliers) {
      svg.append('circle')
          .attr('class', 'it-outlier')
          .attr('cx', this.x((from + to) / 2))
          .attr('cy', this.y(point[5]))
          .attr('r', 3);
    }
    for (const {sample} of this.standing.changes) {
      svg.append('line')
          .attr('class', 'it-change')
          .attr('x1', this.x(sample.from))
          .attr('x2', this.x(sample.from))
          .attr('y1', MARGIN.top)
          .attr('y2', HEIGHT - MARGIN.bottom);
    }
  }

  private drawAxes(): void {
    const {svg, samples} = this;
    const most = Math.min(10, (this.right - MARGIN.left) / 60);
    svg.append('g')
        .attr('class', 'axis')
        .attr('transform', `translate(0,${HEIGHT - MARGIN.bottom})`)
        .call(axisBottom(this.x)
                  .tickValues(namedPlaces(samples, most).map((place) => place + 0.5))
                  .tickFormat(
                      (middle) =>
                          numberAt(samples, Math.floor(Number(middle))).toLocaleString('en')));
    svg.append('g')
        .attr('class', 'axis')
        .attr('transform', `translate(${MARGIN.left},0)`)
        .call(axisLeft(this.y).ticks(4).tickFormat((ns) => formatTime(Number(ns))));
    svg.append('text')
        .attr('class', 'axis-name')
        .attr('x', (MARGIN.left + this.right) / 2)
        .attr('y', HEIGHT - 2)
        .text('iteration');
  }

  // How many iterations are how long. Those that share a point count with their mean.
  private drawHistogram(): void {
    const {svg, figures} = this;
    const most = this.y.domain()[1];
    const lengths = this.samples.filter(({from}) => from >= figures.warm_up)
                        .flatMap(({mean, point}) => new Array<number>(point[1]).fill(mean));
    const bins = histogram(lengths, most, BINS);
    const left = this.right + 10;
    const scale = (this.width - MARGIN.right - left) / Math.max(1, ...bins);
    bins.forEach((count, i) => {
      if (count === 0) return;
      const [low, high] = [most * i / BINS, most * (i + 1) / BINS];
      svg.append('rect')
          .attr('class', 'it-bin')
          .attr('x', left)
          .attr('width', Math.max(1, count * scale))
          .attr('y', this.y(high) + 0.5)
          .attr('height', Math.max(1, this.y(low) - this.y(high) - 1))
          .append('title')
          .text(`${counted(count, 'iteration')} of ${formatTime(Math.round(low))} to ${
              formatTime(Math.round(high))}`);
    });
    svg.append('text')
        .attr('class', 'axis-name')
        .attr('x', (left + this.width - MARGIN.right) / 2)
        .attr('y', HEIGHT - 2)
        .text('how many');
  }
}

function legendOf(figures: Iterations, palette: Palette): HTMLElement {
  const item = (css: string, text: string, color = '', shown = text): HTMLElement => {
    const swatch = element('span', {class: `swatch ${css}`});
    if (color) swatch.style.background = color;
    return element('li', {title: text}, [swatch, shown]);
  };
  const stacked = figures.operations.slice(0, STACKED).map(({operation}) => operation);
  const shown = distinctNames(stacked, LETTERS);
  const others = figures.operations.length - stacked.length;
  return element('ul', {class: 'legend'}, [
    ...stacked.map((name) => item('', name, palette.ofScope(name), shown.get(name))),
    ...(others > 0 ? [item('it-operation', counted(others, 'other'))] : []),
    item('it-busy', 'GPU busy (line)'),
    item('it-length', 'length (mean where neighbours share a step)'),
    item('it-warm-up', 'warm-up'),
  ]);
}

function chartOf(
    process: ReportProcess, page: PageProcess, figures: Iterations, palette: Palette, show: Show,
    width: number): HTMLElement {
  const chart = new Chart(page, figures, palette, width);
  const holder = chart.node;
  const cursor = chart.cursor();
  const said = element('p', {class: 'note', text: '\u00a0', attributes: {'aria-live': 'polite'}});
  let chosen = -1;
  const choose = (index: number): void => {
    chosen = Math.max(0, Math.min(chart.count - 1, index));
    const [left, wide] = chart.spanOf(chosen);
    cursor.attr('x', left).attr('width', wide);
    const figures = describe(chart.sample(chosen), process.gpu_busy_is_upper_bound, page.unknown);
    said.textContent = `${figures}. Click or press Enter to see it on the timeline.`;
  };
  const go = (): void => {
    if (chosen < 0) return;
    const [, , begin, end] = chart.sample(chosen).point;
    show(begin, end);
  };
  holder.tabIndex = 0;
  holder.setAttribute('role', 'group');
  holder.setAttribute(
      'aria-label', 'Iterations; arrow keys choose one, Enter shows it on the timeline');
  holder.addEventListener('pointermove', (event) => {
    const frame = holder.getBoundingClientRect();
    choose(chart.sampleAt((event.clientX - frame.left) / frame.width * width));
  });
  holder.addEventListener('click', go);
  holder.addEventListener('keydown', (event) => {
    const step = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (step) choose(chosen + step);
    if (event.key === 'Enter') go();
    if (step || event.key === 'Enter') event.preventDefault();
  });
  const standing = figures.count > 0 ?
      [element('p', {class: 'note standing', text: standingText(chart.standing)})] :
      [];
  return element('div', {}, [legendOf(figures, palette), holder, ...standing, said]);
}

const WIDEST = 1600;  // of the picture, whose text is as large as it should be at this width
const NARROWEST = 240;

// A picture that is as wide as the window, so that its text can be read in a narrow one.
export function iterationChart(
    process: ReportProcess, page: PageProcess, figures: Iterations, palette: Palette,
    show: Show): HTMLElement {
  const holder = element('div');
  let width = 0;
  const lay = (): void => {
    const room = Math.min(WIDEST, Math.max(NARROWEST, holder.clientWidth || WIDEST));
    if (room === width) return;
    width = room;
    holder.replaceChildren(chartOf(process, page, figures, palette, show, width));
  };
  lay();
  new ResizeObserver(lay).observe(holder);
  return holder;
}
