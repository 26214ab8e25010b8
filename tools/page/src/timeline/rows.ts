// SPDX-License-Identifier: Apache-2.0
//
// What stands below what on the timeline: processes, each with its tracks and counters or folded to
// its devices and its main thread.
import {PageData} from '../data';
import {element} from '../dom';
import {shortName} from '../format';
import {processName} from '../names';

import {Track} from './decode';
import {trackHeight} from './draw';

const HEAD = 26;
const GAP = 4;
const COUNTER = 34;
const IDLE = 20;
const UNFOLDED_AT_FIRST = 2;
const LETTERS = 28;         // of a name that has room beside its track
const MANY_PROCESSES = 32;  // of which folded ones show their devices alone

export interface Row {
  process: number;
  kind: 'head'|'track'|'idle'|'counter';  // 'head': the process's own line
  index: number;                          // into what the timeline has of the kind
  top: number;
  height: number;
}

export class Rows {
  rows: Row[] = [];
  height = 0;
  private readonly folded = new Set<number>();

  constructor(private readonly data: PageData, private readonly tracks: Track[]) {
    const {processes, summary} = data;
    if (processes.length > UNFOLDED_AT_FIRST) {
      processes.forEach((_, process) => {
        if (process !== (summary.told_process ?? 0)) this.folded.add(process);
      });
    }
    this.arrange();
  }

  fold(process: number, folded: boolean): void {
    if (folded) {
      this.folded.add(process);
    } else {
      this.folded.delete(process);
    }
    this.arrange();
  }

  // So that |track| has a row. Whether anything changed.
  uncover(track: number): boolean {
    if (this.rowOf(track)) return false;
    this.fold(this.tracks[track].data.process, false);
    return true;
  }

  at(y: number): Row|undefined {
    return this.rows.find((row) => y >= row.top && y < row.top + row.height);
  }

  // Those that something from |from| to |until| touches.
  between(from: number, until: number): Row[] {
    return this.rows.filter((row) => row.top < until && row.top + row.height > from);
  }

  rowOf(track: number): Row|undefined {
    return this.rows.find(({kind, index}) => kind === 'track' && index === track);
  }

  nameOf({kind, index, process}: Row): string {
    const {report, timeline} = this.data;
    switch (kind) {
      case 'track':
        return timeline.tracks[index].title;
      case 'counter':
        return timeline.counters[index].title;
      case 'idle':
        return `GPU ${timeline.idle[index].ordinal} idle, why`;
      default:
        return processName(report, report.processes[process], '');
    }
  }

  // Buttons and names beside the tracks; |changed| after a process was folded.
  labels(changed: () => void, choose: (track: number) => void): HTMLElement[] {
    return this.rows.map((row) => {
      const label = row.kind === 'head' ? this.head(row, changed) : this.label(row, choose);
      label.style.top = `${row.top}px`;
      label.style.height = `${row.height}px`;
      return label;
    });
  }

  // A long name gives way to the pid after it.
  private head(row: Row, changed: () => void): HTMLElement {
    const folded = this.folded.has(row.process);
    const name = this.nameOf(row);
    const pid = name.lastIndexOf('(');
    const node = element(
        'button', {
          class: 'tl-head',
          title: `${name}: ${folded ? 'show all tracks' : 'show less'}`,
          attributes: {type: 'button', 'aria-expanded': String(!folded)},
        },
        [
          element('span', {text: `${folded ? '\u25b8' : '\u25be'} ${name.slice(0, pid)}`}),
          element('span', {text: name.slice(pid)}),
        ]);
    node.addEventListener('click', () => {
      this.fold(row.process, !folded);
      changed();
    });
    return node;
  }

  private label(row: Row, choose: (track: number) => void): HTMLElement {
    const text = this.nameOf(row);
    if (row.kind !== 'track') return element('div', {class: 'tl-label', text, title: text});
    const {seen} = this.tracks[row.index].data;
    const title = `${text}: ${seen.toLocaleString('en')} event${seen === 1 ? '' : 's'}`;
    const node = element('div', {class: 'tl-label', text: shortName(text, LETTERS), title});
    node.dataset.track = String(row.index);
    node.addEventListener('click', () => choose(row.index));
    return node;
  }

  private isShown({data}: Track): boolean {
    if (!this.folded.has(data.process) || data.kind === 'device') return true;
    return data.kind === 'thread' && data.reporting && this.data.processes.length <= MANY_PROCESSES;
  }

  private arrange(): void {
    const {processes, timeline} = this.data;
    this.rows = [];
    this.height = 0;
    const add = (process: number, kind: Row['kind'], index: number, height: number): void => {
      this.rows.push({process, kind, index, top: this.height, height});
      this.height += height;
    };
    processes.forEach((_, process) => {
      add(process, 'head', process, HEAD);
      this.tracks.forEach((track, index) => {
        const {data} = track;
        if (data.process !== process || !this.isShown(track)) return;
        add(process, 'track', index, trackHeight(track) + GAP);
        if (data.kind !== 'device' || this.folded.has(process)) return;
        const idle = timeline.idle.findIndex(
            (one) => one.process === process && one.ordinal === data.ordinal);
        if (idle >= 0) add(process, 'idle', idle, IDLE);
      });
      if (this.folded.has(process)) return;
      timeline.counters.forEach((counter, index) => {
        if (counter.process === process) add(process, 'counter', index, COUNTER);
      });
    });
  }
}
