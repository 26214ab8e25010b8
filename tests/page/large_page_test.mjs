// SPDX-License-Identifier: Apache-2.0
//
// The page of a run of ten million events: below 5 MB, painted within a second, and every stretch
// of it can be looked at without an error.
import assert from 'node:assert/strict';
import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync, statSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';

import {launch, open, settle, text} from './browser.mjs';

test('ten million events make a page that is small and fast', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'gpubound-page-'));
  t.after(() => rmSync(folder, {recursive: true}));
  const html = join(folder, 'page.html');
  t.diagnostic(execFileSync(process.env.GPUBOUND_PAGE_BENCH, ['--html', html, '--dir', folder], {
                 encoding: 'utf8'
               }).trim());
  assert.ok(statSync(html).size < 5e6, `${statSync(html).size} bytes`);
  const browser = await launch();
  t.after(() => browser.close());
  const page = await open(browser, html);
  const first = await page.evaluate(
      () => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  t.diagnostic(`first paint after ${first} ms`);
  assert.ok(first < 1000, `${first} ms`);
  assert.match(await text(page, '#resolution'), /shares in steps of/);
  const places = await page.$eval('.tools select', (choice) => choice.options.length);
  for (let place = 1; place < places; ++place) {
    await page.evaluate((index) => {
      const choice = document.querySelector('.timeline .tools select');
      choice.selectedIndex = index;
      choice.dispatchEvent(new Event('change'));
    }, place);
    await page.focus('.tl-canvas canvas');
    for (let i = 0; i < 4; ++i) await page.keyboard.press('+');
    await settle(page);
    assert.match(await text(page, '#resolution'), /every single event/);
  }
  assert.deepEqual(page.sins, []);
});
