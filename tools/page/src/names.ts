// SPDX-License-Identifier: Apache-2.0
//
// Names of processes and devices, so that no two of a run are called the same.
import {Device, Report, ReportProcess} from './data';
import {shortName} from './format';

// Containers and hosts share pids. |word|: before the pid.
export function processName(report: Report, process: ReportProcess, word = 'pid '): string {
  const {name, pid, host} = process;
  const isShared = report.processes.some((other) => other.pid === pid && other.host !== host);
  return `${name || 'process'} (${word}${pid}${isShared ? ` on ${host}` : ''})`;
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

// Each of |names| in |most| letters or fewer, as shortName() has it; those that it would call the
// same are cut before the place where they differ.
export function distinctNames(names: string[], most: number): Map<string, string> {
  const groups = new Map<string, Set<string>>();
  for (const name of names) {
    const short = shortName(name, most);
    groups.set(short, (groups.get(short) ?? new Set()).add(name));
  }
  const shown = new Map<string, string>();
  for (const [short, group] of groups) {
    const alike = [...group];
    const differs = Math.max(FRONT, commonLetters(alike) - 4);
    for (const name of alike) {
      const tail = name.slice(differs);
      const cut = `${name.slice(0, FRONT)}\u2026${shortName(tail, most - FRONT - 1)}`;
      shown.set(name, alike.length > 1 ? cut : short);
    }
  }
  return shown;
}
