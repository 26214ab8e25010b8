// SPDX-License-Identifier: Apache-2.0
//
// Dark or light: as the system says, until the button says otherwise; on paper always light.
// Nothing is stored.
import {button} from './dom';

const dark = matchMedia('(prefers-color-scheme: dark)');

let onPaper = false;

export function isDark(): boolean {
  if (onPaper) return false;

  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === 'dark' : dark.matches;
}

// Calls |begin| when the page is about to be printed, |end| when it was. In between it is light.
export function aroundPrinting(begin: () => void, end: () => void): void {
  addEventListener('beforeprint', () => {
    onPaper = true;
    begin();
  });
  addEventListener('afterprint', () => {
    onPaper = false;
    end();
  });
}

// The button; |changed| is called when the look of the page has changed.
export function themeButton(changed: () => void): HTMLButtonElement {
  const node = button('', () => {
    document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
    label();
    changed();
  });
  node.id = 'theme';
  const label = (): void => {
    node.textContent = isDark() ? '\u2600 Light' : '\u263e Dark';
    node.setAttribute(
        'aria-label', isDark() ? 'Switch to light colours' : 'Switch to dark colours');
  };
  label();
  dark.addEventListener('change', () => {
    label();
    changed();
  });
  return node;
}
