// SPDX-License-Identifier: Apache-2.0
//
// Elements with text in them. Names of a run reach the page through `text` and `title` only, never
// as markup.
import {exactNs, formatTime} from './format';

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

export function element<K extends keyof HTMLElementTagNameMap>(
    tag: K, properties: Properties = {}, children: Child[] = []): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  if (properties.class) node.className = properties.class;
  if (properties.text !== undefined) node.textContent = properties.text;
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
export function timeCell(ns: number, key: string): HTMLTableCellElement {
  const cell = element('td', {class: 'figure', text: formatTime(ns), title: exactNs(ns)});
  cell.dataset.key = key;
  cell.dataset.ns = String(ns);
  return cell;
}

// A table that scrolls sideways within its own frame where the window is narrow. Heads stand where
// the cells of their column do.
export function table(caption: string, heads: string[], rows: HTMLElement[]): HTMLElement {
  const isFigure = (i: number): boolean =>
      rows[0]?.children[i]?.classList.contains('figure') ?? false;
  const head = element('tr', {}, heads.map((text, i) => element('th', {
                                             text,
                                             class: isFigure(i) ? 'figure' : '',
                                             attributes: {scope: 'col'},
                                           })));
  return element(
      'div', {class: 'scroll', attributes: {tabindex: '0', role: 'region', 'aria-label': caption}},
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

export function section(id: string, title: string, children: Child[]): HTMLElement {
  return element('section', {id, attributes: {'aria-labelledby': `${id}-title`}}, [
    element('h2', {id: `${id}-title`, text: title}),
    ...children,
  ]);
}

export function button(text: string, action: () => void, title = ''): HTMLButtonElement {
  const node = element('button', {text, title, attributes: {type: 'button'}});
  node.addEventListener('click', action);
  return node;
}
