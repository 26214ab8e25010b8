// SPDX-License-Identifier: Apache-2.0
//
// What a pointer does on the timeline: a mouse drags a range to zoom to, or with Shift one to select;
// fingers pan and pinch; the wheel zooms with Ctrl and pans sideways. The browser never zooms the
// page instead.
import {Camera} from './camera';

export interface Point {
  x: number;  // pixels of the canvas
  y: number;
}

export interface Actions {
  dragging(from: Point, to: Point, selects: boolean): void;
  dragged(from: Point, to: Point, selects: boolean): void;
  clicked(event: MouseEvent): void;
}

const CLICK = 4;  // pixels: shorter drags are clicks

// Perfetto's: a notch of a wheel, which is 100 to 120 pixels, zooms by about an eighth.
const WHEEL_ZOOM = 0.02;
const wheelFactor = (pixels: number): number =>
    1 - Math.sign(pixels) * Math.log2(1 + Math.abs(pixels)) * WHEEL_ZOOM;

// |area|: where the wheel belongs to the timeline; |canvas|: where pointers do.
export function listenToWheel(area: HTMLElement, canvas: HTMLElement, camera: Camera): void {
  area.addEventListener('wheel', (event) => {
    const frame = canvas.getBoundingClientRect();
    const place = Math.min(1, Math.max(0, (event.clientX - frame.left) / frame.width));
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      camera.zoomBy(wheelFactor(event.deltaY), place);
      return;
    }
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (Math.abs(sideways) <= Math.abs(event.shiftKey ? 0 : event.deltaY)) return;
    event.preventDefault();
    camera.panBy(sideways / frame.width);
  }, {passive: false});
}

export function listenToPointers(canvas: HTMLElement, camera: Camera, actions: Actions): void {
  const fingers = new Map<number, Point>();
  let drag: {from: Point; selects: boolean}|null = null;
  let isClick = false;
  const pointOf = (event: PointerEvent): Point => {
    const frame = canvas.getBoundingClientRect();
    return {x: event.clientX - frame.left, y: event.clientY - frame.top};
  };

  const moveFingers = (id: number, to: Point): void => {
    const from = fingers.get(id);
    const width = canvas.clientWidth;
    if (!from || width === 0) return;
    const other = [...fingers].find(([key]) => key !== id)?.[1];
    fingers.set(id, to);
    if (!other) {
      camera.panBy((from.x - to.x) / width);
      return;
    }
    const apart = (point: Point): number => Math.max(10, Math.abs(point.x - other.x));
    camera.zoomBy(apart(to) / apart(from), (to.x + other.x) / 2 / width);
  };

  canvas.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    const at = pointOf(event);
    isClick = true;
    if (event.pointerType === 'touch') {
      fingers.set(event.pointerId, at);
    } else {
      drag = {from: at, selects: event.shiftKey};
    }
  });
  canvas.addEventListener('pointermove', (event) => {
    const at = pointOf(event);
    if (fingers.has(event.pointerId)) {
      isClick = false;
      moveFingers(event.pointerId, at);
    } else if (drag) {
      isClick &&= Math.abs(at.x - drag.from.x) < CLICK;
      if (!isClick) actions.dragging(drag.from, at, drag.selects);
    }
  });
  const end = (event: PointerEvent): void => {
    fingers.delete(event.pointerId);
    if (drag && !isClick) actions.dragged(drag.from, pointOf(event), drag.selects);
    drag = null;
  };
  canvas.addEventListener('pointerup', end);
  canvas.addEventListener('pointercancel', end);
  canvas.addEventListener('click', (event) => {
    if (isClick) actions.clicked(event);
  });
}
