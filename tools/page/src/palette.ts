// SPDX-License-Identifier: Apache-2.0
//
// Colours, each with one meaning on the page: operations have those of Okabe and Ito, which people
// with any colour vision can tell apart; what the GPU does is green, and grey where it does nothing;
// causes of idle time are browns and reds, and violets where roles wait for each other; CUDA calls
// are slate. A word stands beside each.

import {NO_OPERATION} from './data';

export interface Column {
  key: 'cpu_only_ns'|'cpu_gpu_ns'|'gpu_only_ns'|'waiting_ns'|'idle_ns'|'unknown_ns';
  name: string;
  css: string;
  help: string;
}

export const COLUMNS: Column[] = [
  {key: 'gpu_only_ns', name: 'GPU only', css: 'c-gpu-only', help: 'CPU waits for it'},
  {key: 'cpu_gpu_ns', name: 'CPU+GPU', css: 'c-cpu-gpu', help: 'both work'},
  {key: 'cpu_only_ns', name: 'CPU only', css: 'c-cpu-only', help: 'GPU idle'},
  {key: 'waiting_ns', name: 'waiting', css: 'c-waiting', help: 'for another process, GPU idle'},
  {key: 'idle_ns', name: 'idle', css: 'c-idle', help: 'GPU idle, CPU blocked'},
  {key: 'unknown_ns', name: 'unknown', css: 'c-unknown', help: 'GPU work could not be recorded'},
];

const OPERATIONS = ['#0072B2', '#E69F00', '#CC79A7', '#56B4E9', '#D55E00', '#8C6BB1'];
const GREY = '#8a8f98';
const UNNAMED = '#b9bec7';  // time of no operation
const WAITS = '#C9B3C4';    // of a thread: as those of roles, and paler
// Not an object: a kernel may have the name of what every object inherits.
const CLASSES = new Map([['compute', '#009E73'], ['comm', '#9C8B00'], ['copy', '#86D0BB']]);

const CAUSES = new Map([
  ['launch', '#B3541E'],
  ['simulation', '#E3904F'],
  ['sync', '#7F2704'],
  ['copy', '#F2C29B'],
  ['waiting', '#9E6B90'],
  ['start-up', '#D9C48F'],
  ['compile', '#A6872F'],
  ['checkpoint', '#6B5B3E'],
  ['queued', '#C0392B'],
  ['event-wait', '#E8A0A0'],
]);

// Why a device is idle that a role holds. What is a cause of idle time elsewhere has its colour.
const BUBBLES = new Map([
  ['starved', '#5B3A8C'],
  ['blocked', '#B7A2D6'],
  ['tail', '#6F7A1F'],
  ['weight sync', '#7D1F45'],
  ['environment or reward', '#E3904F'],
  ['start-up', '#D9C48F'],
]);

function hashOf(text: string): number {
  let hash = 2166136261;
  for (let i = 0; i < text.length; ++i) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  return hash >>> 0;
}

// Of "#0072B2" or "rgb(0,114,178)".
const partsOf = (color: string): number[] => color.startsWith('#') ?
    [1, 3, 5].map((i) => parseInt(color.slice(i, i + 2), 16)) :
    (color.match(/\d+/g) ?? []).map(Number);

// As WCAG 2 defines it.
function luminance(color: string): number {
  const [red, green, blue] = partsOf(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const inks = new Map<string, string>();

// Black or white, whichever can be read better on |color|.
export function inkOn(color: string): string {
  let ink = inks.get(color);
  if (ink === undefined) {
    const light = luminance(color) + 0.05;
    inks.set(color, ink = light / 0.05 > 1.05 / light ? '#000' : '#fff');
  }
  return ink;
}

// |color| lighter or darker, so that neighbours of one kind can be told apart.
function shade(color: string, step: number): string {
  const mixed = partsOf(color).map(
      (part) => Math.round(step < 0 ? part * (1 + step) : part + (255 - part) * step));
  return `rgb(${mixed.join(',')})`;
}

// One of 24 hues, pale, so that it is not taken for a colour that means something.
function hashColor(name: string): string {
  const hue = hashOf(name) % 24 * 15;
  const part = (at: number): number => {
    const k = (at + hue / 30) % 12;
    return Math.round(255 * (0.76 - 0.17 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return `rgb(${part(0)},${part(8)},${part(4)})`;
}

// Colours of the names on the timeline.
export class Palette {
  private readonly operations = new Map<string, string>();
  private readonly cache = new Map<string, string>();

  // |work|: classes of device work that does not compute, by name. |byName|: kernels get a colour
  // by their name, as in traces whose tools do. |waits|: names of scopes in which a thread waits.
  constructor(
      operations: string[], private readonly work: Map<string, string>,
      private readonly byName = false, private readonly waits = new Set<string>()) {
    operations.forEach((name, i) => {
      const round = Math.floor(i / OPERATIONS.length);
      this.operations.set(
          name,
          shade(
              OPERATIONS[i % OPERATIONS.length],
              round === 0   ? 0 :
                  round % 2 ? 0.35 :
                              -0.3));
    });
  }

  operationNames(): string[] {
    return [...this.operations.keys()];
  }

  ofScope(name: string): string {
    if (name === NO_OPERATION) return UNNAMED;
    if (/^\(\d+ others\)$/.test(name)) return GREY;
    return this.operations.get(name) ??
        (this.waits.has(name) ? WAITS : this.cached(`s${name}`, () => hashColor(name)));
  }

  ofCall(name: string): string {
    return this.cached(`c${name}`, () => {
      if (/Synchronize|Wait|Query/.test(name)) return '#2F3E55';
      if (/Launch/.test(name)) return '#6F86A6';
      if (/Mem(cpy|set)/.test(name)) return '#A9BCD6';
      return GREY;
    });
  }

  ofCause(cause: string): string {
    return CAUSES.get(cause) ?? GREY;
  }

  ofBubble(cause: string): string {
    return BUBBLES.get(cause) ?? GREY;
  }

  // The class of |name|, of a kernel or copy, where each would have a colour of its own.
  ofClass(name: string): string {
    return CLASSES.get(name) ?? CLASSES.get(this.work.get(name) ?? 'compute') ?? GREY;
  }

  // |name|: of a kernel or copy, or a class.
  ofWork(name: string): string {
    const ofClass = CLASSES.get(name);
    if (ofClass !== undefined) return ofClass;
    return this.cached(`w${name}`, () => {
      const known = this.work.get(name) ?? 'compute';
      if (this.byName && known === 'compute') return hashColor(name);
      return shade(CLASSES.get(known) ?? GREY, ((hashOf(name) % 5) - 2) * 0.1);
    });
  }

  private cached(key: string, make: () => string): string {
    let color = this.cache.get(key);
    if (color === undefined) this.cache.set(key, color = make());
    return color;
  }
}
