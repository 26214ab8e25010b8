// SPDX-License-Identifier: Apache-2.0
//
// What is seen of the page, in the address behind '#', so that it can be sent to somebody: the
// process, how its time is grouped, and the stretch of the timeline. An anchor alone stays one.
interface State {
  process?: number;
  by?: string;
  begin?: number;
  end?: number;
}

const numberIn = (text: string|null): number|undefined =>
    text !== null && /^\d+$/.test(text) ? Number(text) : undefined;

export function readState(hash = location.hash): State {
  const words = new URLSearchParams(hash.replace(/^#/, ''));
  return {
    process: numberIn(words.get('process')),
    by: words.get('by') ?? undefined,
    begin: numberIn(words.get('begin')),
    end: numberIn(words.get('end')),
  };
}

function stateText(state: State): string {
  const words = new URLSearchParams();
  for (const [key, value] of Object.entries(state)) {
    if (value !== undefined) words.set(key, String(value));
  }
  return words.toString();
}

const QUIET_MS = 200;  // browsers refuse a page that changes its address too often

let pending = 0;

// Without an entry in the history: each step of a zoom would be one.
export function writeState(state: State): void {
  clearTimeout(pending);
  pending = window.setTimeout(() => {
    const text = stateText(state);
    history.replaceState(null, '', text ? `#${text}` : location.pathname + location.search);
  }, QUIET_MS);
}
