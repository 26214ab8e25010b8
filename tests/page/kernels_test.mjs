// SPDX-License-Identifier: Apache-2.0
//
// The table of kernels: sorted by any column, filtered by name, copied with the report's numbers.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {before, test} from 'node:test';

import {browser, moduleOf, open, rows, surround, text} from './browser.mjs';

const folder = surround('kernels');
let page;
let kernels;

before(() => {
  const [process] = JSON.parse(readFileSync(join(folder, 'rows.json'))).processes;
  kernels = process.kernels;
});

const clickHead = (page, name) => page.evaluate((name) => {
  const heads = [...document.querySelectorAll('.kernels thead button')];
  heads.find((button) => button.textContent.startsWith(name)).click();
}, name);
const column = async (page, key) =>
    (await rows(page, '.kernels')).slice(0, -1).map((row) => row.figures[key]);

test('a click on a head sorts by it, a second one the other way round', async () => {
  page = await open(browser, join(folder, 'rows.html'));
  const falling = kernels.map((kernel) => kernel.p95_ns).sort((a, b) => b - a);
  await clickHead(page, 'p95');
  assert.deepEqual(await column(page, 'p95_ns'), falling.slice(0, 40));
  const sorted = () => page.$$eval(
      '.kernels thead th',
      (heads) => heads.filter((head) => head.ariaSort !== 'none')
                     .map((head) => `${head.textContent} ${head.ariaSort}`));
  assert.deepEqual(await sorted(), ['p95 \u25be descending']);
  await clickHead(page, 'p95');
  assert.deepEqual(await column(page, 'p95_ns'), falling.reverse().slice(0, 40));
  assert.deepEqual(await sorted(), ['p95 \u25b4 ascending']);
});

test('a filter leaves what has the text in its name or its operation', async () => {
  page = await open(browser, join(folder, 'rows.html'));
  await page.type('.kernels .search', 'TURN-7');
  const names = (await rows(page, '.kernels')).map((row) => row.row);
  assert.deepEqual(
      names.sort(),
      kernels.filter(({operation}) => operation.includes('turn-7'))
          .map(({operation, name}) => `${operation} ${name}`)
          .sort());
});

test('all rows can be shown, and shares add up to all of the time', async () => {
  page = await open(browser, join(folder, 'rows.html'));
  assert.equal((await rows(page, '.kernels')).length, 41);
  await page.evaluate(
      () => [...document.querySelectorAll('.kernels button')]
                .find((button) => button.textContent === 'Show all 100')
                .click());
  const shown = await rows(page, '.kernels');
  assert.equal(shown.length, 100);
  const whole = kernels.reduce((sum, kernel) => sum + kernel.sum_ns, 0);
  const widths =
      await page.$$eval('.share-bar', (bars) => bars.map((bar) => parseFloat(bar.style.width)));
  assert.ok(Math.abs(widths.reduce((a, b) => a + b) - 100) < 0.01);
  shown.forEach(
      (row, i) => assert.ok(Math.abs(widths[i] - 100 * row.figures.sum_ns / whole) < 0.001));
});

test('rows are copied as CSV, in nanoseconds', async () => {
  page = await open(browser, join(folder, 'rows.html'));
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => window.copied = text;
  });
  await page.type('.kernels .search', 'turn-99');
  await page.evaluate(
      () => [...document.querySelectorAll('.kernels button')]
                .find((button) => button.textContent === 'Copy as CSV')
                .click());
  await page.waitForFunction(() => window.copied);
  const [head, row, rest] = (await page.evaluate(() => window.copied)).split('\n');
  assert.equal(
      head,
      '"device work","operation","class","time (ns)","share","times","mean (ns)",' +
          '"median (ns)","p95 (ns)","SM fill"');
  const kernel = kernels.find(({operation}) => operation === 'turn-99');
  const cells = row.split(',');
  assert.deepEqual(cells.slice(0, 4), ['"k99"', '"turn-99"', '"compute"', String(kernel.sum_ns)]);
  assert.equal(Number(cells[5]), kernel.count);
  assert.equal(Number(cells[8]), kernel.p95_ns);
  assert.equal(rest, '');
  assert.equal(await text(page, '.kernels output'), '1 row copied');
});

test('long names that differ are shown as different ones, and whole on a click', async () => {
  const {distinctNames} = await moduleOf('names');
  const name = (type) => `void at::native::vectorized_elementwise_kernel<4, at::native::${
      type}_kernel_cuda(at::TensorIteratorBase&)::lambda, std::array<char*, 3ul> >(int)`;
  const names = ['add', 'mul', 'relu'].map(name);
  const shown = distinctNames([...names, 'gemm'], 52);
  assert.equal(new Set(shown.values()).size, 4);
  assert.equal(shown.get('gemm'), 'gemm');
  for (const short of shown.values()) assert.ok([...short].length <= 52, short);
  const kinds = ['add', 'mul'].flatMap(
      (type) => ['Bool', 'Half'].map(
          (inner) => `void at::native::${type}_kernel<4, at::native::${'detail::'.repeat(9)}${
                         inner}Functor, ` +
              'std::array<char*, 2ul> >(int, float)'));
  assert.equal(
      new Set(distinctNames(kinds, 40).values()).size, 4, 'two places, one after the other');
  page = await open(browser, join(folder, 'page.html'));
  const long = await page.$('.full-name');
  const before = await long.evaluate((node) => node.textContent);
  assert.match(before, /\u2026/);
  await long.click();
  const after = await long.evaluate((node) => node.textContent);
  assert.ok(after.length > before.length);
  assert.equal(after, await long.evaluate((node) => node.title));
});
