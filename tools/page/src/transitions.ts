// SPDX-License-Identifier: Apache-2.0
//
// How often each operation crossed from one layer to another.
import {ReportProcess} from './data';
import {element, listed, nameCell, othersName, sumOf, table} from './dom';
import {formatCount, share} from './format';

export function transitions(process: ReportProcess): HTMLElement {
  const rows: {operation: string; name: string; count: number; each: number}[] = [];
  for (const row of process.operations) {
    for (const [name, count] of Object.entries(row.transitions)) {
      rows.push(
          {operation: row.operation, name, count, each: row.count > 0 ? count / row.count : 0});
    }
  }
  if (rows.length === 0)
    return element('p', {text: 'No transitions between layers were recorded.'});
  rows.sort((a, b) => b.count - a.count);
  const {shown, others} = listed(rows);
  if (others.length > 0) {
    const count = sumOf(others, (row) => row.count);
    shown.push({operation: othersName(others), name: '', count, each: 0});
  }
  const most = Math.max(...shown.map((row) => row.count));
  const result = table(
      'Transitions', ['operation', 'from \u2192 to', '', 'times', 'each time it ran'],
      shown.map((row) => {
        const piece = element('span', {class: 'c-plain'});
        piece.style.width = `${share(row.count, most) * 100}%`;
        const figure = element(
            'td', {class: 'figure', text: formatCount(row.count), title: String(row.count)});
        figure.dataset.count = String(row.count);
        const node = element('tr', {}, [
          nameCell(row.operation),
          element('td', {text: row.name.replace('->', ' \u2192 ')}),
          element(
              'td', {class: 'bar-cell'},
              [element('div', {class: 'bar thin', attributes: {'aria-hidden': 'true'}}, [piece])]),
          figure,
          element('td', {class: 'figure', text: row.each > 0 ? row.each.toPrecision(3) : ''}),
        ]);
        node.dataset.row = `${row.operation} ${row.name}`;
        return node;
      }));
  result.classList.add('transitions');
  return result;
}
