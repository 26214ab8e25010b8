// SPDX-License-Identifier: Apache-2.0
//
// What is printed: the report page from headless Chromium, as poppler sees the PDF, and the figure
// of --plot, whose text Chromium measures.
import assert from 'node:assert/strict';
import {join} from 'node:path';
import {test} from 'node:test';

import {browser, open, settle, surround} from './browser.mjs';
import {findWords, lowestInk, luminanceOf, pagesOf} from './paper.mjs';

const folder = surround('print');
const html = join(folder, 'page.html');
let page;

// The page on paper, printed from a window in dark colours.
async function print() {
  page = await open(browser, html, {scheme: 'dark'});
  const path = join(folder, 'page.pdf');
  await page.pdf({path, format: 'A4', printBackground: true});
  return pagesOf(path);
}

test('on paper each track stands beside its own name', async () => {
  const pages = await print();
  const green = ([red, , blue]) => blue - red > 60;  // compute is #009E73
  // Waiting calls are #2F3E55.
  const slate = ([red, green, blue]) => blue - red > 25 && green < 100;
  // How much of the line of |name|, right of the names, is |color|.
  const shareOf = (name, color) => {
    const {page, top, bottom} = findWords(pages, name);
    const y = (top + bottom) / 2;
    let sum = 0;
    for (let x = page.width / 3; x < page.width - 30; ++x) sum += color(page.at(x, y));
    return sum / (page.width * 2 / 3 - 30);
  };
  assert.ok(shareOf('GPU 0 busy', green) > 0.1, `${shareOf('GPU 0 busy', green)}`);
  assert.ok(shareOf('GPU 0 stream', green) > 0.1, `${shareOf('GPU 0 stream', green)}`);
  assert.equal(shareOf('CUDA calls of main', green), 0);
  assert.ok(shareOf('CUDA calls of main', slate) > 0.1);
  assert.equal(shareOf('GPU 0 busy', slate), 0);
});

test('paper is white, whatever the window is', async () => {
  const pages = await print();
  for (const line of ['GPU 0 busy', 'SIMULATED DEVICE:', 'Operations']) {
    const {page, left, top} = findWords(pages, line);
    let light = 0;
    for (let x = left; x < page.width - 30; ++x) light += luminanceOf(page.at(x, top)) > 190;
    const share = light / (page.width - 30 - left);
    assert.ok(share > 0.5, `${line}: ${share} of the line is light`);
  }
});

test('paper is filled, and nothing is cut at its edge', async () => {
  const pages = await print();
  for (const page of pages.slice(0, -1)) {
    // What is kept in one piece may leave a quarter.
    assert.ok(lowestInk(page) > 0.7 * page.height, `${lowestInk(page)} of ${page.height}`);
  }
  for (const page of pages) {
    for (const {word, left, right} of page.words) {
      assert.ok(left >= 0 && right <= page.width, word);
    }
  }
  assert.ok(findWords(pages, 'GPU idle'));
});

test('after printing the window is as it was', async () => {
  await print();
  const colors = () => page.$eval(
      '.tl-canvas canvas',
      (canvas) =>
          canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.join());
  await settle(page);
  const after = await colors();
  assert.deepEqual(page.sins, []);
  await page.close();
  page = await open(browser, html, {scheme: 'dark'});
  assert.ok(await colors() === after);
});

test(
    'a figure has all of its text within its edges, in a font that is wider than Helvetica',
    async () => {
      page = await browser.newPage();
      page.sins = [];
      await page.goto(`file://${join(folder, 'figure.svg')}`);
      const sides = await page.$$eval('text', (nodes) => nodes.map((node) => {
        const {x, width} = node.getBBox();
        return [node.textContent, x, x + width];
      }));
      const names =
          await page.$$eval('text[text-anchor=end]', (nodes) => nodes.map((n) => n.textContent));
      assert.ok(
          names.some((name) => /^W+\u2026m+$/.test(name)), 'the name of 200 letters is there');
      for (const [shown, left, right] of sides)
        assert.ok(left >= 0 && right <= 720, `${shown}: ${left} to ${right}`);
    });
