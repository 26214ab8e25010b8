// SPDX-License-Identifier: Apache-2.0
//
// The buttons above the timeline.
import {TimelineData} from '../data';
import {button, element} from '../dom';
import {formatTime} from '../format';

import {Camera} from './camera';
import {SearchBox} from './search';
import {newestDetail} from './thinned';

// A list of where single events are kept, unless they are everywhere.
function windowChoice({whole, windows}: TimelineData, camera: Camera): HTMLSelectElement|null {
  if (whole || windows.length === 0) return null;
  const choice = element(
      'select', {
        title: 'Where single events are kept',
        attributes: {'aria-label': 'Jump to where single events are kept'}
      },
      [
        element('option', {text: 'Single events at \u2026'}),
        ...windows.map(
            ([begin, , why]) => element('option', {text: `${formatTime(begin)}: ${why}`})),
      ]);
  choice.addEventListener('change', () => {
    const window = windows[choice.selectedIndex - 1];
    if (window) camera.moveTo(window[0], window[1]);
  });
  return choice;
}

export function toolbar(
    timeline: TimelineData, camera: Camera, search: SearchBox,
    help: HTMLDialogElement): HTMLElement {
  const bar =
      element('div', {class: 'tools', attributes: {role: 'toolbar', 'aria-label': 'Timeline'}}, [
        search.field,
        button('\u2039', () => search.step(-1), 'Previous found (Shift and Enter)'),
        button('\u203a', () => search.step(1), 'Next found (Enter)'),
        search.count,
        button('\u2212', () => camera.zoomBy(0.5), 'Zoom out (-)'),
        button('+', () => camera.zoomBy(2), 'Zoom in (+)'),
        button('Whole run', () => camera.showAll(), 'Show everything (0)'),
        button('\u25c0', () => camera.panBy(-0.25), 'Earlier (left arrow)'),
        button('\u25b6', () => camera.panBy(0.25), 'Later (right arrow)'),
      ]);
  const newest = newestDetail(timeline);
  if (newest > 0 && newest < camera.spanNs) {
    bar.append(button(
        'Newest detail', () => camera.moveTo(newest, camera.spanNs),
        'Where events were not thinned'));
  }
  const choice = windowChoice(timeline, camera);
  if (choice) bar.append(choice);
  bar.append(
      button('?', () => help.showModal(), 'Keys and pointers of the timeline (?)'),
      element('span', {
        class: 'note',
        text: 'Drag to zoom, Shift and drag to select, Ctrl and wheel or pinch to zoom.'
      }));
  return bar;
}
