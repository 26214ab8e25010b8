// SPDX-License-Identifier: Apache-2.0
//
// The timeline as a person handles it: zoom and pan with wheel, fingers, buttons or keys, look at
// single events, jump to a gap or an iteration.
import {scaleLinear} from 'd3-scale';
import {select} from 'd3-selection';
import {zoom, zoomIdentity, ZoomTransform} from 'd3-zoom';

import {PageData} from '../data';
import {button, element} from '../dom';
import {exactNs, formatTime} from '../format';
import {Palette} from '../palette';
import {aroundPrinting} from '../theme';

import {instant, paintAxis} from './axis';
import {decodeTracks, firstOfWalk} from './decode';
import {bucketsInStep, Stretch} from './draw';
import {timelineLegend} from './legend';
import {Paper, PAPER_WIDTH} from './paper';
import {Row, Rows} from './rows';
import {Marked, Scene} from './scene';
import {atLeast, cutText, isIn, newestDetail, thinnedNote} from './thinned';
import {bandTip, eventTip} from './tip';

const SHORTEST_NS = 200;  // that can be seen at once
const STRIP = 36;

export class Timeline {
  readonly node: HTMLElement;
  private readonly rows: Rows;
  private readonly scene: Scene;
  private readonly spanNs: number;
  private readonly canvas = element('canvas', {
    attributes: {
      tabindex: '0',
      role: 'application',
      'aria-label':
          'Timeline. Left and right pan, plus and minus zoom, up and down choose a track, n and p the next and previous event, 0 shows the whole run.',
    }
  });
  private readonly strip =
      element('canvas', {class: 'tl-strip', attributes: {'aria-hidden': 'true'}});
  private readonly axis = select(document.createElementNS('http://www.w3.org/2000/svg', 'svg'))
                              .attr('class', 'axis')
                              .attr('aria-hidden', 'true');
  private readonly labels = element('div', {class: 'tl-labels'});
  private readonly body = element('div', {class: 'tl-body'});
  private readonly tip = element('div', {class: 'tip', attributes: {hidden: ''}});
  private readonly status = element('p', {class: 'note', id: 'resolution'});
  private readonly spoken = element(
      'p', {class: 'note', text: '\u00a0', id: 'chosen', attributes: {'aria-live': 'polite'}});
  private readonly paper = new Paper();
  private readonly zooming = zoom<HTMLCanvasElement, unknown>();
  private width = 1;
  private view: Stretch;
  private marked: Marked|null = null;
  private chosen = -1;
  private event = {lane: 0, index: -1};
  private pending = false;

  constructor(private readonly data: PageData, palette: Palette) {
    const tracks = decodeTracks(data.timeline);
    this.spanNs = Math.max(data.timeline.span_ns, 1);
    this.view = {begin: 0, end: this.spanNs};
    this.scene = new Scene(data, tracks, palette);
    this.rows = new Rows(data, tracks);
    const sheet = element(
        'div', {class: 'tl-sheet'},
        [this.labels, element('div', {class: 'tl-canvas'}, [this.canvas])]);
    this.body.append(sheet);
    const head = element(
        'div', {class: 'tl-row'},
        [element('div', {class: 'tl-side'}), element('div', {class: 'tl-top'})]);
    head.lastElementChild?.append(this.strip, this.axis.node() as SVGSVGElement);
    const note = thinnedNote(data.timeline);
    if (!note.hidden) this.canvas.setAttribute('aria-describedby', note.id);
    this.node = element('div', {class: 'timeline'}, [
      this.tools(), note, head, this.body, this.paper.node,
      timelineLegend(palette, data.timeline.thinned.length > 0), this.status, this.spoken, this.tip
    ]);
    this.listen();
    aroundPrinting(
        () => {
          this.paper.draw(this.scene, this.rows, this.view, this.marked);
          this.tell(PAPER_WIDTH);
        },
        () => {
          this.paper.clear();
          this.tell(this.width);
        });
    this.layLabels();
    new ResizeObserver(() => this.resize()).observe(this.node);
  }

  // Shows a stretch with some of what surrounds it, and marks it.
  show(beginNs: number, endNs: number): void {
    const around = Math.max((endNs - beginNs) * 0.3, SHORTEST_NS);
    this.marked = {stretch: {begin: beginNs, end: endNs}, track: -1};
    this.moveTo(beginNs - around, endNs + around);
    (this.node.closest('section') ?? this.node).scrollIntoView({block: 'start'});
    this.canvas.focus({preventScroll: true});
    const gone = isIn(this.scene.thinned, beginNs) ? '; events were thinned there' : '';
    this.spoken.textContent = `Marked: ${formatTime(endNs - beginNs)} from ${
        instant(beginNs, (endNs - beginNs) / 10)}${gone}`;
  }

  redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  get visible(): Stretch {
    return this.view;
  }

  private tools(): HTMLElement {
    const bar =
        element('div', {class: 'tools', attributes: {role: 'toolbar', 'aria-label': 'Timeline'}}, [
          button('\u2212', () => this.scaleBy(0.5), 'Zoom out (-)'),
          button('+', () => this.scaleBy(2), 'Zoom in (+)'),
          button('Whole run', () => this.moveTo(0, this.spanNs), 'Show everything (0)'),
          button('\u25c0', () => this.panBy(-0.25), 'Earlier (left arrow)'),
          button('\u25b6', () => this.panBy(0.25), 'Later (right arrow)'),
        ]);
    const newest = newestDetail(this.data.timeline);
    if (newest > 0 && newest < this.spanNs) {
      bar.append(button(
          'Newest detail', () => this.moveTo(newest, this.spanNs),
          'Where events were not thinned'));
    }
    const {whole, windows} = this.data.timeline;
    if (!whole && windows.length > 0) {
      const choice = element(
          'select', {
            title: 'Where single events are kept',
            attributes: {'aria-label': 'Jump to where single events are kept'}
          },
          [
            element('option', {text: 'Single events at \u2026'}),
            ...windows.map(
                ([begin, , why]) => element('option', {text: `${formatTime(begin)}: ${why}`})),
          ]);
      choice.addEventListener('change', () => {
        const window = windows[choice.selectedIndex - 1];
        if (window) this.moveTo(window[0], window[1]);
      });
      bar.append(choice);
    }
    bar.append(element('span', {
      class: 'note',
      text:
          'Drag to pan; Ctrl and wheel, pinch or double click to zoom; click an event for its length.'
    }));
    return bar;
  }

  private listen(): void {
    this.zooming.filter((event: Event) => {
      if (event.type === 'wheel')
        return (event as WheelEvent).ctrlKey || (event as WheelEvent).metaKey;
      return !(event as MouseEvent).button;
    });
    this.zooming.on('zoom', ({transform}: {transform: ZoomTransform}) => {
      const base = scaleLinear([0, this.spanNs], [0, this.width]);
      const [begin, end] = transform.rescaleX(base).domain();
      this.view = {begin, end};
      this.tip.hidden = true;
      this.redraw();
    });
    select(this.canvas).call(this.zooming);
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => this.tip.hidden = true);
    this.canvas.addEventListener('click', (event) => this.pick(event));
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    this.body.addEventListener('scroll', () => this.redraw());
    const seek = (event: PointerEvent): void => {
      if (event.buttons !== 1) return;
      const frame = this.strip.getBoundingClientRect();
      const middle = (event.clientX - frame.left) / frame.width * this.spanNs;
      const half = (this.view.end - this.view.begin) / 2;
      this.moveTo(middle - half, middle + half);
    };
    this.strip.addEventListener('pointerdown', seek);
    this.strip.addEventListener('pointermove', seek);
  }

  private layLabels(): void {
    this.labels.replaceChildren(...this.rows.labels(() => {
      this.layLabels();
      this.resize();
    }, (track) => this.chooseTrack(track)));
    this.labels.style.height = `${this.rows.height}px`;
  }

  private resize(): void {
    const sheet = this.canvas.parentElement;
    if (!sheet || sheet.clientWidth === 0) return;
    this.width = sheet.clientWidth;
    sheet.style.height = `${this.rows.height}px`;
    const height = Math.min(this.rows.height, this.body.clientHeight || this.rows.height);
    for (const [canvas, tall] of [
             [this.canvas, height], [this.strip, STRIP]] as [HTMLCanvasElement, number][]) {
      canvas.width = Math.round(this.width * devicePixelRatio);
      canvas.height = Math.round(tall * devicePixelRatio);
      canvas.style.width = `${this.width}px`;
      canvas.style.height = `${tall}px`;
    }
    this.zooming.scaleExtent([1, Math.max(1, this.spanNs / SHORTEST_NS)])
        .extent([[0, 0], [this.width, height]])
        .translateExtent([[0, 0], [this.width, height]]);
    this.moveTo(this.view.begin, this.view.end);
  }

  private moveTo(begin: number, end: number): void {
    const length = Math.min(this.spanNs, Math.max(SHORTEST_NS, end - begin));
    const from = Math.min(Math.max(0, begin), this.spanNs - length);
    const scale = this.spanNs / length;
    const transform =
        zoomIdentity.translate(-from / this.spanNs * this.width * scale, 0).scale(scale);
    select(this.canvas).call(this.zooming.transform, transform);
  }

  private panBy(share: number): void {
    const step = (this.view.end - this.view.begin) * share;
    this.moveTo(this.view.begin + step, this.view.end + step);
  }

  private scaleBy(factor: number): void {
    const middle = (this.view.begin + this.view.end) / 2;
    const half = (this.view.end - this.view.begin) / factor / 2;
    this.moveTo(middle - half, middle + half);
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const actions: Record<string, () => void> = {
      'ArrowLeft': () => this.panBy(-0.15),
      'ArrowRight': () => this.panBy(0.15),
      'a': () => this.panBy(-0.15),
      'd': () => this.panBy(0.15),
      'ArrowUp': () => this.stepTrack(-1),
      'ArrowDown': () => this.stepTrack(1),
      '+': () => this.scaleBy(1.6),
      '=': () => this.scaleBy(1.6),
      'w': () => this.scaleBy(1.6),
      '-': () => this.scaleBy(1 / 1.6),
      's': () => this.scaleBy(1 / 1.6),
      '0': () => this.moveTo(0, this.spanNs),
      'Home': () => this.moveTo(0, this.view.end - this.view.begin),
      'End': () => this.moveTo(this.spanNs, this.spanNs + this.view.end - this.view.begin),
      'n': () => this.stepEvent(1),
      'p': () => this.stepEvent(-1),
      'Escape': () => {
        this.marked = null;
        this.redraw();
      },
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private chooseTrack(track: number): void {
    this.chosen = track;
    this.event = {lane: 0, index: -1};
    this.spoken.textContent = `Track ${this.scene.tracks[track].data.title}`;
    this.redraw();
  }

  private stepTrack(step: number): void {
    const order = this.rows.rows.filter((row) => row.track >= 0);
    if (order.length === 0) return;
    const now = order.findIndex((row) => row.track === this.chosen);
    const next = now < 0 ? (step > 0 ? 0 : order.length - 1) :
                           Math.min(order.length - 1, Math.max(0, now + step));
    this.chooseTrack(order[next].track);
    const row = order[next];
    if (row.top < this.body.scrollTop) this.body.scrollTop = row.top;
    const below = row.top + row.height - this.body.clientHeight;
    if (below > this.body.scrollTop) this.body.scrollTop = below;
  }

  private stepEvent(step: number): void {
    if (this.chosen < 0) this.stepTrack(1);
    const lane = this.scene.tracks[this.chosen]?.lanes[this.event.lane];
    if (!lane) return;
    const index = this.event.index < 0 ? firstOfWalk(lane, this.view.begin, this.view.end, step) :
                                         this.event.index + step;
    if (index >= 0 && index < lane.begins.length) {
      this.tellEvent(this.chosen, this.event.lane, index);
    } else {
      this.spoken.textContent = step > 0 ? 'No later event' : 'No earlier event';
    }
  }

  // Marks an event, says what it is, and brings it into view.
  private tellEvent(track: number, laneIndex: number, index: number): void {
    const lane = this.scene.tracks[track].lanes[laneIndex];
    this.chosen = track;
    this.event = {lane: laneIndex, index};
    const begin = lane.begins[index];
    const end = lane.ends[index];
    this.marked = {stretch: {begin, end}, track};
    this.spoken.textContent = `${this.data.timeline.names[lane.names[index]]}: ${
        atLeast(lane, index)}${formatTime(end - begin)} (${exactNs(end - begin)}) at ${
        instant(begin, 1)}${cutText(lane, index)}`;
    if (end < this.view.begin || begin > this.view.end) {
      const half = (this.view.end - this.view.begin) / 2;
      this.moveTo(begin - half, begin + half);
    }
    this.redraw();
  }

  private under(event: MouseEvent): {row: Row; y: number; ns: number}|null {
    const frame = this.canvas.getBoundingClientRect();
    const y = event.clientY - frame.top + this.body.scrollTop;
    const row = this.rows.at(y);
    if (!row || row.track < 0) return null;
    const ns = this.view.begin +
        (event.clientX - frame.left) / this.width * (this.view.end - this.view.begin);
    return {row, y, ns};
  }

  private pick(event: MouseEvent): void {
    const at = this.under(event);
    if (!at) return;
    const found = this.scene.eventAt(at.row, at.y, at.ns, this.view, this.width);
    if (found) {
      this.tellEvent(at.row.track, found.lane, found.index);
    } else {
      this.chooseTrack(at.row.track);
    }
  }

  private hover(event: PointerEvent): void {
    const at = this.under(event);
    this.tip.hidden = at === null || event.buttons !== 0;
    if (!at || this.tip.hidden) return;
    const track = this.scene.tracks[at.row.track];
    const {timeline} = this.data;
    const found = this.scene.eventAt(at.row, at.y, at.ns, this.view, this.width);
    this.tip.replaceChildren(
        ...(found ? eventTip(timeline.names, track, found) :
                    bandTip(
                        timeline, track, at.ns,
                        bucketsInStep(this.view, this.width, timeline.bucket_ns),
                        this.scene.thinnedOf(at.row.track))));
    const frame = this.node.getBoundingClientRect();
    this.tip.style.left =
        `${Math.min(event.clientX - frame.left + 12, frame.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${event.clientY - frame.top + 14}px`;
  }

  private paint(): void {
    const main = this.canvas.getContext('2d');
    const strip = this.strip.getContext('2d');
    if (!main || !strip || this.canvas.width === 0) return;
    main.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    strip.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    this.scene.draw(
        main, this.width, this.canvas.height / devicePixelRatio, this.rows, this.body.scrollTop,
        this.view, this.marked, this.chosen);
    this.scene.drawStrip(strip, this.width, STRIP, this.view);
    paintAxis(this.axis, this.view, this.width);
    this.tell(this.width);
  }

  // Says what is shown on |pixels|.
  private tell(pixels: number): void {
    const length = this.view.end - this.view.begin;
    const {events, stepNs, isTooDeep} = this.scene.resolution(this.rows, this.view, pixels);
    const gone =
        this.scene.thinned.some(({begin, end}) => begin < this.view.end && end > this.view.begin);
    const how = events > 0.999 ? (gone ? 'every single event that is left' : 'every single event') :
        events > 0 ? `single events where they can be told apart, elsewhere shares in steps of ${
                         formatTime(stepNs)}` :
                     `shares in steps of ${formatTime(stepNs)}`;
    const kept =
        this.data.timeline.whole ? '' : ' Orange marks in the strip: where single events are kept.';
    const deep = isTooDeep ? ' The innermost of deeply nested scopes are not drawn.' : '';
    this.status.textContent = `Shown: ${formatTime(Math.round(length))} from ${
        instant(this.view.begin, length / 100)}, ${how}.${kept}${deep}`;
  }
}
