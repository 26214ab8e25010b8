// SPDX-License-Identifier: Apache-2.0
//
// Elements with text in them. Names of a run reach the page through `text` and `title` only, never
// as markup.
import {bounded, exactNs, formatCount, formatShare, formatTime, LOWER_BOUND, shortName, UPPER_BOUND} from './format';
import {distinctNames} from './names';

interface Properties {
  class
  ?: string;
  text?: string;
  title?: string;
  id?: string;
  href?: string;
  attributes?: Record<string, string>;
}

type Child = Node|string|null;

const SENTENCES = ['p', 'li', 'dd'];
// A figure and the unit behind it, as Wrap() of analysis/base/text_table.cc keeps them on one line.
const FIGURE = /(\S*\d (?:ns|us|ms|s|h|d|%|x)(?![^\s.,;:)\]]))/;

// What the text report has between backticks: what to type.
const COMMAND = /`([^`]+)`/;

// |text|, of which no figure loses its unit at the end of a line.
const unbroken = (text: string): (Node|string)[] => text.split(COMMAND).flatMap(
    (part, i) =>
        (i % 2 === 1 ?
             [element('code', {text: part})] :
             part.split(FIGURE).map(
                 (piece, j) =>
                     (j % 2 === 0 ? piece :
                                    element('span', {class: 'figure-in-text', text: piece})))));

export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K, properties: Properties = {}, children: Child[] = []): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (properties.class) node.className = properties.class;
  const {text} = properties;
  if (text !== undefined && (SENTENCES.includes(tag) || properties.class === 'note')) {
    node.append(...unbroken(text));
  } else if (text !== undefined) {
    node.textContent = text;
  }
  if (properties.title) node.title = properties.title;
  if (properties.id) node.id = properties.id;
  if (properties.href) node.setAttribute('href', properties.href);
  for (const [name, value] of Object.entries(properties.attributes ?? {})) {
    node.setAttribute(name, value);
  }
  node.append(...children.filter((child): child is Node|string => child !== null));
  return node;
}

// A cell that shows a time and carries the exact one.
export function timeCell(
    ns: number, key: string, isUpperBound = false, isLowerBound = false): HTMLTableCellElement {
  const cell = element('td', {
    class: 'figure',
    text: bounded(isUpperBound, isLowerBound, formatTime(ns)),
    title: [exactNs(ns), isUpperBound ? UPPER_BOUND : '', isLowerBound ? LOWER_BOUND : '']
               .filter(Boolean)
               .join(', '),
  });
  cell.dataset.key = key;
  cell.dataset.ns = String(ns);
  return cell;
}

const LONGEST_NAME = 30;  // letters

// Where there is room for less than |short|, its front gives way: names mostly differ at their ends.
function showShort(node: HTMLElement, short: string): void {
  const cut = short.indexOf('\u2026');
  node.dataset.short = short;
  node.setAttribute('aria-expanded', 'false');
  node.replaceChildren(
      element('span', {text: short.slice(0, cut)}), element('span', {text: short.slice(cut)}));
}

// A name; a longer one in |most| letters, until it is clicked.
export function nameText(text: string, most = LONGEST_NAME): HTMLElement|string {
  const short = shortName(text, most);
  if (short === text) return text;
  const node = button('', () => {
    if (node.getAttribute('aria-expanded') === 'true') {
      showShort(node, node.dataset.short ?? '');
    } else {
      node.textContent = text;
      node.setAttribute('aria-expanded', 'true');
    }
  }, text);
  node.className = 'full-name';
  node.dataset.most = String(most);
  showShort(node, short);
  return node;
}

// Names of one column of |rows| that would be called the same are cut where they differ.
function tellApart(rows: HTMLElement[]): void {
  const columns = new Map<number, HTMLElement[]>();
  for (const row of rows) {
    [...row.children].forEach((cell, i) => {
      const name = cell.querySelector<HTMLElement>('.full-name');
      if (name) columns.set(i, [...(columns.get(i) ?? []), name]);
    });
  }
  for (const names of columns.values()) {
    const shown = distinctNames(names.map(({title}) => title), Number(names[0].dataset.most));
    for (const name of names) showShort(name, shown.get(name.title) ?? '');
  }
}

// The head of a row, in |most| letters at first.
export function nameCell(text: string, more = '', most = LONGEST_NAME): HTMLTableCellElement {
  return element(
      'th', {class: `name ${more}`.trim(), title: text, attributes: {scope: 'row'}},
      [nameText(text, most)]);
}

export function shareCell(share: number|null): HTMLTableCellElement {
  return element('td', {class: 'figure', text: share === null ? '\u2013' : formatShare(share)});
}

export function countCell(count: number): HTMLTableCellElement {
  const cell = element('td', {class: 'figure', text: formatCount(count), title: String(count)});
  cell.dataset.count = String(count);
  return cell;
}

// A bar that says nothing that a figure beside it does not.
export function barCell(css: string, share: number): HTMLTableCellElement {
  const piece = element('span', {class: css});
  piece.style.width = `${share * 100}%`;
  return element('td', {class: 'bar-cell'}, [
    element('div', {class: 'bar thin', attributes: {'aria-hidden': 'true'}}, [piece]),
  ]);
}

export function rowOf(key: string, cells: HTMLElement[]): HTMLElement {
  const row = element('tr', {}, cells);
  row.dataset.row = key;
  return row;
}

// Of a table of operations so many are listed, and one more row sums up the others. A program that
// names every iteration has thousands: their rows take half a minute to lay out.
export const MOST_ROWS = 40;

// The |most| first of |rows|, unless one more is all there are; the others apart.
export function listed<T>(rows: T[], most = MOST_ROWS): {shown: T[]; others: T[]} {
  const end = rows.length > most + 1 ? most : rows.length;
  return {shown: rows.slice(0, end), others: rows.slice(end)};
}

export const othersName = (others: unknown[]): string => `(${others.length} others)`;

export function sumOf<T>(rows: T[], of: (row: T) => number): number {
  return rows.reduce((sum, row) => sum + of(row), 0);
}

const NOTHING = ['', '0', '0 %', '\u2013', '-'];

// Whether |cell| has neither a figure other than zero nor a piece of a bar nor something to touch.
const saysNothing = (cell: Element|undefined): boolean => cell === undefined ||
    (NOTHING.includes(cell.textContent ?? '') &&
     cell.querySelector('.bar > span, .interval > span, .interval > b, button, input, a') === null);

// Hides columns of |lines|, a head and |rows|, of which no row says anything.
function hideEmpty(lines: HTMLElement[], rows: HTMLElement[]): void {
  if (rows.length === 0) return;
  const columns = lines[0].children.length;
  for (let i = 1; i < columns; ++i) {
    if (!rows.every((row) => saysNothing(row.children[i]))) continue;
    for (const line of lines) line.children[i]?.setAttribute('hidden', '');
  }
}

// A table that scrolls sideways within its own frame where the window is narrow. Heads stand where
// the cells of their column do; a column of which no row says anything is not shown.
export function table(caption: string, heads: string[], rows: HTMLElement[]): HTMLElement {
  tellApart(rows);
  const isFigure = (i: number): boolean =>
      rows[0]?.children[i]?.classList.contains('figure') ?? false;
  const headCell = (text: string, i: number): HTMLElement => text === '' ?
      element('td') :
      element('th', {text, class: isFigure(i) ? 'figure' : '', attributes: {scope: 'col'}});
  const head = element('tr', {}, heads.map(headCell));
  hideEmpty([head, ...rows], rows);
  return element(
      'div', {
        class: 'scroll',
        attributes: {tabindex: '0', role: 'region', 'aria-label': `Table: ${caption}`}
      },
      [
        element(
            'table', {},
            [
              element('caption', {text: caption, class: 'hidden'}),
              element('thead', {}, [head]),
              element('tbody', {}, rows),
            ]),
      ]);
}

// A table of |items|, of which so many are shown until the button beneath is pressed: a thousand
// ranks would hide the sections below. |classes| are those of the table.
export function longTable<T>(
    caption: string, heads: string[], items: T[], row: (item: T) => HTMLElement,
    ...classes: string[]): HTMLElement {
  const holder = element('div');
  const lay = (shown: T[]): void => {
    const result = table(caption, heads, shown.map(row));
    result.classList.add(...classes);
    holder.replaceChildren(result);
  };
  const {shown, others} = listed(items);
  lay(shown);
  if (others.length === 0) return holder;
  holder.append(button(`Show all ${formatCount(items.length)}`, () => {
    lay(items);
    holder.querySelector<HTMLElement>('.scroll')?.focus();
  }));
  return holder;
}

export function section(id: string, title: string, children: Child[]): HTMLElement {
  return element('section', {id, attributes: {'aria-labelledby': `${id}-title`}}, [
    element('h2', {id: `${id}-title`, text: title}),
    ...children,
  ]);
}

// A part of a section beneath a title of its own.
export function part(title: string, children: Child[]): HTMLElement {
  return element('div', {}, [element('h3', {text: title}), ...children]);
}

export function button(text: string, action: () => void, title = ''): HTMLButtonElement {
  const node = element('button', {text, title, attributes: {type: 'button'}});
  node.addEventListener('click', action);
  return node;
}
