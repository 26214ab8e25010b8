// SPDX-License-Identifier: Apache-2.0
//
// Which call launched which device work, by the number that CUPTI gives to both.
import {Track} from './decode';
import {Place} from './search';

const MOST = 64;  // of what one call launched, as a graph

export class Links {
  private readonly byProcess = new Map<number, Map<number, Place[]>>();

  constructor(private readonly tracks: Track[]) {}

  // The work that the call at |place| launched, or the call that launched the work there.
  partnersOf(place: Place): Place[] {
    const {data, lanes} = this.tracks[place.track];
    const link = lanes[place.lane].links[place.index];
    if (!link) return [];
    const isCall = data.kind === 'calls';
    const others = (this.ofProcess(data.process).get(link) ??
                    []).filter(({track}) => (this.tracks[track].data.kind === 'calls') !== isCall);
    if (isCall) return others.slice(0, MOST);
    // Numbers may come again in a long run: the last call before the work.
    const begin = lanes[place.lane].begins[place.index];
    const before = others.filter((other) => this.beginOf(other) <= begin);
    return before.slice(-1);
  }

  private beginOf({track, lane, index}: Place): number {
    return this.tracks[track].lanes[lane].begins[index];
  }

  private ofProcess(process: number): Map<number, Place[]> {
    let places = this.byProcess.get(process);
    if (places) return places;
    places = new Map();
    this.tracks.forEach(({data, lanes}, track) => {
      if (data.process !== process || data.kind === 'device') return;
      lanes.forEach(({links}, lane) => {
        links.forEach((link, index) => {
          if (link === 0) return;
          const known = places?.get(link);
          if (known)
            known.push({track, lane, index});
          else
            places?.set(link, [{track, lane, index}]);
        });
      });
    });
    for (const list of places.values()) list.sort((a, b) => this.beginOf(a) - this.beginOf(b));
    this.byProcess.set(process, places);
    return places;
  }
}
