// SPDX-License-Identifier: Apache-2.0
//
// Colours: Okabe and Ito's, which people with any colour vision can tell apart. Where colour alone
// would carry a meaning, style.css adds a pattern and the page a word.

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

const OPERATIONS = ['#0072B2', '#E69F00', '#009E73', '#CC79A7', '#D55E00', '#56B4E9', '#B5A300'];
const GREY = '#8a8f98';
// Not an object: a kernel may have the name of what every object inherits.
const CLASSES = new Map([['compute', '#009E73'], ['comm', '#D55E00'], ['copy', '#56B4E9']]);

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

// Colours of the names on the timeline.
export class Palette {
  private readonly operations = new Map<string, string>();
  private readonly cache = new Map<string, string>();

  // |work|: classes of device work that does not compute, by name.
  constructor(operations: string[], private readonly work: Map<string, string>) {
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
    return this.operations.get(name) ??
        this.cached(`s${name}`, () => shade(GREY, ((hashOf(name) % 5) - 2) * 0.12));
  }

  ofCall(name: string): string {
    return this.cached(`c${name}`, () => {
      if (/Synchronize|Wait|Query/.test(name)) return '#D55E00';
      if (/Launch/.test(name)) return '#E69F00';
      if (/Mem(cpy|set)/.test(name)) return '#56B4E9';
      return GREY;
    });
  }

  // |name|: of a kernel or copy, or a class.
  ofWork(name: string): string {
    const ofClass = CLASSES.get(name);
    if (ofClass !== undefined) return ofClass;
    return this.cached(`w${name}`, () => {
      const known = this.work.get(name) ?? 'compute';
      return shade(CLASSES.get(known) ?? GREY, ((hashOf(name) % 5) - 2) * 0.1);
    });
  }

  private cached(key: string, make: () => string): string {
    let color = this.cache.get(key);
    if (color === undefined) this.cache.set(key, color = make());
    return color;
  }
}
