// SPDX-License-Identifier: Apache-2.0
//
// What stands out among the lengths of iterations: outliers, and changes that last. Pure.

const sorted = (values: number[]): number[] => [...values].sort((a, b) => a - b);

// The smallest value that |share| of them do not exceed; 0 for none.
function quantile(ascending: number[], share: number): number {
  if (ascending.length === 0) return 0;
  return ascending[Math.max(0, Math.ceil(ascending.length * share) - 1)];
}

export const median = (values: number[]): number => quantile(sorted(values), 0.5);

const FENCE = 3;  // times the distance of the quartiles, as box plots draw far outliers
const FEWEST = 8;

// Above which a length is an outlier; Infinity where there are too few to tell.
export function outlierFence(values: number[]): number {
  if (values.length < FEWEST) return Infinity;
  const ascending = sorted(values);
  const upper = quantile(ascending, 0.75);
  return upper + FENCE * Math.max(upper - quantile(ascending, 0.25), 0.02 * upper);
}

export interface Change {
  at: number;  // the first value after it
  before: number;
  after: number;  // medians of both sides
}

const LEAST_CHANGE = 0.1;  // of the level before
const LEAST_SCORE = 4;     // standard deviations of the rank sum
const MOST_CHANGES = 4;

// Ranks from 1; of equal values the mean of theirs.
function ranksOf(values: number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
  const ranks = new Array<number>(values.length);
  for (let i = 0; i < order.length;) {
    let end = i;
    while (end < order.length && values[order[end]] === values[order[i]]) ++end;
    for (let k = i; k < end; ++k) ranks[order[k]] = (i + end + 1) / 2;
    i = end;
  }
  return ranks;
}

// The mean without the lowest and the highest tenth.
function levelOf(values: number[]): number {
  const tenth = Math.floor(values.length / 10);
  const kept = sorted(values).slice(tenth, values.length - tenth);
  return kept.reduce((sum, value) => sum + value, 0) / kept.length;
}

// Before which value the rank sums of both sides differ most (Mann and Whitney), if they differ
// beyond chance and the levels by a tenth; 0: nowhere.
function strongestChange(values: number[]): number {
  const count = values.length;
  const ranks = ranksOf(values);
  let best = {at: 0, score: 0};
  let sum = 0;
  for (let at = 1; at < count; ++at) {
    sum += ranks[at - 1];
    if (at < FEWEST || count - at < FEWEST) continue;
    const deviation = Math.sqrt(at * (count - at) * (count + 1) / 12);
    const score = Math.abs(sum - at * (count + 1) / 2) / deviation;
    if (score > best.score) best = {at, score};
  }
  if (best.score < LEAST_SCORE) return 0;
  const before = levelOf(values.slice(0, best.at));
  const after = levelOf(values.slice(best.at));
  return Math.abs(after - before) < LEAST_CHANGE * before ? 0 : best.at;
}

// Changes of level that last, in order of time: each part is searched again.
export function stepChanges(values: number[]): Change[] {
  const cuts = new Set<number>();
  const search = (begin: number, end: number): void => {
    if (cuts.size >= MOST_CHANGES) return;
    const change = strongestChange(values.slice(begin, end));
    if (change === 0) return;
    cuts.add(begin + change);
    search(begin, begin + change);
    search(begin + change, end);
  };
  search(0, values.length);
  const edges = [0, ...[...cuts].sort((a, b) => a - b), values.length];
  return edges.slice(1, -1).map((at, i) => ({
                                  at,
                                  before: median(values.slice(edges[i], at)),
                                  after: median(values.slice(at, edges[i + 2])),
                                }));
}

// How many of |values| lie in each of |count| equal parts of 0 to |most|.
export function histogram(values: number[], most: number, count: number): number[] {
  const bins = new Array<number>(count).fill(0);
  for (const value of values)
    ++bins[Math.min(count - 1, Math.max(0, Math.floor(value / most * count)))];
  return bins;
}
