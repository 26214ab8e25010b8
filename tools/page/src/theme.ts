// SPDX-License-Identifier: Apache-2.0
//
// Dark or light: as the system says, until the button says otherwise, which the browser keeps for
// the next page; on paper always light.
import {button} from './dom';

const dark = matchMedia('(prefers-color-scheme: dark)');

let onPaper = false;

const KEPT = 'gpubound-theme';

// Storage that is refused, as in some private windows, is none.
function kept(): string|null {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}
function keep(theme: string): void {
  try {
    localStorage.setItem(KEPT, theme);
  } catch {
    // The choice holds for this page.
  }
}

// As it was chosen on an earlier page.
export function restoreTheme(): void {
  const theme = kept();
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
}

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
    const theme = isDark() ? 'light' : 'dark';
    document.documentElement.dataset.theme = theme;
    keep(theme);
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
