// SPDX-License-Identifier: Apache-2.0
//
// What a chosen event is, in words: its length, when it was, and what it launched or what launched
// it.
import {exactNs, formatTime} from '../format';

import {instant} from './axis';
import {Track} from './decode';
import {Place} from './search';
import {atLeast, cutText} from './thinned';

function partnerText(names: string[], tracks: Track[], place: Place, partners: Place[]): string {
  if (partners.length === 0) return '';
  const laneOf = ({track, lane}: Place): Track['lanes'][0] => tracks[track].lanes[lane];
  const beginOf = (one: Place): number => laneOf(one).begins[one.index];
  const [first] = partners;
  const name = names[laneOf(first).names[first.index]];
  const delay = formatTime(Math.abs(beginOf(first) - beginOf(place)));
  if (tracks[place.track].data.kind !== 'calls') return `, launched by ${name} ${delay} before`;
  const more = partners.length > 1 ? ` and ${partners.length - 1} more` : '';
  return `, launched ${name}${more}, which began ${delay} later`;
}

export function eventText(
    names: string[], tracks: Track[], place: Place, partners: Place[]): string {
  const {index} = place;
  const lane = tracks[place.track].lanes[place.lane];
  const ns = lane.ends[index] - lane.begins[index];
  return `${names[lane.names[index]]}: ${atLeast(lane, index)}${formatTime(ns)} (${
      exactNs(ns)}) at ${instant(lane.begins[index], 1)}${cutText(lane, index)}${
      partnerText(names, tracks, place, partners)}`;
}
