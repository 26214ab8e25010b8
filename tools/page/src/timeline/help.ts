// SPDX-License-Identifier: Apache-2.0
//
// The keys and pointers of the timeline, as a dialog that `?` opens.
import {button, element} from '../dom';

const KEYS: [string, string][] = [
  ['w, s or +, \u2212', 'zoom in and out, at the pointer where it is on the timeline'],
  ['a, d or \u2190, \u2192', 'go to earlier and later times'],
  ['Ctrl and wheel, pinch', 'zoom'],
  ['Shift and wheel', 'go to earlier and later times'],
  ['drag', 'zoom to a range'],
  ['Shift and drag', 'select a range: sums by name'],
  ['click', 'choose an event: its length, and what launched it'],
  ['\u2191, \u2193', 'choose a track'],
  ['n, p', 'next and previous event of the track'],
  ['f', 'show the chosen event, or the selected range, in full'],
  ['0', 'the whole run'],
  ['Home, End', 'begin and end of the run'],
  ['/', 'search; Enter and Shift and Enter go through what is found'],
  ['Escape', 'forget what is chosen or selected'],
  ['?', 'this help'],
];

export function helpDialog(): HTMLDialogElement {
  const dialog =
      element('dialog', {class: 'help', attributes: {'aria-label': 'Keys of the timeline'}}, [
        element('h3', {text: 'Keys of the timeline'}),
        element(
            'dl', {},
            KEYS.flatMap(
                ([key, does]) => [element('dt', {text: key}), element('dd', {text: does})])),
      ]);
  dialog.append(button('Close', () => dialog.close()));
  return dialog;
}
