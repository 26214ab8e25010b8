// SPDX-License-Identifier: Apache-2.0
//
// Figures in few characters, by the rules of the text report (analysis/base/text_table.h), to which
// tests/page/same_words_test.mjs holds them.

// As printf rounds: what lies in the middle of two figures becomes the even one.
function fixed(value: number, digits: number): string {
  const scaled = value * 10 ** digits;
  const isMiddle = scaled % 1 === 0.5 && Number.isInteger(value * 2 ** (digits + 1));
  if (!isMiddle) return value.toFixed(digits);
  const below = Math.floor(scaled);
  return ((below % 2 === 0 ? below : below + 1) / 10 ** digits).toFixed(digits);
}

const threeDigits = (value: number): string => fixed(
    value,
    value < 9.995     ? 2 :
        value < 99.95 ? 1 :
                        0);

// Unit, its length, and from where on the next one serves better.
const UNITS: [string, number, number][] = [
  ['us', 1e3, 999.5e3],
  ['ms', 1e6, 999.5e6],
  ['s', 1e9, 9999.5e9],
  ['h', 3600e9, 999.5 * 3600e9],
  ['d', 86400e9, Infinity],
];

// Three significant digits and a unit: "12.3 ms".
export function formatTime(ns: number): string {
  if (ns === 0) return '0';
  if (ns < 0) return `-${formatTime(-ns)}`;
  for (const [unit, size, end] of ns < 1000 ? [] : UNITS) {
    if (ns < end) return `${threeDigits(ns / size)} ${unit}`;
  }
  return `${ns} ns`;
}

// "41 %", with a decimal below 10 % and above 99 %; never "0 %" or "100 %" for what is neither.
export function formatShare(share: number): string {
  const percent = 100 * share;
  if (percent <= 0) return '0 %';
  if (percent < 0.1) return '<0.1 %';
  if (percent > 99 && percent < 99.95) return `${threeDigits(Math.floor(percent * 10) / 10)} %`;
  return `${fixed(percent, percent < 9.95 ? 1 : 0)} %`;
}

const LONGEST_NAME = 60;
const FEWEST_INSIDE = 5;

const middleCut = (name: string, most: number): string => {
  const letters = [...name];
  if (letters.length <= most) return name;
  const back = Math.floor((most - 1) / 2);
  return `${letters.slice(0, most - 1 - back).join('')}\u2026${letters.slice(-back).join('')}`;
};

// Names of C++ as the text report shortens them (analysis/base/short_name.h): the arguments of a
// function go first (nothing stands between those and its name), then the middle of those of a
// template, then the middle of the name.
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
    if (at > 0 && name[at - 1] !== ' ' && name.length - at > 4)
      shorter = `${name.slice(0, at)}(\u2026)`;
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

// "512 B", "1.50 KiB", "12.3 GiB".
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${Math.round(bytes)} B`;
  let value = bytes;
  for (const unit of ['KiB', 'MiB']) {
    value /= 1024;
    if (value < 1023.5) return `${threeDigits(value)} ${unit}`;
  }
  return `${threeDigits(value / 1024)} GiB`;
}

// "1234", "12.3k", "4.56M".
export function formatCount(count: number): string {
  if (count < 10_000) return String(count);
  if (count < 999.5e3) return `${threeDigits(count / 1e3)}k`;
  if (count < 999.5e6) return `${threeDigits(count / 1e6)}M`;
  return `${threeDigits(count / 1e9)}G`;
}

// "1 row", "12.3k rows".
export const counted = (count: number, noun: string): string =>
    `${formatCount(count)} ${noun}${count === 1 ? '' : 's'}`;

export function exactNs(ns: number): string {
  return `${ns.toLocaleString('en')} ns`;
}

export const share = (part: number, whole: number): number => (whole > 0 ? part / whole : 0);
