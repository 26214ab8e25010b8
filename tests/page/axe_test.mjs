// SPDX-License-Identifier: Apache-2.0
//
// axe-core finds nothing on the pages that would keep somebody from using them, in either theme,
// and keys go through a page in the order in which it is read.
import assert from 'node:assert/strict';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, open, surround} from './browser.mjs';

const folder = surround('axe');
const require = createRequire(join(process.env.GPUBOUND_PAGE_MODULES, 'package.json'));
const {source} = require('axe-core');

for (const name of ['page', 'killed', 'thinned', 'compare', 'rows', 'roles']) {
  for (const scheme of ['light', 'dark']) {
    test(`${name}.html keeps nobody out, in ${scheme} colours`, async () => {
      const page = await open(browser, join(folder, `${name}.html`), {scheme});
      await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
      });
      await page.evaluate(source);
      const violations = await page.evaluate(async () => {
        const result = await axe.run(document, {resultTypes: ['violations']});
        return result.violations.map(
            ({id, help, nodes}) =>
                `${id}: ${help}: ${nodes.slice(0, 3).map(({html}) => html.slice(0, 120))}`);
      });
      assert.deepEqual(violations, []);
    });
  }
}

test('Tab goes through the page from the top to the bottom', async () => {
  const page = await open(browser, join(folder, 'page.html'));
  const places = [];
  for (let i = 0; i < 60; ++i) {
    await page.keyboard.press('Tab');
    places.push(await page.evaluate(() => {
      const section = document.activeElement.closest('section, #headline, #top');
      const order = [...document.querySelectorAll('#top, #headline, section')];
      return order.indexOf(section);
    }));
  }
  const read = places.filter((place) => place >= 0);
  assert.ok(new Set(read).size >= 5, `${read}`);
  assert.deepEqual(read, [...read].sort((a, b) => a - b));
});
