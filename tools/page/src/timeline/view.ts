// SPDX-License-Identifier: Apache-2.0
//
// The timeline as a person handles it: what pointers, keys and buttons do to what is seen, chosen
// and selected.
import {select} from 'd3-selection';

import {PageData} from '../data';
import {element} from '../dom';
import {formatTime} from '../format';
import {Palette} from '../palette';
import {aroundPrinting} from '../theme';

import {instant, paintAxis} from './axis';
import {Camera} from './camera';
import {decodeTracks, firstOfWalk} from './decode';
import {bucketsInStep, Stretch} from './draw';
import {eventText} from './event_text';
import {listenToPointers, listenToWheel, Point} from './gestures';
import {helpDialog} from './help';
import {timelineLegend} from './legend';
import {Links} from './links';
import {Paper, PAPER_WIDTH} from './paper';
import {Row, Rows} from './rows';
import {NO_OVERLAY, Overlay, Scene} from './scene';
import {Place, SearchBox} from './search';
import {selectionPanel, sumsIn} from './selection';
import {isIn, thinnedNote} from './thinned';
import {bandTip, counterTip, eventTip, idleTip} from './tip';
import {toolbar} from './toolbar';

const STRIP = 36;
const KEY_ZOOM = 1.6;
const KEY_PAN = 0.15;

export class Timeline {
  readonly node: HTMLElement;
  private readonly rows: Rows;
  private readonly scene: Scene;
  private readonly camera: Camera;
  private readonly links: Links;
  private readonly search: SearchBox;
  private readonly canvas = element('canvas', {
    attributes: {
      tabindex: '0',
      role: 'application',
      'aria-label':
          'Timeline. Left and right pan, plus and minus zoom, up and down choose a track, n and p the next and previous event, 0 shows the whole run, question mark lists all keys.',
    }
  });
  private readonly strip =
      element('canvas', {class: 'tl-strip', attributes: {'aria-hidden': 'true'}});
  private readonly axis = select(document.createElementNS('http://www.w3.org/2000/svg', 'svg'))
                              .attr('class', 'axis')
                              .attr('aria-hidden', 'true');
  private readonly labels = element('div', {class: 'tl-labels'});
  private readonly body = element('div', {class: 'tl-body'});
  private readonly panel = element('div');
  private readonly tip = element('div', {class: 'tip', attributes: {hidden: ''}});
  private readonly status = element('p', {class: 'note', id: 'resolution'});
  private readonly spoken = element(
      'p', {class: 'note', text: '\u00a0', id: 'chosen', attributes: {'aria-live': 'polite'}});
  private readonly help = helpDialog();
  private readonly paper = new Paper();
  private width = 1;
  private overlay: Overlay = {...NO_OVERLAY};
  private pointer: number|null = null;  // where it is over the canvas, 0 to 1
  private pending = false;

  // |moved| is called when something else is seen.
  constructor(
      private readonly data: PageData, palette: Palette, private readonly moved: () => void) {
    const {timeline} = data;
    const tracks = decodeTracks(timeline);
    this.camera = new Camera(Math.max(timeline.span_ns, 1), () => {
      this.tip.hidden = true;
      this.redraw();
      this.moved();
    });
    this.scene = new Scene(data, tracks, palette);
    this.rows = new Rows(data, tracks);
    this.links = new Links(tracks);
    this.search = new SearchBox(
        tracks, timeline.names, timeline.whole, () => this.camera.seen.begin,
        (place) => this.goTo(place), () => {
          this.overlay.found = this.search.found;
          this.redraw();
        });
    this.body.append(element(
        'div', {class: 'tl-sheet'},
        [this.labels, element('div', {class: 'tl-canvas'}, [this.canvas])]));
    const head = element(
        'div', {class: 'tl-row'},
        [element('div', {class: 'tl-side'}), element('div', {class: 'tl-top'})]);
    head.lastElementChild?.append(this.strip, this.axis.node() as SVGSVGElement);
    const note = thinnedNote(timeline);
    if (!note.hidden) this.canvas.setAttribute('aria-describedby', note.id);
    this.node = element('div', {class: 'timeline'}, [
      toolbar(timeline, this.camera, this.search, this.help), note, head, this.body,
      this.paper.node, this.spoken, this.panel, timelineLegend(data, palette), this.status,
      this.tip, this.help
    ]);
    this.listen();
    this.layLabels();
    new ResizeObserver(() => this.resize()).observe(this.node);
  }

  // Shows a stretch with some of what surrounds it, and marks it.
  show(beginNs: number, endNs: number): void {
    this.overlay.marked = {stretch: {begin: beginNs, end: endNs}, track: -1};
    this.camera.moveAround({begin: beginNs, end: endNs});
    (this.node.closest('section') ?? this.node).scrollIntoView({block: 'start'});
    this.canvas.focus({preventScroll: true});
    const gone = isIn(this.scene.thinned, beginNs) ? '; events were thinned there' : '';
    this.spoken.textContent = `Marked: ${formatTime(endNs - beginNs)} from ${
        instant(beginNs, (endNs - beginNs) / 10)}${gone}`;
  }

  // What is seen; null: the whole run.
  get seen(): Stretch|null {
    return this.camera.isWhole() ? null : this.camera.seen;
  }
  see({begin, end}: Stretch): void {
    this.camera.moveTo(begin, end);
  }

  redraw(): void {
    if (this.pending) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      this.paint();
    });
  }

  private listen(): void {
    listenToWheel(this.node, this.canvas, this.camera);
    listenToPointers(this.canvas, this.camera, {
      dragging: (from, to) => {
        this.overlay.dragged = this.stretchOf(from, to);
        this.redraw();
      },
      dragged: (from, to, selects) => {
        this.overlay.dragged = null;
        const stretch = this.stretchOf(from, to);
        if (selects) {
          this.select(stretch, this.rowsBetween(from, to));
        } else {
          this.camera.moveTo(stretch.begin, stretch.end);
        }
      },
      clicked: (event) => this.pick(event),
    });
    this.canvas.addEventListener('pointermove', (event) => this.hover(event));
    this.canvas.addEventListener('pointerleave', () => {
      this.tip.hidden = true;
      this.pointer = null;
    });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    document.addEventListener('keydown', (event) => this.keyAnywhere(event));
    this.body.addEventListener('scroll', () => this.redraw());
    const seek = (event: PointerEvent): void => {
      if (event.buttons !== 1) return;
      const frame = this.strip.getBoundingClientRect();
      this.camera.centreOn((event.clientX - frame.left) / frame.width * this.camera.spanNs);
    };
    this.strip.addEventListener('pointerdown', seek);
    this.strip.addEventListener('pointermove', seek);
    aroundPrinting(
        () => {
          this.paper.draw(this.scene, this.rows, this.camera.seen, this.overlay);
          this.tell(PAPER_WIDTH);
        },
        () => {
          this.paper.clear();
          this.tell(this.width);
        });
  }

  private stretchOf(from: Point, to: Point): Stretch {
    const ns = ({x}: Point): number => this.camera.timeAt(Math.min(1, Math.max(0, x / this.width)));
    return {begin: Math.min(ns(from), ns(to)), end: Math.max(ns(from), ns(to))};
  }

  private rowsBetween(from: Point, to: Point): Row[] {
    const {scrollTop} = this.body;
    return this.rows.between(
        Math.min(from.y, to.y) + scrollTop, Math.max(from.y, to.y) + scrollTop);
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
    this.redraw();
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const {camera} = this;
    const at = this.pointer ?? 0.5;
    const actions: Record<string, () => void> = {
      'ArrowLeft': () => camera.panBy(-KEY_PAN),
      'ArrowRight': () => camera.panBy(KEY_PAN),
      'a': () => camera.panBy(-KEY_PAN),
      'd': () => camera.panBy(KEY_PAN),
      'ArrowUp': () => this.stepTrack(-1),
      'ArrowDown': () => this.stepTrack(1),
      '+': () => camera.zoomBy(KEY_ZOOM),
      '=': () => camera.zoomBy(KEY_ZOOM),
      'w': () => camera.zoomBy(KEY_ZOOM, at),
      '-': () => camera.zoomBy(1 / KEY_ZOOM),
      's': () => camera.zoomBy(1 / KEY_ZOOM, at),
      '0': () => camera.showAll(),
      'Home': () => camera.moveTo(0, camera.lengthNs),
      'End': () => camera.moveTo(camera.spanNs - camera.lengthNs, camera.spanNs),
      'n': () => this.stepEvent(1),
      'p': () => this.stepEvent(-1),
      'f': () => {
        const stretch = this.overlay.marked?.stretch ?? this.overlay.selected;
        if (stretch) camera.moveAround(stretch);
      },
      'Escape': () => this.forget(),
    };
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // Wherever the focus is, unless text is being typed.
  private keyAnywhere(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement)
      return;
    if (event.key === '?' && !this.help.open) this.help.showModal();
    if (event.key !== '/') return;
    event.preventDefault();
    this.search.field.scrollIntoView({block: 'nearest'});
    this.search.field.focus();
    this.search.field.select();
  }

  private forget(): void {
    const {found} = this.overlay;
    this.overlay = {...NO_OVERLAY, found};
    this.panel.replaceChildren();
    this.redraw();
  }

  private select(stretch: Stretch, rows: Row[]): void {
    const {timeline} = this.data;
    const exact =
        this.scene.detail.some(({begin, end}) => begin <= stretch.begin && end >= stretch.end);
    const tracks =
        rows.filter(({kind}) => kind === 'track').map(({index}) => this.scene.tracks[index]);
    this.overlay.selected = stretch;
    this.panel.replaceChildren(selectionPanel(
        sumsIn(tracks, stretch, exact, timeline.bucket_ns), stretch, exact, timeline.names,
        () => this.camera.moveTo(stretch.begin, stretch.end), () => this.forget()));
    this.redraw();
  }

  private chooseTrack(track: number): void {
    Object.assign(this.overlay, {chosen: track, place: null, partners: []});
    this.spoken.textContent = `Track ${this.scene.tracks[track].data.title}`;
    this.redraw();
  }

  private stepTrack(step: number): void {
    const order = this.rows.rows.filter(({kind}) => kind === 'track');
    if (order.length === 0) return;
    const now = order.findIndex(({index}) => index === this.overlay.chosen);
    const next = now < 0 ? (step > 0 ? 0 : order.length - 1) :
                           Math.min(order.length - 1, Math.max(0, now + step));
    this.chooseTrack(order[next].index);
    this.scrollTo(order[next]);
  }

  private scrollTo(row: Row): void {
    if (row.top < this.body.scrollTop) this.body.scrollTop = row.top;
    const below = row.top + row.height - this.body.clientHeight;
    if (below > this.body.scrollTop) this.body.scrollTop = below;
  }

  private stepEvent(step: number): void {
    const {overlay, camera} = this;
    if (overlay.chosen < 0) this.stepTrack(1);
    const at = overlay.place?.lane ?? 0;
    const lane = this.scene.tracks[overlay.chosen]?.lanes[at];
    if (!lane) return;
    const index = overlay.place ? overlay.place.index + step :
                                  firstOfWalk(lane, camera.seen.begin, camera.seen.end, step);
    if (index >= 0 && index < lane.begins.length) {
      this.choose({track: overlay.chosen, lane: at, index});
    } else {
      this.spoken.textContent = step > 0 ? 'No later event' : 'No earlier event';
    }
  }

  // Marks an event, says what it is, and brings it into view.
  private choose(place: Place): void {
    const {track, index} = place;
    const {seen} = this.camera;
    const lane = this.scene.tracks[track].lanes[place.lane];
    const stretch = {begin: lane.begins[index], end: lane.ends[index]};
    const partners = this.links.partnersOf(place);
    Object.assign(this.overlay, {chosen: track, place, partners, marked: {stretch, track}});
    this.spoken.textContent =
        eventText(this.data.timeline.names, this.scene.tracks, place, partners);
    if (stretch.end < seen.begin || stretch.begin > seen.end)
      this.camera.centreOn((stretch.begin + stretch.end) / 2);
    this.redraw();
  }

  // To an event that may be out of sight, whose process may be folded.
  private goTo(place: Place): void {
    if (this.rows.uncover(place.track)) {
      this.layLabels();
      this.resize();
    }
    const lane = this.scene.tracks[place.track].lanes[place.lane];
    const stretch = {begin: lane.begins[place.index], end: lane.ends[place.index]};
    // As large as it can be told apart, which the whole run's events mostly cannot.
    const pixels = (stretch.end - stretch.begin) / this.camera.lengthNs * this.width;
    if (pixels < 3) this.camera.moveAround(stretch);
    this.choose(place);
    const row = this.rows.rowOf(place.track);
    if (row) this.scrollTo(row);
  }

  private under(event: MouseEvent): {row: Row; y: number; ns: number}|null {
    const frame = this.canvas.getBoundingClientRect();
    const y = event.clientY - frame.top + this.body.scrollTop;
    const row = this.rows.at(y);
    if (!row || row.kind === 'head') return null;
    return {row, y, ns: this.camera.timeAt((event.clientX - frame.left) / this.width)};
  }

  private pick(event: MouseEvent): void {
    const at = this.under(event);
    if (!at || at.row.kind !== 'track') return;
    const found = this.scene.eventAt(at.row, at.y, at.ns, this.camera.seen, this.width);
    if (found) {
      this.choose({track: at.row.index, ...found});
    } else {
      this.chooseTrack(at.row.index);
    }
  }

  private tipOf({row, y, ns}: {row: Row; y: number; ns: number}): HTMLElement[] {
    const {timeline} = this.data;
    const {seen} = this.camera;
    if (row.kind === 'counter') return counterTip(timeline.counters[row.index], ns);
    if (row.kind === 'idle') return idleTip(timeline.idle[row.index], ns, this.data);
    const track = this.scene.tracks[row.index];
    const found = this.scene.eventAt(row, y, ns, seen, this.width);
    return found ? eventTip(timeline.names, track, found) :
                   bandTip(
                       timeline, track, ns, bucketsInStep(seen, this.width, timeline.bucket_ns),
                       this.scene.thinnedOf(row.index));
  }

  private hover(event: PointerEvent): void {
    const place = this.canvas.getBoundingClientRect();
    this.pointer = (event.clientX - place.left) / this.width;
    const at = this.under(event);
    this.tip.hidden = at === null || event.buttons !== 0;
    if (!at || this.tip.hidden) return;
    this.tip.replaceChildren(...this.tipOf(at));
    const frame = this.node.getBoundingClientRect();
    const left = event.clientX - frame.left + 12;
    const top = event.clientY - frame.top + 18;
    this.tip.style.left = `${Math.min(left, frame.width - this.tip.offsetWidth - 4)}px`;
    this.tip.style.top = `${top}px`;
  }

  private paint(): void {
    const main = this.canvas.getContext('2d');
    const strip = this.strip.getContext('2d');
    if (!main || !strip || this.canvas.width === 0) return;
    main.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    strip.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
    const {seen} = this.camera;
    this.scene.draw(
        main, this.width, this.canvas.height / devicePixelRatio, this.rows, this.body.scrollTop,
        seen, this.overlay);
    this.scene.drawStrip(strip, this.width, STRIP, seen);
    paintAxis(this.axis, seen, this.width);
    this.tell(this.width);
  }

  // Says what is shown on |pixels|.
  private tell(pixels: number): void {
    const {seen, lengthNs} = this.camera;
    const {events, stepNs, isTooDeep} = this.scene.resolution(this.rows, seen, pixels);
    const gone = this.scene.thinned.some(({begin, end}) => begin < seen.end && end > seen.begin);
    const how = events > 0.999 ? (gone ? 'every single event that is left' : 'every single event') :
        events > 0 ? `single events where they can be told apart, elsewhere shares in steps of ${
                         formatTime(stepNs)}` :
                     `shares in steps of ${formatTime(stepNs)}`;
    const kept =
        this.data.timeline.whole ? '' : ' Orange marks in the strip: where single events are kept.';
    const deep = isTooDeep ? ' The innermost of deeply nested scopes are not drawn.' : '';
    this.status.textContent = `Shown: ${formatTime(Math.round(lengthNs))} from ${
        instant(seen.begin, lengthNs / 100)}, ${how}.${kept}${deep}`;
  }
}
