// SPDX-License-Identifier: Apache-2.0
//
// Figures in few characters, by the rules of the text report (analysis/text_table.h).

const UNITS: [number, string][] = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us']];

// Three significant digits and a unit: "12.3 ms".
export function formatTime(ns: number): string {
  const magnitude = Math.abs(ns);
  for (const [size, unit] of UNITS) {
    const value = ns / size;
    if (magnitude < size * 0.9995) continue;
    const digits = Math.abs(value) >= 99.95 ? 0 : Math.abs(value) >= 9.995 ? 1 : 2;
    return `${value.toFixed(digits)} ${unit}`;
  }
  return ns === 0 ? '0' : `${ns} ns`;
}

// "41 %", with a decimal below 10 %; never "0 %" or "100 %" for what is neither.
export function formatShare(share: number): string {
  const percent = share * 100;
  if (percent <= 0) return '0 %';
  if (percent < 0.1) return '<0.1 %';
  if (percent < 9.95) return `${percent.toFixed(1)} %`;
  if (percent < 100 && percent >= 99.5) return '>99 %';
  return `${percent.toFixed(0)} %`;
}

const LONGEST_NAME = 60;
const FEWEST_INSIDE = 5;

const middleCut = (name: string, most: number): string => {
  const letters = [...name];
  if (letters.length <= most) return name;
  const back = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - back).join('')}\u2026${letters.slice(-back).join('')}`;
};

// Names of C++ as the text report shortens them (analysis/short_name.h): the arguments of a
// function go first, then the middle of those of a template, then the middle of the name.
export function shortName(name: string, most = LONGEST_NAME): string {
  if ([...name].length <= most) return name;
  let shorter = name;
  if (name.endsWith(')')) {
    let depth = 0;
    let at = name.length;
    while (at-- > 0) {
      if (name[at] === ')') ++depth;
      if (name[at] === '(' && --depth === 0) break;
    }
    if (at >= 0 && name.length - at > 4) shorter = `${name.slice(0, at)}(\u2026)`;
  }
  if ([...shorter].length <= most) return shorter;
  const open = shorter.indexOf('<');
  const close = shorter.lastIndexOf('>');
  const inside = open >= 0 && close > open ? shorter.slice(open + 1, close) : '';
  const room = [...inside].length - ([...shorter].length - most);
  return room >= FEWEST_INSIDE ?
      shorter.slice(0, open + 1) + middleCut(inside, room) + shorter.slice(close) :
      middleCut(shorter, most);
}

// What graphs that were recorded as a whole are part of, gaps between their nodes too.
export const UPPER_BOUND = 'at most: CUDA graphs were recorded as a whole';
export const upTo = (isUpperBound: boolean, figure: string): string =>
    isUpperBound ? `\u2264 ${figure}` : figure;

// What unknown time, or processes that are not part of the run, may add to.
export const LOWER_BOUND = 'at least: more may have run unrecorded';
export function bounded(isUpperBound: boolean, isLowerBound: boolean, figure: string): string {
  if (isUpperBound && isLowerBound) return `about ${figure}`;
  return isLowerBound ? `\u2265 ${figure}` : upTo(isUpperBound, figure);
}

export function formatCount(count: number): string {
  if (count < 10_000) return String(count);
  for (const [size, unit] of [[1e9, 'G'], [1e6, 'M'], [1e3, 'k']] as [number, string][]) {
    if (count >= size) return `${(count / size).toPrecision(3)}${unit}`;
  }
  return String(count);
}

export function exactNs(ns: number): string {
  return `${ns.toLocaleString('en')} ns`;
}

export const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);
