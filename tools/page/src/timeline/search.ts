// SPDX-License-Identifier: Apache-2.0
//
// Finds events of the timeline by a part of their name, in order of time.
import {element} from '../dom';

import {Track} from './decode';

export interface Place {
  track: number;
  lane: number;
  index: number;
}

// Numbers of the names that contain |text|, whatever its case; none for no text.
function namesWith(names: string[], text: string): Set<number> {
  const wanted = text.trim().toLowerCase();
  const found = new Set<number>();
  if (wanted === '') return found;
  names.forEach((name, number) => {
    if (name.toLowerCase().includes(wanted)) found.add(number);
  });
  return found;
}

// A device has the events of its streams, which are found there.
function placesOf(tracks: Track[], names: Set<number>): Place[] {
  const places: Place[] = [];
  if (names.size === 0) return places;
  tracks.forEach((track, number) => {
    if (track.data.kind === 'device') return;
    track.lanes.forEach((lane, at) => {
      for (let index = 0; index < lane.names.length; ++index) {
        if (names.has(lane.names[index])) places.push({track: number, lane: at, index});
      }
    });
  });
  const begin = ({track, lane, index}: Place): number => tracks[track].lanes[lane].begins[index];
  return places.sort((a, b) => begin(a) - begin(b));
}

export class SearchBox {
  readonly field = element('input', {
    class: 'search',
    attributes: {
      type: 'search',
      placeholder: 'Search events  /',
      'aria-label': 'Search the timeline; Enter goes to the next event, Shift and Enter back',
    },
  });
  readonly count = element('output', {class: 'note', attributes: {'aria-live': 'polite'}});
  found: Set<number> = new Set();
  private places: Place[] = [];
  private at = -1;

  // |whole|: all events of the run are there to be found. |go| shows one.
  constructor(
      private readonly tracks: Track[], private readonly names: string[],
      private readonly whole: boolean, private readonly from: () => number,
      private readonly go: (place: Place) => void, changed: () => void) {
    this.field.addEventListener('input', () => {
      this.find();
      changed();
    });
    this.field.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') this.step(event.shiftKey ? -1 : 1);
      if (event.key !== 'Escape') return;
      this.field.value = '';
      this.find();
      changed();
      this.field.blur();
    });
  }

  // To the next of them, or back; at first to that which begins next after what is seen begins.
  step(by: number): void {
    const {length} = this.places;
    if (length === 0) return;
    if (this.at >= 0) {
      this.at = (this.at + by + length) % length;
    } else {
      const next = this.places.findIndex((place) => this.beginOf(place) >= this.from());
      this.at = by > 0 ? Math.max(0, next) : (next <= 0 ? length : next) - 1;
    }
    this.tell();
    this.go(this.places[this.at]);
  }

  private beginOf({track, lane, index}: Place): number {
    return this.tracks[track].lanes[lane].begins[index];
  }

  private find(): void {
    this.found = namesWith(this.names, this.field.value);
    this.places = placesOf(this.tracks, this.found);
    this.at = -1;
    this.tell();
  }

  private tell(): void {
    const {length} = this.places;
    const where = this.whole ? '' : ' where single events are kept';
    const all = `${length.toLocaleString('en')}${where}`;
    this.count.textContent = this.field.value.trim() === '' ? '' :
        length === 0                                        ? `none${where}` :
                                               this.at < 0 ? all :
                                                             `${(this.at + 1).toLocaleString('en')} of ${all}`;
  }
}
