// SPDX-License-Identifier: Apache-2.0
//
// The page of a run whose older events were removed: iterations are those of the whole run, and the
// timeline says where events are gone, to the eye and in words.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, open, settle, surround, text} from './browser.mjs';

const folder = surround('thinned');
const html = join(folder, 'thinned.html');

// Of the main thread's line how many pixels in each part of its width are hatching on the line's
// ground, and how many are something else.
const pixels = (page, parts) => page.evaluate((parts) => {
  const canvas = document.querySelector('.tl-canvas canvas');
  const label =
      [...document.querySelectorAll('.tl-label')].find((l) => l.textContent.startsWith('main '));
  const scale = canvas.width / canvas.clientWidth;
  const height = Math.floor((parseFloat(label.style.height) - 6) * scale);
  const {data} = canvas.getContext('2d').getImageData(
      0, Math.ceil((parseFloat(label.style.top) + 1) * scale), canvas.width, height);
  const ground = [241, 243, 245], hatch = [201, 162, 39];
  return parts.map(([from, until]) => {
    const counts = {hatched: 0, other: 0};
    for (let y = 0; y < height; ++y) {
      for (let x = Math.round(from * canvas.width); x < until * canvas.width; ++x) {
        const at = (y * canvas.width + x) * 4;
        const part = (ground[2] - data[at + 2]) / (ground[2] - hatch[2]);
        const mixed =
            ground.every((g, i) => Math.abs(g + part * (hatch[i] - g) - data[at + i]) < 8);
        counts.other += !mixed;
        counts.hatched += mixed && part > 0.4;
      }
    }
    return counts;
  });
}, parts);

test('the chart has every iteration, with the program\'s numbers', async () => {
  const page = await open(browser, html);
  const chart = '.chart svg';
  assert.match(
      await page.$eval(chart, (svg) => svg.getAttribute('aria-label')),
      /^Length of 40 iterations, number 1 to 40,/);
  const ticks = await page.$$eval(
      `${chart} .axis:nth-of-type(1) .tick text`, (nodes) => nodes.map((n) => n.textContent));
  assert.equal(ticks.at(-1), '40');
  assert.ok(!ticks.includes('0'));
});

test('iterations that were removed have their length', async () => {
  const page = await open(browser, html);
  await page.focus('.chart');
  for (let i = 0; i < 21; ++i) await page.keyboard.press('ArrowRight');
  const said = await text(page, '.chart ~ [aria-live]');
  assert.match(said, /^iteration 21: 1?\d\d(\.\d)? us,/);
});

test('a note says what is gone, and belongs to the timeline', async () => {
  const page = await open(browser, html);
  const note = await text(page, '#thinned');
  assert.match(note, /^Events before 2\.52 ms were thinned: one stretch is left of them/);
  assert.match(note, /figures and the chart of iterations are of the whole run/);
  assert.equal(
      await page.$eval('.tl-canvas canvas', (node) => node.getAttribute('aria-describedby')),
      'thinned');
  assert.match(await text(page, '.timeline .legend'), /hatched: events were thinned here/);
});

test('removed stretches are hatched and nothing is drawn over them', async () => {
  const page = await open(browser, html);
  // Within an iteration: the line between two of them goes over everything.
  const parts = [[0.302, 0.318], [0.652, 0.668]];
  const [gone, there] = await pixels(page, parts);
  assert.ok(gone.hatched > 30, JSON.stringify(gone));
  assert.equal(gone.other, 0);
  assert.ok(there.other > 30, JSON.stringify(there));
  const [whole] = await pixels(await open(browser, join(folder, 'page.html')), parts);
  assert.ok(whole.other > 30, JSON.stringify(whole));
});

test('a button goes to the newest detail', async () => {
  const page = await open(browser, html);
  await page.evaluate(
      () => [...document.querySelectorAll('button')]
                .find((b) => b.textContent === 'Newest detail')
                .click());
  await settle(page);
  assert.match(await text(page, '#resolution'), /^Shown: 1\.48 ms from 0\.00252/);
});

test('a scope that was open where events are missing says that it is a part', async () => {
  const page = await open(browser, html);
  await page.evaluate(
      () => [...document.querySelectorAll('.tl-label')]
                .find((l) => l.textContent.startsWith('main '))
                .click());
  await page.focus('.tl-canvas canvas');
  let said = '';
  for (let i = 0; i < 60 && !said.includes('at least'); ++i) {
    await page.keyboard.press('n');
    said = await text(page, '#chosen');
  }
  assert.match(said, /^simulation: at least 1\.00 us .*, its end was not recorded$/);
});

test('a page of a whole run says nothing of it', async () => {
  const page = await open(browser, join(folder, 'page.html'));
  assert.ok(await page.$eval('#thinned', (node) => node.hidden));
  assert.equal(await text(page, '#thinned'), '');
});
