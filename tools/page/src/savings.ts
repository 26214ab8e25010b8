// SPDX-License-Identifier: Apache-2.0
//
// What parts that are made faster would save, in the words of the text report
// (analysis/output/text/savings_text.cc).
import {Saving} from './data';
import {barCell, element, nameCell, rowOf, table, timeCell} from './dom';
import {formatShare} from './format';

export const LEAST = 0.01;  // less is left out
const LAYERS: Record<string, string> = {
  python: 'all Python code',
  simulator: 'the simulator',
  cuda_api: 'all CUDA calls',
};
const LETTERS = 32;  // of a name in the table

export function savingName({part, name, shown}: Saving): string {
  switch (part) {
    case 'gpu':
      return 'all GPU work';
    case 'kernel':
      return `kernel ${shown ?? name}`;
    case 'operation_gpu':
      return `GPU work of ${name}`;
    case 'operation_cpu':
      return `CPU code of ${name}`;
    case 'layer':
      return LAYERS[name] ?? name;
    default:
      return name;
  }
}

// What figures of |savings| are about.
export const takesHead = ([{of}]: Saving[]): string =>
    `${of === 'iteration' ? 'an iteration' : 'the run'} takes`;

// Rounded outwards, so that it says no more than is known.
export const intervalOf =
    ({saves_low, saves_high}: {saves_low: number; saves_high: number}): string =>
        `${Math.floor(saves_low * 100)} to ${Math.ceil(saves_high * 100)} %`;

export function savingsTable(savings: Saving[]): HTMLElement|null {
  const shown = savings.filter(({saves}) => saves >= LEAST);
  if (shown.length === 0) return null;
  const result = table(
      'What would help', ['if this were twice as fast', '', takesHead(shown), 'saves', '95 %'],
      shown.map((saving) => rowOf(`${saving.part} ${saving.name}`, [
                  nameCell(savingName(saving), '', LETTERS),
                  barCell('c-plain', Math.max(0, saving.saves)),
                  timeCell(saving.wall_ns, 'wall_ns'),
                  element('td', {text: formatShare(Math.max(0, saving.saves))}),
                  element('td', {text: intervalOf(saving)}),
                ])));
  result.classList.add('savings');
  return result;
}
