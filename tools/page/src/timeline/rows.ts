// SPDX-License-Identifier: Apache-2.0
//
// What stands below what on the timeline: processes, each with its tracks or folded to its devices
// and its main thread.
import {PageData} from '../data';
import {element} from '../dom';
import {processName} from '../names';

import {Track} from './decode';
import {trackHeight} from './draw';

const HEAD = 26;
const GAP = 4;
const UNFOLDED_AT_FIRST = 3;

export interface Row {
  process: number;
  track: number;  // index into the tracks; -1: the process's own line
  top: number;
  height: number;
}

export class Rows {
  rows: Row[] = [];
  height = 0;
  private readonly folded = new Set<number>();

  constructor(private readonly data: PageData, private readonly tracks: Track[]) {
    data.processes.forEach((_, process) => {
      if (process >= UNFOLDED_AT_FIRST) this.folded.add(process);
    });
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

  at(y: number): Row|undefined {
    return this.rows.find((row) => y >= row.top && y < row.top + row.height);
  }

  nameOf(row: Row): string {
    if (row.track >= 0) return this.tracks[row.track].data.title;
    const {report} = this.data;
    return processName(report, report.processes[row.process], '');
  }

  // Buttons and names beside the tracks; |changed| after a process was folded.
  labels(changed: () => void, choose: (track: number) => void): HTMLElement[] {
    return this.rows.map((row) => {
      const label = row.track < 0 ? this.head(row, changed) : this.label(row, choose);
      label.style.top = `${row.top}px`;
      label.style.height = `${row.height}px`;
      return label;
    });
  }

  private head(row: Row, changed: () => void): HTMLElement {
    const folded = this.folded.has(row.process);
    const name = this.nameOf(row);
    const node = element('button', {
      class: 'tl-head',
      text: `${folded ? '\u25b8' : '\u25be'} ${name}`,
      title: `${name}: ${folded ? 'show all tracks' : 'show less'}`,
      attributes: {type: 'button', 'aria-expanded': String(!folded)},
    });
    node.addEventListener('click', () => {
      this.fold(row.process, !folded);
      changed();
    });
    return node;
  }

  private label(row: Row, choose: (track: number) => void): HTMLElement {
    const title = this.nameOf(row);
    const {seen} = this.tracks[row.track].data;
    const node = element(
        'div',
        {class: 'tl-label', text: title, title: `${title}: ${seen.toLocaleString('en')} events`});
    node.dataset.track = String(row.track);
    node.addEventListener('click', () => choose(row.track));
    return node;
  }

  private arrange(): void {
    this.rows = [];
    let top = 0;
    this.data.processes.forEach((_, process) => {
      this.rows.push({process, track: -1, top, height: HEAD});
      top += HEAD;
      this.tracks.forEach((track, index) => {
        const {data} = track;
        if (data.process !== process) return;
        if (this.folded.has(process) && data.kind !== 'device' &&
            !(data.kind === 'thread' && data.reporting))
          return;
        const height = trackHeight(track) + GAP;
        this.rows.push({process, track: index, top, height});
        top += height;
      });
    });
    this.height = top;
  }
}
