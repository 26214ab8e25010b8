// SPDX-License-Identifier: Apache-2.0
//
// Names of processes and devices, so that no two of a run are called the same.
import {Device, Report, ReportProcess} from './data';
import {shortName} from './format';

// Containers and hosts share pids, and in a run of several ranks each has its own. |word|: before the pid.
export function processName(report: Report, process: ReportProcess, word = 'pid '): string {
  const {name, pid, host, rank} = process;
  const isShared = report.processes.some((other) => other.pid === pid && other.host !== host);
  const isOfSeveral =
      rank !== null && report.processes.some((other) => other.rank !== null && other.rank !== rank);
  return `${name || 'process'} (${word}${pid}${isShared ? ` on ${host}` : ''}` +
      `${isOfSeveral ? `, rank ${rank}` : ''})`;
}

// As the launcher of the ranks called it, where that is known.
export function rankName({rank, pid}: {rank: number|null; pid: number}): string {
  return rank === null ? `pid ${pid}` : `rank ${rank}`;
}

const SHORT = 12;  // "GPU-1a2b3c4d", the first group of a uuid

// What tells |own| from |others|, in a few characters where that will do.
function distinct(own: string, others: string[]): string {
  const forms: ((uuid: string) => string)[] =
      [(uuid) => uuid.slice(0, SHORT), (uuid) => `\u2026${uuid.slice(-SHORT)}`];
  const form = forms.find((cut) => others.every((other) => cut(other) !== cut(own)));
  return form ? form(own) : own;
}

// A machine mostly has several devices of one name.
export function deviceName(report: Report, device: Device): string {
  const name = device.name || 'GPU';
  const alike = report.devices.filter((other) => other.name === device.name);
  if (alike.length < 2) return name;
  const others = alike.filter((other) => other !== device).map(({uuid}) => uuid);
  return `${name} ${device.uuid ? distinct(device.uuid, others) : report.devices.indexOf(device)}`;
}

// "7 x NVIDIA H100, NVIDIA L4"
export function namesWithCounts(names: string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${count} x ${name}` : name)).join(', ');
}

const FRONT = 12;  // letters that stay of names which are cut where they differ

function commonLetters(names: string[]): number {
  const [first] = names;
  let length = 0;
  while (length < first.length && names.every((name) => name[length] === first[length])) ++length;
  return length;
}

const BEFORE = 4;  // letters that stay before the place where names differ
const PIECE = 10;  // letters of a place where names differ that differ in others too

function grouped<T>(items: T[], keyOf: (item: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return [...groups.values()];
}

// Into |shown|, after |front|: what differs in |names| from letter |from| on, in |most| letters.
function showTails(
    names: string[], from: number, front: string, most: number, shown: Map<string, string>): void {
  const at = Math.max(from, commonLetters(names) - BEFORE);
  const tails = names.map((name) => shortName(name.slice(at), most));
  if (new Set(tails).size === names.length || most < 2 * PIECE) {
    names.forEach((name, i) => shown.set(name, front + tails[i]));
    return;
  }
  for (const alike of grouped(names, (name) => name.slice(at, at + PIECE))) {
    const piece = alike[0].slice(at, at + PIECE);
    if (alike.length === 1) {
      shown.set(alike[0], front + shortName(alike[0].slice(at), most));
    } else {
      showTails(alike, at + PIECE, `${front}${piece}\u2026`, most - PIECE - 1, shown);
    }
  }
}

// Each of |names| in |most| letters or fewer, as shortName() has it; those that it would call the
// same are cut before the places where they differ.
export function distinctNames(names: string[], most: number): Map<string, string> {
  const shown = new Map(names.map((name) => [name, shortName(name, most)]));
  const alike = (): string[][] => grouped([...shown.keys()], (name) => shown.get(name) ?? '')
                                      .filter((group) => group.length > 1);
  const cut = (group: string[]): void =>
      showTails(group, FRONT, `${group[0].slice(0, FRONT)}\u2026`, most - FRONT - 1, shown);
  alike().forEach(cut);
  // Those of one group may now read as those of another: what these differ in comes first then.
  const again = alike().flat();
  grouped(again, (name) => name.slice(0, FRONT)).forEach(cut);
  return shown;
}
