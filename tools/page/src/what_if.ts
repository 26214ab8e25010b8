// SPDX-License-Identifier: Apache-2.0
//
// What the run would take with one part faster: a slider for each part, which stops only where
// `gpubound whatif` was asked.
import {whatIfCommand} from './commands';
import {PageData, Saving} from './data';
import {element, nameCell, rowOf, table} from './dom';
import {exactNs, formatShare, formatTime} from './format';
import {intervalOf, LEAST, savingName, takesHead} from './savings';

const LETTERS = 40;  // of a name in the table

interface Part {
  name: string;
  points: Saving[];  // the largest factor first
}

// Parts in the order of |savings|: those that the summary names.
function partsOf(savings: Saving[], others: Saving[]): Part[] {
  return savings.filter(({saves}) => saves >= LEAST)
      .map((saving) => ({
             name: savingName(saving),
             points: [
               saving,
               ...others.filter(({part, name}) => part === saving.part && name === saving.name),
             ].sort((a, b) => b.factor - a.factor),
           }));
}

function factorText(factor: number): string {
  if (factor === 0) return 'no time at all';
  return factor === 0.5 ? 'half its time' : `1/${Math.round(1 / factor)} of its time`;
}

function partRow(part: Part, asked: (point: Saving) => void): HTMLElement {
  const cell = (key: string): HTMLElement => {
    const node = element('td', {class: 'figure'});
    node.dataset.key = key;
    return node;
  };
  const [factor, takes, saves, interval] = ['factor', 'wall_ns', 'saves', 'interval'].map(cell);
  const slider = element('input', {
    attributes: {
      type: 'range',
      min: '0',
      max: String(part.points.length - 1),
      value: '0',
      'aria-label': `${part.name}: how much of its time`,
    }
  });
  const put = (): void => {
    const point = part.points[Number(slider.value)];
    slider.setAttribute('aria-valuetext', factorText(point.factor));
    factor.textContent = factorText(point.factor);
    takes.textContent = formatTime(point.wall_ns);
    takes.title = exactNs(point.wall_ns);
    takes.dataset.ns = String(point.wall_ns);
    saves.textContent = formatShare(Math.max(0, point.saves));
    interval.textContent = intervalOf(point);
    asked(point);
  };
  slider.disabled = part.points.length === 1;
  slider.addEventListener('input', put);
  put();
  return rowOf(part.name, [
    nameCell(part.name, '', LETTERS),
    element('td', {class: 'slider'}, [slider]),
    factor,
    takes,
    saves,
    interval,
  ]);
}

// Empty where nothing would help.
export function whatIf({run, report}: PageData): HTMLElement[] {
  const parts = partsOf(report.run.savings, report.run.what_if);
  if (parts.length === 0) return [];
  const command = element('code');
  const note = element('p', {class: 'note'}, ['The same by hand: ', command]);
  const rows = parts.map((part) => partRow(part, (point) => {
                           command.textContent = whatIfCommand(run.name, point);
                         }));
  command.textContent = whatIfCommand(run.name, parts[0].points[0]);
  const result = table(
      'What if', ['with this part at', '', '', takesHead(report.run.savings), 'saves', '95 %'],
      rows);
  result.classList.add('what-if');
  return [
    element('p', {
      class: 'note',
      text:
          'Each slider changes one part alone, and stops where gpubound has replayed the run. For ' +
          'several changes at once give --scale several times.',
    }),
    result,
    note,
  ];
}
