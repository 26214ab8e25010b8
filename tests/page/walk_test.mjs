// SPDX-License-Identifier: Apache-2.0
//
// The timeline by keys alone: zoom, pan, and from event to event, as far as there are events.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, open, settle, surround, text} from './browser.mjs';

const folder = surround('walk');
const html = join(folder, 'page.html');

test('keys zoom, pan, and walk from event to event', async () => {
  const page = await open(browser, html);
  await page.focus('.tl-canvas canvas');
  assert.match(await text(page, '#resolution'), /^Shown: 4\.00 ms from 0/);
  for (let i = 0; i < 6; ++i) await page.keyboard.press('+');
  await settle(page);
  assert.match(await text(page, '#resolution'), /^Shown: 238 us .*every single event/);
  const zoomed = await text(page, '#resolution');
  await page.keyboard.press('ArrowRight');
  await settle(page);
  assert.notEqual(await text(page, '#resolution'), zoomed);
  await page.keyboard.press('ArrowDown');
  assert.match(await text(page, '#chosen'), /^Track GPU 0 busy/);
  await page.keyboard.press('n');
  assert.match(await text(page, '#chosen'), /^<svg onload=window\.harmed=2>.*24\.\d us/);
  await page.keyboard.press('0');
  await settle(page);
  assert.match(await text(page, '#resolution'), /^Shown: 4\.00 ms/);
});

// The thread "helper" has one event, at the begin of the run.
async function atTheEnd() {
  const page = await open(browser, html);
  await page.evaluate(
      () => [...document.querySelectorAll('.tl-label')]
                .find((l) => l.textContent.startsWith('helper'))
                .click());
  await page.focus('.tl-canvas canvas');
  for (let i = 0; i < 6; ++i) await page.keyboard.press('+');
  await page.keyboard.press('End');
  await settle(page);
  assert.match(await text(page, '#resolution'), /^Shown: 238 us from 0\.0037/);
  return page;
}

test('there is no next event behind the last one of a track', async () => {
  const page = await atTheEnd();
  const shown = await text(page, '#resolution');
  await page.keyboard.press('n');
  await settle(page);
  assert.equal(await text(page, '#chosen'), 'No later event');
  assert.equal(await text(page, '#resolution'), shown, 'the view stays');
});

test('the previous event is the last one before what is seen', async () => {
  const page = await atTheEnd();
  await page.keyboard.press('p');
  await settle(page);
  assert.match(await text(page, '#chosen'), /^prefetch: 70\.0 us/);
  assert.match(await text(page, '#resolution'), /^Shown: 238 us from 0 s/);
  for (const [key, said] of [['n', 'No later event'], ['p', 'No earlier event']]) {
    await page.keyboard.press(key);
    await settle(page);
    assert.equal(await text(page, '#chosen'), said);
  }
});
